"""What a config says, in full: every key with a value, every symbol, every feature.

Keys are the usual ones of a ``config.json`` for the sizes that families share, and a
family's own for the rest. One config and a search over many both ask here.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from albert_calc.algebra import symbols_in
from albert_calc.families import FAMILIES, family
from albert_calc.families.base import (
    SHARES,
    Computed,
    Family,
    Feature,
    Rule,
    Same,
    all_tensors,
)
from albert_calc.families.sizes import REQUIRED, SIZES, size_problems
from albert_calc.writing.harmless import shown

Keys = dict[str, Any]


def filled(tables: Family, given: Mapping[str, Any]) -> Keys:
    """*given* with every other key that counts: the family's defaults, and neutral sizes.

    A switch has the value that features see. Nothing is checked here.
    """
    keys: Keys = {"share": given.get("share") or tables.default_share}
    defaults = tables.defaults
    for size in SIZES:
        key = size.key
        value = given.get(key)
        if not tables.has(key):
            value = size.neutral
        elif value is None and key != "num_attention_heads":
            value = defaults.get(tables.name_of(key), size.neutral)
        keys[key] = value
    for key in (*(s.key for s in tables.sizes), *(s.key for s in tables.switches)):
        value = given.get(key)
        keys[key] = defaults.get(key) if value is None else value
    for key, value in keys.items():
        if isinstance(value, Same | Computed):
            keys[key] = followed(value, keys)
    for switch in tables.switches:
        keys[switch.key] = switch.read(keys[switch.key])
    return keys


def followed(default: object, keys: Mapping[str, Any]) -> object:
    """What *default* is beside the other *keys*; ``None`` where it follows from an unknown one."""
    if isinstance(default, Same):
        return keys[default.key]
    if isinstance(default, Computed):
        found = [keys[key] for key in default.keys]
        return None if None in found else default.value(*found)
    return default


def following(tables: Family, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The sizes that *given* lacks and whose defaults follow others."""
    return tuple(
        size.key
        for size in (*SIZES, *tables.sizes)
        if given.get(size.key) is None
        and isinstance(tables.defaults.get(tables.name_of(size.key)), Same | Computed)
    )


def symbols(tables: Family, keys: Mapping[str, Any]) -> dict[str, int]:
    """The value of each symbol of a formula, in the order of tables.

    E is H where a family has none of its own; A, unless a shape needs it, is 0 if unknown.
    """
    values = {size.symbol: keys[size.key] or 0 for size in (*SIZES, *tables.sizes)}
    if keys["embedding_size"] is None:
        values["E"] = values["H"]
    return with_derived(tables, keys, values)


def with_derived(tables: Family, keys: Mapping[str, Any], values: dict[str, int]) -> dict[str, int]:
    """*values* with the symbols that follow from *keys* and from other symbols."""
    for derived in tables.derived:
        found = [values[k] if k in values else keys.get(k) for k in derived.keys]
        if None not in found:
            values[derived.symbol] = derived.value(*found)
    return values


def features(tables: Family, keys: Mapping[str, Any]) -> frozenset[str]:
    """The names of all features that hold."""
    return frozenset(name for name, feature in tables.features.items() if holds(feature, keys))


def holds(condition: Feature | Rule, keys: Mapping[str, Any]) -> bool:
    """Whether *condition* is true of *keys*; one that asks for an unknown value is."""
    found = [keys[k] for k in condition.keys]
    return any(value is None for value in found) or bool(condition.holds(*found))


def rule_text(tables: Family, rule: Rule, keys: Mapping[str, Any] | None = None) -> str:
    """A rule in words, in the family's own names, with the numbers of *keys* put in."""
    names = {k: tables.name_of(k) for k in rule.keys}
    if keys is not None:
        names = {k: f"{name} ({shown(keys[k])})" for k, name in names.items()}
    return f"{tables.name_of(rule.keys[0])}: {rule.must.format_map(names)}"


def problems(tables: Family, given: Mapping[str, Any]) -> Iterator[str]:
    """Every rule that *given* breaks, one line each: parameter, rule, value.

    Where a value is wrong by itself, rules among the sizes that are sound are told beside it.
    """
    found = [*_size_problems(tables, given), *_switch_problems(tables, given)]
    tied = given.get("tie_word_embeddings")
    if tied is not None and not isinstance(tied, bool):
        found.append(f"tie_word_embeddings: must be true or false, got {shown(tied)}")
    share = given.get("share")
    if share is not None and (not isinstance(share, str) or share not in SHARES):
        found.append(f"share: must be one of {', '.join(SHARES)}, got {shown(share)}")
    yield from found
    if found:
        sizes = ((s, given.get(s.key)) for s in (*SIZES, *tables.sizes))
        sound = {s.key: v for s, v in sizes if not any(size_problems(s, v, s.key in REQUIRED))}
        rules = [rule for rule in tables.rules if sound.keys() >= {*rule.keys}]
        yield from broken(tables._replace(rules=tuple(rules)), sound, fatal=True)
        return
    keys = filled(tables, given)
    yield from broken(tables, keys, fatal=True)
    yield from _unknown_heads(tables, keys)


def broken(
    tables: Family, keys: Mapping[str, Any], *, fatal: bool, head: str = ""
) -> Iterator[str]:
    """The rules that *keys* break: those that make no model, or those that only make it odd.

    They are the rules of the family, or of its head *head*.
    """
    for rule in tables.heads[head].rules if head else tables.rules:
        if rule.fatal == fatal and not holds(rule, keys):
            yield f"{rule_text(tables, rule, keys)}, got {shown(keys[rule.keys[0]])}"


def _size_problems(tables: Family, given: Mapping[str, Any]) -> Iterator[str]:
    for size in (*SIZES, *tables.sizes):
        name = tables.name_of(size.key)
        yield from size_problems(size, given.get(size.key), size.key in REQUIRED, name)


def _switch_problems(tables: Family, given: Mapping[str, Any]) -> Iterator[str]:
    for switch in tables.switches:
        value = given.get(switch.key)
        if value is not None:
            try:
                switch.read(value)
            except ValueError:
                yield f"{switch.key}: must be {switch.rule}, got {shown(value)}"


def _unknown_heads(tables: Family, keys: Mapping[str, Any]) -> Iterator[str]:
    if keys["num_attention_heads"] is None:
        needed = symbols_of(tables.model_type, features(tables, keys))
        known = symbols(tables, keys)
        lacking = [s for s in sorted(needed) if s == "A" or s not in known]
        if lacking:
            name = tables.name_of("num_attention_heads")
            yield f"{name}: required (A, attention heads), since tensors depend on it, but missing"


@cache
def symbols_of(model_type: str, having: frozenset[str]) -> frozenset[str]:
    """Every symbol in the shape of a tensor that a model with these features can have."""
    return frozenset(
        symbol
        for tensor in all_tensors(family(model_type))
        if tensor.exists(having)
        for symbol in symbols_in((*tensor.shape, *tensor.repeat))
    )


def type_problem(model_type: object) -> str:
    """What is wrong with a *model_type* that no table describes."""
    return f"model_type: must be one of {', '.join(FAMILIES)}, got {shown(model_type)}"
