"""``ModelConfig``: a model's sizes and traits, read from a mapping and checked.

May import ``albert_calc.architectures``, ``albert_calc.configfile``,
``albert_calc.errors``, ``albert_calc.presets``, ``albert_calc.sizes`` and
``albert_calc.text``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from albert_calc.architectures import ARCHITECTURES, SHARES
from albert_calc.errors import ConfigError
from albert_calc.sizes import SIZES, Size, size_problems
from albert_calc.text import shown


class Traits(NamedTuple):
    """All of a config, apart from its sizes, that decides which tensors a model has."""

    model_type: str
    share: str
    tied: bool
    factorized: bool


# What may be left unknown: E follows from the model type, and A counts nothing.
_UNKNOWN = ("embedding_size", "num_attention_heads")

# Keys that add or remove parameters in ways that the tables do not describe; the value
# is the one that leaves the count alone.
_UNSUPPORTED: Mapping[str, tuple[object, ...]] = {
    "add_cross_attention": (False, None),
    "position_embedding_type": ("absolute", None),
    "pruned_heads": ({}, None),
    "quantization_config": ({}, None),
}


@dataclass(frozen=True)
class ModelConfig:
    """The sizes of an encoder, under the keys of a Hugging Face ``config.json``.

    All sizes are whole numbers: widths in elements, tables in rows, layers in layers.
    ``share`` (``all``, ``attention``, ``ffn`` or ``none``) says which blocks are shared
    across the layers; by default what ``model_type`` does. ``architectures`` are the
    class names that a file gave. ``assumed`` are the keys that took a default, and
    ``notes`` and ``ignored`` tell a reader what was assumed and what was left out; these
    three do not take part in comparisons. Without an embedding of a width of its own, as in
    BERT, ``embedding_size`` is ``hidden_size``.

    Raises ``ConfigError`` with every problem found.
    """

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    intermediate_size: int
    model_type: str = "albert"
    embedding_size: int | None = None
    num_attention_heads: int | None = None
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    num_hidden_groups: int = 1
    inner_group_num: int = 1
    num_labels: int = 2
    tie_word_embeddings: bool = True
    share: str | None = None
    architectures: tuple[str, ...] = ()
    assumed: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        problems = list(_problems(vars(self)))
        if problems:
            raise ConfigError(problems)
        architecture = ARCHITECTURES[self.model_type]
        put = object.__setattr__
        put(self, "architectures", tuple(self.architectures))
        ignored = list(self.ignored)
        for size in SIZES:
            value = getattr(self, size.key)
            if architecture.has(size.key):
                if value is None:
                    put(self, size.key, architecture.defaults.get(size.key))
                continue
            neutral = self.hidden_size if size.symbol == "E" else size.neutral
            if value not in (None, neutral):
                ignored.append(_left_out(size, value, self.model_type))
            put(self, size.key, neutral)
        if self.share is None:
            put(self, "share", architecture.default_share)
        put(self, "ignored", tuple(dict.fromkeys(ignored)))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], share: str | None = None) -> ModelConfig:
        """The config that *mapping*, the content of a ``config.json``, describes.

        ``share`` is no key of such a file and is given apart. Keys that do not change a
        count are ignored. Raises ``ConfigError`` with every problem found: required keys
        that are missing, sizes that are not positive whole numbers, and keys that would
        change the count in a way not supported.
        """
        if not isinstance(mapping, Mapping):
            raise ConfigError(f"config: must be a JSON object, got {shown(mapping)}")
        notes: list[str] = []
        given = {k: v for k, v in mapping.items() if v is not None}
        if "model_type" not in given:
            given["model_type"] = model_type_of(given)
            because = "there is an" if "embedding_size" in given else "there is no"
            notes.append(
                f"model_type: not given, so {given['model_type']} ({because} embedding_size)"
            )
        problems = list(_unsupported(given))
        values = {s.key: given[s.key] for s in SIZES if s.key in given}
        values.update((k, given[k]) for k in ("model_type", "tie_word_embeddings") if k in given)
        labels = given.get("id2label")
        if "num_labels" not in given and isinstance(labels, Mapping):
            values["num_labels"] = len(labels)
        problems += _problems({**values, "share": share})
        if problems:
            raise ConfigError(problems)
        architecture = ARCHITECTURES[values["model_type"]]
        missing = {k: v for k, v in architecture.defaults.items() if k not in values}
        if missing:
            values.update(missing)
            taken = ", ".join(f"{k} {v}" for k, v in missing.items())
            notes.append(f"not given, so the default of {architecture.config_class}: {taken}")
        classes = given.get("architectures")
        names = classes if isinstance(classes, list | tuple) else ()
        return cls(
            **values,
            architectures=tuple(n for n in names if isinstance(n, str)),
            assumed=tuple(missing),
            notes=tuple(notes),
            share=share,
        )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ModelConfig:
        """The config in the JSON file *path*, or in ``config.json`` of that directory.

        Raises ``ConfigError`` if it cannot be read or does not describe a model.
        """
        from albert_calc.configfile import read_config

        return cls.from_dict(read_config(path))

    @classmethod
    def from_preset(cls, name: str) -> ModelConfig:
        """The config of the preset *name*, as listed by ``albert-calc presets``.

        Raises ``ConfigError`` for an unknown name.
        """
        from albert_calc.presets import load_preset

        return load_preset(name).config

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out, and what is built as it stands but could not run."""
        return (*self.ignored, *_oddities(self))

    @cached_property
    def symbols(self) -> Mapping[str, int]:
        """The value of each symbol of a formula, in the order of ``SIZES``.

        A, which never changes a count, is 0 where it is unknown.
        """
        return {s.symbol: getattr(self, s.key) or 0 for s in SIZES}

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The values of ``symbols`` alone."""
        return tuple(self.symbols.values())

    @cached_property
    def traits(self) -> Traits:
        """What decides which tensors the model has; E = H is not ``factorized``."""
        return Traits(self.model_type, self.share or "", self.tie_word_embeddings, self.factorized)

    @property
    def factorized(self) -> bool:
        """Whether E differs from H."""
        return self.embedding_size != self.hidden_size

    def to_dict(self) -> dict[str, Any]:
        """The sizes under their ``config.json`` keys, without those that say nothing."""
        architecture = ARCHITECTURES[self.model_type]
        values: dict[str, Any] = {"model_type": self.model_type}
        for size in SIZES:
            value = getattr(self, size.key)
            said = size.key in architecture.defaults or value not in (None, size.neutral)
            if said and architecture.has(size.key):
                values[size.key] = value
        if not self.tie_word_embeddings:
            values["tie_word_embeddings"] = False
        return values


def model_type_of(mapping: Mapping[str, Any]) -> str:
    """The ``model_type`` of a config; without one, an ``embedding_size`` makes it an ALBERT."""
    if mapping.get("model_type") is not None:
        return str(mapping["model_type"])
    return "bert" if mapping.get("embedding_size") is None else "albert"


def _problems(values: Mapping[str, Any]) -> Iterator[str]:
    """Every rule that *values* break, one line each: parameter, rule, value."""
    model_type = values.get("model_type")
    if not isinstance(model_type, str) or model_type not in ARCHITECTURES:
        yield f"model_type: must be one of {', '.join(ARCHITECTURES)}, got {shown(model_type)}"
    sound: dict[str, int] = {}
    for size in SIZES:
        required = size.required or (size.key in values and size.key not in _UNKNOWN)
        problems = list(size_problems(size, values, required))
        yield from problems
        if not problems and size.key in values and values[size.key] is not None:
            sound[size.key] = values[size.key]
    heads, hidden = sound.get("num_attention_heads"), sound.get("hidden_size")
    if heads and hidden and hidden % heads:
        yield f"num_attention_heads: must divide hidden_size ({hidden}), got {heads}"
    tied = values.get("tie_word_embeddings", True)
    if not isinstance(tied, bool):
        yield f"tie_word_embeddings: must be true or false, got {shown(tied)}"
    share = values.get("share")
    if share is not None and share not in SHARES:
        yield f"share: must be one of {', '.join(SHARES)}, got {shown(share)}"
    inner = sound.get("inner_group_num", 1)
    if share in SHARES and share != "all" and inner != 1:
        yield f"inner_group_num: must be 1 unless all blocks are shared, got {inner}"


def _unsupported(given: Mapping[str, Any]) -> Iterator[str]:
    architecture = ARCHITECTURES.get(str(given.get("model_type")))
    fixed = {**_UNSUPPORTED, **(architecture.fixed if architecture else {})}
    for key, harmless in fixed.items():
        if key in given and given[key] not in harmless:
            allowed = " or ".join(shown(v) for v in harmless if v is not None) or "absent"
            yield (
                f"{key}: must be {allowed}, since another value may change the count in a way"
                f" that is not supported, got {shown(given[key])}"
            )


def _left_out(size: Size, value: int, model_type: str) -> str:
    owners = [a.model_type for a in ARCHITECTURES.values() if size.key in a.defaults]
    return (
        f"{size.key}: ignored, since {model_type} has none ({', '.join(owners)} ha"
        f"{'s' if len(owners) == 1 else 've'}), got {value}"
    )


def _oddities(config: ModelConfig) -> Iterator[str]:
    """What is built as it stands but could not run."""
    groups, inner, layers = (
        config.num_hidden_groups,
        config.inner_group_num,
        config.num_hidden_layers,
    )
    if config.share == "none":
        return
    if groups > layers:
        yield (
            f"num_hidden_groups: {groups} is more than num_hidden_layers ({layers});"
            " such a model can be built but not run, and is counted as built"
        )
    elif inner > layers // groups:
        yield (
            f"inner_group_num: {inner} is more than the {layers // groups} layers of a group;"
            " such a model can be built but not run, and is counted as built"
        )
