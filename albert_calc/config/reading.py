"""From the content of a ``config.json`` to a config, and what a reader should know of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from albert_calc.config.detection import class_names, detect
from albert_calc.config.foreign import foreign_mapping
from albert_calc.config.keys import key_warnings, refused
from albert_calc.config.model_config import DTYPE, ModelConfig
from albert_calc.config.values import (
    broken,
    features,
    filled,
    holds,
    problems,
    rule_text,
    symbols_of,
)
from albert_calc.errors import ConfigError, Problems
from albert_calc.families import family
from albert_calc.families.base import Computed, Family, Same, all_tensors
from albert_calc.families.sizes import REQUIRED, SIZES, size_problems
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import shown


class Reading(NamedTuple):
    """A config, and beside it what was assumed, left out or is odd.

    ``assumed`` are the keys that took a default. ``notes`` tell of them, ``key_warnings`` of
    keys that were left out, and ``oddities`` of sizes that can be built but not run.
    """

    config: ModelConfig
    notes: tuple[str, ...] = ()
    key_warnings: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def read_mapping(
    mapping: Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    share: str | None = None,
    typed: bool = False,
) -> Reading:
    """The config that *mapping*, the content of a ``config.json``, describes.

    *overrides* are sizes under their usual keys, put over those of the file; *typed* says that
    there is no file, and all was typed by hand. ``null`` is a wrong value for V, H, L and I
    and for ``tie_word_embeddings``, and for any other key as if it were absent. Raises
    ``ConfigError`` with every problem.
    """
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"config: must be a JSON object, got {shown(mapping)}")
    if not all(isinstance(key, str) for key in mapping):
        raise ConfigError("config: keys must be text")
    foreign = foreign_mapping(mapping)
    if foreign:
        raise ConfigError(f"config: {foreign}")
    given = {k: v for k, v in {**mapping, **(overrides or {})}.items() if v is not None}
    detected = detect(given, typed=typed)
    tables = family(detected.model_type)
    found = Problems(_aliased(tables, mapping, overrides or {}))
    usual = _usual(tables, mapping, overrides or {})
    found += refused(tables, _usual(tables, mapping, {}))
    nulls = [tables.name_of(k) for k in REQUIRED if k in usual and usual[k] is None]
    found += [f"{name}: must be a positive whole number, got null" for name in nulls]
    if usual.get("tie_word_embeddings", False) is None:
        # Most classes refuse it, and Nomic BERT's takes it for false.
        found.append("tie_word_embeddings: must be true or false, got null")
    # How layers are shared is told apart from a file, which may have such a key all the same.
    values = {k: v for k, v in usual.items() if v is not None and k != "share"}
    assumed = _assumed(tables, values, has_type="model_type" in given)
    values.update(assumed)
    wrong = problems(tables, {**values, "share": share})
    found += [p for p in wrong if p.split(":")[0] not in nulls]
    if not found:
        found += _misstated(tables, values, overrides or {})
    found.raise_any()
    open_heads = []
    if "model_type" in given and "num_attention_heads" not in values:
        open_heads = list(_open_heads(tables, values))
    config = ModelConfig(
        **{s.key: values[s.key] for s in SIZES if s.key in values and tables.has(s.key)},
        model_type=tables.model_type,
        tie_word_embeddings=values.get("tie_word_embeddings"),
        share=share,
        architectures=class_names(given),
        own={
            **{k: v for k, v in values.items() if k in tables.defaults},
            DTYPE: values.get(DTYPE, values.get("torch_dtype")),
        },
    )
    notes = [detected.note] if detected.note else []
    if assumed:
        taken = ", ".join(f"{tables.name_of(k)} {_told(v)}" for k, v in assumed.items())
        notes.append(f"not given, so the default of {tables.config_class}: {taken}")
    uneven = open_heads if tables.uneven_heads and not typed else []
    notes += [f"{heads}, so it is left open" for heads in open_heads if not uneven]
    notes += _alias_notes(tables, mapping)
    return Reading(
        config,
        tuple(notes),
        warnings_of_keys(tables, mapping, overrides or {}),
        (
            *broken(tables, config.keys, fatal=False),
            *(f"{heads}: its class then builds attention of another width" for heads in uneven),
            *_padding(values.get("pad_token_id"), config.vocab_size),
        ),
        tuple(assumed),
    )


def warnings_of_keys(
    tables: Family, mapping: Mapping[str, Any], overrides: Mapping[str, Any]
) -> tuple[str, ...]:
    """The keys that are left out where *mapping* is read, with *overrides* put over it."""
    return tuple(key_warnings(tables, _written(tables, mapping, overrides)))


def _usual(
    tables: Family, mapping: Mapping[str, Any], overrides: Mapping[str, Any]
) -> dict[str, Any]:
    """All keys, the sizes among them under their usual names, *overrides* put over them."""
    own_names = {own: usual for usual, own in tables.names.items()}
    keys: dict[str, Any] = {}
    for key, value in mapping.items():
        usual = tables.aliases.get(key) or own_names.get(key)
        if usual or key not in tables.names:
            keys[usual or key] = value
    labels = keys.get("id2label")
    if keys.get("num_labels") is None and isinstance(labels, Mapping):
        keys["num_labels"] = len(labels)
    return {**keys, **overrides}


def _written(
    tables: Family, mapping: Mapping[str, Any], overrides: Mapping[str, Any]
) -> dict[str, Any]:
    """All keys as a file of this family would have them, without those that say nothing."""
    options = {tables.name_of(k): v for k, v in overrides.items()}
    return {k: v for k, v in {**mapping, **options}.items() if v is not None}


def _aliased(
    tables: Family, mapping: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Iterator[str]:
    """Where a file gives one size under two names, and they differ."""
    for alias, usual in tables.aliases.items():
        own = tables.name_of(usual)
        both = alias in mapping and own in mapping and usual not in overrides
        if both and mapping[alias] != mapping[own]:
            yield (
                f"{own}: must agree with {alias} ({shown(mapping[alias])}), which means the"
                f" same, got {shown(mapping[own])}"
            )


def _alias_notes(tables: Family, mapping: Mapping[str, Any]) -> Iterator[str]:
    """What to know of other spellings that are read, where the usual one is not there too."""
    for alias, text in tables.alias_notes.items():
        usual = tables.aliases.get(alias)
        if alias in mapping and (usual is None or tables.name_of(usual) not in mapping):
            yield f"{alias}: {text}"


def _misstated(
    tables: Family, values: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Iterator[str]:
    """What a file states of its own sizes in keys that count nothing, and states wrongly."""
    keys = {**values, **filled(tables, values)}
    for rule in tables.stated:
        told = rule.keys[0] in values and overrides.keys().isdisjoint(rule.keys)
        if told and not holds(rule, keys):
            yield f"{rule_text(tables, rule, keys)}, got {shown(keys[rule.keys[0]])}"


def _assumed(tables: Family, values: Mapping[str, Any], *, has_type: bool) -> dict[str, Any]:
    """The keys that take the default of the config class, and those defaults.

    Without a ``model_type`` V, H, L and I take none. Where the family ``assumes_heads`` A takes
    one whatever that breaks, elsewhere only beside a ``model_type`` and if it breaks no rule.
    Keys that no tensor of the encoder depends on are not told.
    """
    found: dict[str, Any] = {}
    for size in SIZES:
        default = tables.defaults.get(tables.name_of(size.key))
        may_be_missing = has_type or size.key not in REQUIRED
        if may_be_missing and values.get(size.key) is None and default is not None:
            found[size.key] = default
    for key in _counting_keys(tables, {**found, **values}):
        if values.get(key) is None and tables.defaults.get(key):
            found[key] = tables.defaults[key]
    found = {k: v for k, v in found.items() if not isinstance(v, Same | Computed)}
    taken = tables.assumes_heads or (has_type and _heads_fit(tables, {**found, **values}))
    if "num_attention_heads" in found and not taken:
        del found["num_attention_heads"]
    return found


def _heads_fit(tables: Family, values: Mapping[str, Any]) -> bool:
    """Whether the default number of heads breaks no rule; what is wrong besides is told later."""
    sizes = (*SIZES, *tables.sizes)
    if any(any(size_problems(s, values.get(s.key), required=False)) for s in sizes):
        return False
    try:
        keys = filled(tables, values)
    except ValueError:
        return False
    return not any(
        rule.keys[0] == "num_attention_heads"
        for rule in tables.rules
        if rule.fatal and not holds(rule, keys)
    )


def _padding(row: object, vocab_size: int) -> Iterator[str]:
    """That the row of padding lies beyond the table, which no class takes."""
    if type(row) is int and row >= vocab_size:
        yield (
            f"pad_token_id: must be below vocab_size ({vocab_size}) for such a model to be built;"
            f" counted all the same, got {shown(row)}"
        )


def _open_heads(tables: Family, values: Mapping[str, Any]) -> Iterator[str]:
    """That a default number of heads does not fit, so that none is taken."""
    default = tables.defaults.get(tables.name_of("num_attention_heads"))
    if isinstance(default, int):
        with_default = filled(tables, {**values, "num_attention_heads": default})
        for rule in tables.rules:
            of_heads = rule.fatal and rule.keys[0] == "num_attention_heads"
            if of_heads and not holds(rule, with_default):
                name, _, must = rule_text(tables, rule, with_default).partition(": ")
                broken_rule = must.replace("must divide", "does not divide")
                yield f"{name}: the default of {tables.config_class}, {default}, {broken_rule}"


def _counting_keys(tables: Family, values: Mapping[str, Any]) -> list[str]:
    """The family's own keys on which tensors of the encoder depend, sizes that are used first."""
    heads = {id(t) for head in tables.heads.values() for t in head.tensors}
    encoder = [t for t in all_tensors(tables) if id(t) not in heads]
    named = {name for tensor in encoder for name in (*tensor.when, *tensor.unless)}
    keys = {key for name in named for key in tables.features[name].keys}
    try:
        having = features(tables, filled(tables, values))
    except (TypeError, ValueError, ZeroDivisionError):
        # What is wrong is told elsewhere.
        return []
    used = symbols_of(tables.model_type, having)
    derived = {key for d in tables.derived if d.symbol in used for key in d.keys}
    return [
        *(s.key for s in tables.sizes if s.symbol in used or s.key in derived),
        *(s.key for s in tables.switches if s.key in keys),
    ]


def _told(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
