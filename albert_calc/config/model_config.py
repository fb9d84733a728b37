"""``ModelConfig``: what decides which tensors an encoder has, and how large they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from albert_calc.config.values import features, filled, following, problems, symbols, type_problem
from albert_calc.errors import ConfigError
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import Family
from albert_calc.families.sizes import SIZES
from albert_calc.writing.harmless import shown

DTYPE = "dtype"
"""The key that says in what type a checkpoint stores its weights; formerly ``torch_dtype``."""


class ModelConfig:
    """The sizes of an encoder, under the keys of a Hugging Face ``config.json``.

    All sizes are whole numbers: widths in elements, tables in rows, layers in layers. One
    that is ``None`` is what the config class of ``model_type`` assumes, or is unknown if it
    assumes nothing; A alone is never assumed. Without an embedding of a width of its own, as
    in BERT, ``embedding_size`` is ``hidden_size``. ``share`` (``all``, ``attention``, ``ffn``
    or ``none``) says which blocks are shared across the layers; by default what
    ``model_type`` does. ``own`` are the keys that only some families read, such as
    ``relative_attention``, and ``architectures`` the class names that a file gave;
    ``following`` are the sizes that nobody gave and that follow others.

    A config never changes, and is equal to another of the same keys. Raises ``ConfigError``
    with every problem found.
    """

    # Written out, since to make a dataclass takes a tenth of the time of a short run.
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    intermediate_size: int
    model_type: str
    embedding_size: int
    num_attention_heads: int | None
    max_position_embeddings: int | None
    type_vocab_size: int | None
    num_hidden_groups: int | None
    inner_group_num: int | None
    num_labels: int | None
    tie_word_embeddings: bool
    share: str
    architectures: tuple[str, ...]
    own: Mapping[str, Any]
    following: tuple[str, ...]
    keys: Mapping[str, Any]
    """Every key that counts with its value, defaults included; see ``config.values``."""

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        num_hidden_layers: int,
        intermediate_size: int,
        model_type: str = "albert",
        embedding_size: int | None = None,
        num_attention_heads: int | None = None,
        max_position_embeddings: int | None = None,
        type_vocab_size: int | None = None,
        num_hidden_groups: int | None = None,
        inner_group_num: int | None = None,
        num_labels: int | None = None,
        tie_word_embeddings: bool | None = None,
        share: str | None = None,
        architectures: tuple[str, ...] = (),
        own: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        given = dict(locals())
        del given["self"]
        if found := _problems(given):
            raise ConfigError(found)
        vars(self).update(_settled(given))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a config never changes: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelConfig) and self._values == other._values

    def __hash__(self) -> int:
        return hash(tuple(v for v in self._values.values() if v is not self.own))

    def __repr__(self) -> str:
        return f"ModelConfig({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"

    @property
    def _values(self) -> dict[str, Any]:
        """What was given and settled, in the order in which it is given."""
        return {key: getattr(self, key) for key in _GIVEN}

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], share: str | None = None) -> ModelConfig:
        """The config that *mapping*, the content of a ``config.json``, describes.

        ``share`` is no key of such a file and is given apart. Raises ``ConfigError`` with
        every problem found: a type that is unknown or cannot be told, required keys that are
        missing, sizes that are not positive whole numbers, and keys that change the count in
        a way that no table describes.
        """
        from albert_calc.config.reading import read_mapping

        return read_mapping(mapping, share=share).config

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ModelConfig:
        """The config in the JSON file *path*, or in ``config.json`` of that directory.

        Raises ``ConfigError`` if it cannot be read or does not describe a model.
        """
        from albert_calc.config.files import read_config

        return cls.from_dict(read_config(path))

    @classmethod
    def from_preset(cls, name: str) -> ModelConfig:
        """The config of the preset *name*, as listed by ``albert-calc presets``.

        Raises ``ConfigError`` for an unknown name.
        """
        from albert_calc.config.presets import load_preset

        return cls.from_dict(load_preset(name).content)

    @property
    def family(self) -> Family:
        """The tables of ``model_type``."""
        return family(self.model_type)

    @cached_property
    def symbols(self) -> Mapping[str, int]:
        """The value of each symbol of a formula. A is 0 where it is unknown."""
        return symbols(self.family, self.keys)

    @cached_property
    def features(self) -> frozenset[str]:
        """What decides, beside the sizes, which tensors the model has."""
        return features(self.family, self.keys)

    @cached_property
    def plans(self) -> dict[tuple[str, str], Any]:
        """What counting remembers of this config, by head and layout: its formulas."""
        return {}

    def setting(self, key: str) -> Any:
        """The value of a key that counts nothing, such as ``hidden_act``, or its default."""
        return self.own.get(key, self.family.defaults.get(key))

    def to_dict(self) -> dict[str, Any]:
        """What counts, under the family's ``config.json`` keys, without what says nothing."""
        tables = self.family
        values: dict[str, Any] = {"model_type": self.model_type}
        for size in SIZES:
            value = getattr(self, size.key)
            said = size.key != "num_labels" or value != size.neutral
            if tables.has(size.key) and value is not None and said:
                values[tables.name_of(size.key)] = value
        counting = {*(s.key for s in tables.sizes), *(s.key for s in tables.switches)}
        values.update((k, v) for k, v in self.own.items() if k in counting)
        if self.tie_word_embeddings != tables.defaults["tie_word_embeddings"]:
            values["tie_word_embeddings"] = self.tie_word_embeddings
        return values


_GIVEN = tuple(key for key in ModelConfig.__annotations__ if key not in ("following", "keys"))


def _problems(given: Mapping[str, Any]) -> list[str]:
    """What is wrong with the arguments of a config, one line each."""
    model_type, names, own = given["model_type"], given["architectures"], given["own"]
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        return [type_problem(model_type)]
    found = []
    if not isinstance(names, tuple | list) or not all(isinstance(n, str) for n in names):
        found.append(f"architectures: must be names of classes, got {shown(names)}")
    if not isinstance(own, Mapping):
        return [*found, f"own: must be a mapping of keys, got {shown(own)}"]
    return [*found, *problems(family(model_type), {**own, **given})]


def _settled(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a config as it keeps them, with what was left to be assumed."""
    tables = family(given["model_type"])
    keys = filled(tables, {**given["own"], **given})
    known = {*tables.defaults, DTYPE} - given.keys()
    tied = given["tie_word_embeddings"]
    by_default = tables.defaults["tie_word_embeddings"]
    return {
        **given,
        **{size.key: keys[size.key] for size in SIZES},
        "embedding_size": keys["embedding_size"] or keys["hidden_size"],
        "tie_word_embeddings": by_default if tied is None else tied,
        "share": keys["share"],
        "architectures": tuple(given["architectures"]),
        "own": {k: v for k, v in given["own"].items() if k in known and v is not None},
        "following": following(tables, {**given["own"], **given}),
        "keys": keys,
    }
