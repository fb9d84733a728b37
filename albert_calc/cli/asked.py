"""What a command line asks for: models, and how each is to be read."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import click

from albert_calc.cli.output import say
from albert_calc.errors import ConfigError, Problems, first_of
from albert_calc.families.sizes import SIZES, problems_of_sizes
from albert_calc.models.lookup import Found, find_file, find_model, find_named
from albert_calc.models.model import DEFAULT_LAYOUT, Model, Request, read_model

Many = Literal["one", "some", "any"]
"""How many models a line may name; ``any`` number may be none."""

_OVERRIDES = (*(s.key for s in SIZES), "model_type", "tie_word_embeddings")
"""The parameters that are put over a config's keys."""


class Asked:
    """What a command line asks for: models, and how each is to be read.

    ``format`` is the one asked for, and ``save`` the file that a picture goes to, if any.
    Nothing is read before it is needed, so that a command can name other problems as well.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        many: Many,
        class_head: bool = False,
        lists: bool = False,
    ) -> None:
        self.options = options
        self.many = many
        self.lists = lists
        self.format: str = options.get("format", "table")
        self.quiet: bool = options.get("quiet", False)
        self.save: str | None = options.get("save")
        self.request = Request(
            {k: options[k] for k in _OVERRIDES if options.get(k) is not None},
            options.get("head"),
            options.get("layout") or DEFAULT_LAYOUT,
            options.get("share"),
            options.get("strict") or False,
            class_head,
            headless="head" not in options,
        )
        self._read: list[Model] = []

    @cached_property
    def found(self) -> list[Found]:
        """The configs that the line names, each once; sizes alone are one.

        Raises ``ConfigError`` with all problems.
        """
        problems = Problems()
        found: list[Found] = []
        for find, names in (
            (find_model, self.options.get("models")),
            (find_named, self.options.get("preset")),
            (find_file, self.options.get("config")),
        ):
            for name in _several(names):
                with problems.collected():
                    found.append(find(name))
        if problems and not self.lists:
            # The sizes that were typed can be wrong as well, and so can the others.
            problems += problems_of_sizes(self.request.overrides)
            for one in found:
                with problems.collected(one.name):
                    read_model(one, self.request._replace(overrides={}))
        problems.raise_any()
        if not found and self.request.overrides:
            found.append(Found("sizes", {}, "sizes"))
        if not found and self.many != "any":
            raise ConfigError(no_model("a MODEL, or sizes (-V -H -L ...)"))
        if self.many == "one" and len(found) > 1:
            names = " ".join(f.name for f in found)
            raise ConfigError(
                f"one model at a time; albert-calc compare {names} sets them side by side"
            )
        return found

    @cached_property
    def models(self) -> list[Model]:
        """The models; raises ``ConfigError`` with the problems of all."""
        return self.read(self.found, self.request)

    def find(self) -> None:
        """Find the configs for the problems that there are, which it raises."""
        _ = self.found

    def check(self) -> None:
        """Read the models for the problems that they have, which it raises."""
        _ = self.models

    def check_named(self) -> None:
        """Raise the problems that can be told where an option has no value.

        Where any number of models will do they may be patterns, and where lists will do sizes
        are several.
        """
        if self.lists:
            self.find()
        elif self.many != "any":
            self.check()
        else:
            Problems(problems_of_sizes(self.request.overrides)).raise_any()

    @property
    def model(self) -> Model:
        """The only model."""
        return self.models[0]

    def read(self, found: Sequence[Found], request: Request) -> list[Model]:
        """*found* as *request* wants them, remembered for what is said about them."""
        problems = Problems()
        models = []
        for one in found:
            with problems.collected(one.name if len(found) > 1 else ""):
                models.append(read_model(one, request))
        problems.raise_any()
        self._read += models
        return models

    def remember(self, model: Model, *, once: bool = False) -> None:
        """Have said about *model* what there is to say, *once* for all that are equal."""
        said = model.notes or model.warnings
        if said and not (once and any(m.config == model.config for m in self._read)):
            self._read.append(model)

    def say_about_models(self) -> None:
        """Tell what is odd about the models that were read, and unless quiet what was assumed."""
        several = len(self._read) > 1
        for kind in ("warning",) if self.quiet else ("note", "warning"):
            texts = [
                f"{model.name}: {text}" if several else text
                for model in self._read
                for text in (model.notes if kind == "note" else model.warnings)
            ]
            say(kind, first_of(list(dict.fromkeys(texts)), f"more {kind}s"))


def no_model(wanted: str) -> str:
    """That the line names no model, but *wanted* is needed, and where its help is."""
    command = click.get_current_context().command_path
    return f"no model: give {wanted}; '{command} -h' has examples"


def _several(names: Any) -> Sequence[str]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else names
