"""Which family a config without a ``model_type`` is of."""

from collections.abc import Mapping
from typing import Any

from albert_calc.config.values import type_problem
from albert_calc.errors import ConfigError
from albert_calc.families import FAMILIES, families, families_of_class
from albert_calc.named_tuple import NamedTuple
from albert_calc.writing.harmless import printable


class Detected(NamedTuple):
    """A ``model_type`` and the note that says why it is taken; empty where it was given."""

    model_type: str
    note: str = ""


def detect(given: Mapping[str, Any], *, typed: bool = False) -> Detected:
    """The family of the config *given*.

    The ``model_type``; else the family of a class in ``architectures``; else that of a key
    which only one family has; else BERT, or ALBERT where there is an E and the sizes were
    *typed* by hand. Raises ``ConfigError`` for a file with an E that several families fit.
    """
    model_type = given.get("model_type")
    if model_type is not None:
        if not isinstance(model_type, str) or model_type not in FAMILIES:
            raise ConfigError(type_problem(model_type))
        return Detected(model_type)
    for name in class_names(given):
        found = families_of_class(name)
        if found:
            return _because(found[0][0], f"architectures names {printable(name, 60)}")
    if not typed:
        for tables in families():
            marks = [m for m in tables.marks if m in given]
            if marks:
                return _because(tables.model_type, f"only it has {marks[0]}")
    if given.get("embedding_size") is None:
        return _because("bert", "there is no embedding_size")
    if typed or isinstance(given["embedding_size"], bool | str | float):
        return _because("albert", "there is an embedding_size")
    raise ConfigError(_candidates(given))


def class_names(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of classes in ``architectures``, as far as they are names."""
    names = given.get("architectures")
    names = names if isinstance(names, list | tuple) else ()
    return tuple(n for n in names[:20] if isinstance(n, str) and len(n) < 200)


def _because(model_type: str, reason: str) -> Detected:
    return Detected(model_type, f"model_type: not given, so {model_type} ({reason})")


def _candidates(given: Mapping[str, Any]) -> list[str]:
    """The message for a config with an E that may be of several families: what each counts.

    What is wrong whatever the family is told instead.
    """
    from albert_calc.config.reading import read_mapping
    from albert_calc.counting.counts import count_parameters

    counts: list[str] = []
    problems: list[str] = []
    for tables in families():
        if not tables.embedding_size_alone:
            continue
        try:
            config = read_mapping({**given, "model_type": tables.model_type}).config
            counts.append(f"{tables.model_type} {count_parameters(config).total:,}")
        except ConfigError as error:
            problems += error.problems
    if not counts:
        return list(dict.fromkeys(problems))
    return [
        "model_type: not given, and with an embedding_size it may be one of several families:"
        f" {', '.join(counts)}; give --model-type, or model_type in the file"
    ]
