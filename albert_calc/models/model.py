"""``Model``: a config with its head and layout, what it is called, and how it was found."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from albert_calc.config.detection import class_names, detect
from albert_calc.config.followers import FOLLOWS, following_in, with_followers
from albert_calc.config.model_config import ModelConfig
from albert_calc.config.reading import Reading, read_mapping, warnings_of_keys
from albert_calc.counting.counts import Counts, count
from albert_calc.counting.tensors import Blueprint, blueprint, variant_problems
from albert_calc.errors import ConfigError, Problems
from albert_calc.families import families_of_class, family
from albert_calc.models.lookup import Found
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import printable, shown

DEFAULT_HEAD = "model"
DEFAULT_LAYOUT = "transformers"


class Request(NamedTuple):
    """What is asked of every model of a command line.

    ``overrides`` are sizes put over those of its file. Without a ``head`` it is ``model``, or
    with ``class_head`` that of the class which a file names; ``headless`` says that heads are
    no matter of what is asked. With ``strict`` a warning about a key is an error.
    """

    overrides: Mapping[str, Any] = {}
    head: str | None = None
    layout: str = DEFAULT_LAYOUT
    share: str | None = None
    strict: bool = False
    class_head: bool = False
    headless: bool = False


class Model(NamedTuple):
    """A model to be counted, and what a reader should know of how it was read.

    ``assumed`` are the keys that took a default; ``path`` is the file that it came from.
    """

    name: str
    config: ModelConfig
    head: str = DEFAULT_HEAD
    layout: str = DEFAULT_LAYOUT
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    path: str = ""

    @property
    def blueprint(self) -> Blueprint:
        """Its tensors, and the value of every symbol."""
        return blueprint(self.config, self.head, self.layout)

    @property
    def counts(self) -> Counts:
        """Its parameters, component by component."""
        return count(self.blueprint)

    @property
    def title(self) -> str:
        """Its name, with what is not as usual: ``albert-base-v2, head masked-lm``."""
        tables = self.config.family
        said = [self.name]
        said += [f"head {self.head}"] if self.head != DEFAULT_HEAD else []
        said += [f"layout {self.layout}"] if self.layout != DEFAULT_LAYOUT else []
        own = self.config.share == tables.default_share
        said += [] if own else [f"share {self.config.share}"]
        return ", ".join(said)


def read_model(found: Found, request: Request) -> Model:
    """The model that *found* describes, as *request* wants it.

    Raises ``ConfigError`` with everything that is wrong with its keys, its head and its layout.
    """
    overrides = dict(request.overrides)
    notes: tuple[str, ...] = found.notes
    assumed: tuple[str, ...] = ()
    if found.origin == "sizes":
        overrides, followed = with_followers(overrides)
        notes += followed
        given = request.overrides
        assumed = tuple(k for k in FOLLOWS if given.get(k) is None and k in overrides)
    problems = Problems()
    reading = None
    with problems.collected():
        reading = read_mapping(
            found.keys, overrides, share=request.share, typed=found.origin == "sizes"
        )
    problems += sharing_problems(request.share, overrides.get("num_hidden_groups"))
    model_type = _type_of(found, overrides, reading)
    named = _named_head(found, model_type) if request.class_head else None
    head = request.head or named or DEFAULT_HEAD
    if model_type:
        problems += variant_problems(model_type, head, request.layout)
    if model_type and request.strict:
        problems += warnings_of_keys(family(model_type), found.keys, overrides)
    problems.raise_any()
    assert reading is not None  # noqa: S101 - otherwise its problems were raised
    return Model(
        found.name,
        reading.config,
        head,
        request.layout,
        (
            *notes,
            *reading.notes,
            *_stays(found, request, reading.config),
            *_head_notes(reading.config, head, request),
        ),
        (*reading.key_warnings, *reading.oddities),
        (*assumed, *reading.assumed),
        found.path,
    )


def followers_in(found: Found) -> tuple[str, ...]:
    """The sizes that follow others where *found* is searched; one that does not in it stays."""
    if found.origin != "sizes":
        with suppress(ConfigError):
            return following_in(read_mapping(found.keys).config.keys)
    return tuple(FOLLOWS)


def _stays(found: Found, request: Request, config: ModelConfig) -> Iterator[str]:
    """Which sizes of a model stay what they are, though the one that they followed is another."""
    given, tables = request.overrides, config.family
    for key, (factor, leader) in FOLLOWS.items():
        own = found.keys.get(tables.name_of(leader)), found.keys.get(tables.name_of(key))
        led = given.get(leader) is not None and given.get(key) is None
        size, width = config.keys[key], config.keys[leader]
        if led and own == (size // factor, size) and size != factor * width:
            name, leading = tables.name_of(key), tables.name_of(leader)
            yield f"{name}: stays {size}; {factor} × {leading} would be {factor * width}"


def sharing_problems(share: str | None, groups: object) -> list[str]:
    """What is wrong with asking for *groups* of layers that *share* nothing."""
    if share != "none" or groups is None:
        return []
    return [f"num_hidden_groups: must be left out with --share none, got {shown(groups)}"]


def _type_of(found: Found, overrides: Mapping[str, Any], reading: Reading | None) -> str:
    """The model type, also where the config cannot be read for other reasons; or nothing."""
    if reading is not None:
        return reading.config.model_type
    try:
        return detect({**found.keys, **overrides}, typed=found.origin == "sizes").model_type
    except ConfigError:
        return ""


def _named_head(found: Found, model_type: str) -> str | None:
    """The head of the class that a file names, if *model_type* has such a class."""
    if found.origin != "file":
        return None
    for name in class_names(found.keys):
        for known, head in families_of_class(name):
            if known == model_type:
                return head
    return None


def _head_notes(config: ModelConfig, head: str, request: Request) -> Iterator[str]:
    """Where nobody chose the head: that a class which the config names has another one."""
    heads = family(config.model_type).heads
    named = config.architectures
    chosen = request.head is not None or request.headless
    if named and not chosen and not set(named) & set(heads[head].classes):
        other = [(h, n) for h, of in heads.items() for n in of.classes if n in named]
        if other:
            counted = "bare model" if head == DEFAULT_HEAD else f"head {head}"
            fitting, known = other[0]
            yield f"architectures: counted as the {counted}; --head {fitting} counts {known}"
        else:
            names = ", ".join(printable(n, 60) for n in named[:5])
            of = {model_type for name in named for model_type, _ in families_of_class(name)}
            what = f"of {' and '.join(sorted(of))}" if of else "which is no known class"
            yield f"architectures: the config names {names}, {what}"
    if request.layout == "handbook" and heads[head].pooler and config.model_type == "albert":
        yield "layout handbook: albert has no pooler there"
