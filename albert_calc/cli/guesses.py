"""First guesses of a command line that cannot work, each with what would.

The table is also the test: every row is typed as in its example, and so is its answer.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from albert_calc.config.presets import find_preset


class Guess(NamedTuple):
    """Words that are typed, the words that are meant, and a line in which they stand.

    ``SIZE`` stands for a number of bytes such as 16GB, and ``NAMES`` for names of presets with
    commas between them.
    """

    typed: str
    meant: str
    example: str


GUESSES: tuple[Guess, ...] = (
    Guess("--json", "-f json", "count base {}"),
    Guess("--csv", "-f csv", "count base {}"),
    Guess("--markdown", "-f markdown", "count base {}"),
    Guess("--output json", "-f json", "count base {}"),
    Guess("--latex", "-f latex", "explain base {}"),
    Guess("-f jsonlines", "-f jsonl", "sweep base -E 64,128 {}"),
    Guess("--plot", "--chart", "compare base {}"),
    Guess("--graph", "--chart", "compare base {}"),
    Guess("--draw", "--diagram", "layers base {}"),
    Guess("--gpu SIZE", "--memory SIZE", "cost base {}"),
    Guess("--vram SIZE", "--memory SIZE", "cost base {}"),
    Guess("--ram SIZE", "--memory SIZE", "cost base {}"),
    Guess("--max", "--at-most", "check base {} 110M"),
    Guess("--min", "--at-least", "check base {} 1M"),
    Guess("--limit", "--at-most", "check base {} 110M"),
    Guess("--expect", "--equals", "check base {} 11750400"),
    Guess("--batch", "--batch-size", "cost base {} 8"),
    Guess("--seq-len", "--sequence-length", "cost base {} 128"),
    Guess("--seq-length", "--sequence-length", "cost base {} 128"),
    Guess("--max-length", "--sequence-length", "cost base {} 128"),
    Guess("--precision", "--dtype", "cost base {} float16"),
    Guess("--layers", "--num-hidden-layers", "count base {} 6"),
    Guess("--hidden", "--hidden-size", "count base {} 384"),
    Guess("--vocab", "--vocab-size", "count base {} 30000"),
    Guess("--labels", "--num-labels", "count base --head sequence-classification {} 5"),
    Guess("--model base", "base", "count {}"),
    Guess("--file configs/base.json", "configs/base.json", "count {}"),
    Guess("--head mlm", "--head masked-lm", "count base {}"),
    Guess("--head qa", "--head question-answering", "count base {}"),
    Guess("--head nsp", "--head next-sentence-prediction", "count bert-base-uncased {}"),
    Guess("--head classification", "--head sequence-classification", "count base {}"),
    Guess("--preset NAMES", "NAMES", "compare {}"),
    Guess("diff", "compare", "{} base large"),
    Guess("vs", "compare", "{} base large"),
    Guess("memory", "cost", "{} base"),
    Guess("size", "cost", "{} base"),
    Guess("fit", "cost", "{} base"),
    Guess("flops", "cost", "{} base"),
    Guess("params", "count", "{} base"),
    Guess("parameters", "count", "{} base"),
    Guess("show", "count", "{} base"),
    Guess("list", "presets", "{}"),
    Guess("models", "presets", "{}"),
    Guess("formula", "explain", "{} base"),
    Guess("assert", "check", "{} base --at-most 12M"),
    Guess("grid", "sweep", "{} base -E 64,128"),
)
"""What people type first, and what they mean; a row without a dash is a command."""

_SIZE = re.compile(r"[0-9][0-9_.]*\s*([kmgt]i?b?|b)?", re.IGNORECASE)


def answer(words: Sequence[str], commands: Sequence[str]) -> str:
    """The line that *words*, which could not be done, seem to mean; empty if none is known.

    *commands* are the names of all commands.
    """
    line = [part for word in words for part in _parted(word)]
    meant = list(line)
    if meant and not meant[0].startswith("-") and meant[0] not in commands:
        meant = _command(meant)
    for guess in GUESSES:
        if guess.typed.startswith("-"):
            meant = _replaced(meant, guess)
    return f"albert-calc {' '.join(_quoted(w) for w in meant)}" if meant != line else ""


def _parted(word: str) -> list[str]:
    """``--name=value`` as two words."""
    name, equals, value = word.partition("=")
    return [name, value] if equals and name.startswith("--") else [word]


def _command(words: list[str]) -> list[str]:
    """*words* with a command in front: the one that the first is called here, or a count."""
    first, *rest = words
    for guess in GUESSES:
        if guess.typed == first.lower():
            return [guess.meant, *rest]
    if find_preset(first) is not None or first.endswith(".json"):
        others = [w for w in rest if not w.startswith("-")]
        several = others and all(find_preset(o) is not None for o in others)
        return ["compare" if several else "count", *words]
    return words


def _replaced(words: list[str], guess: Guess) -> list[str]:
    """*words* with every place of *guess* replaced."""
    typed = guess.typed.split()
    for start in range(len(words) - len(typed) + 1):
        found = words[start : start + len(typed)]
        if all(_matches(word, pattern) for word, pattern in zip(found, typed, strict=True)):
            value = found[-1]
            meant = [w for m in guess.meant.split() for w in _filled(m, value)]
            return words[:start] + meant + words[start + len(typed) :]
    return words


def _matches(word: str, pattern: str) -> bool:
    if pattern == "SIZE":
        return bool(_SIZE.fullmatch(word))
    if pattern == "NAMES":
        names = word.split(",")
        return len(names) > 1 and all(find_preset(n) is not None for n in names)
    if pattern == "base" or pattern.endswith(".json"):
        return not word.startswith("-")
    return word == pattern


def _filled(word: str, value: str) -> list[str]:
    if word == "NAMES":
        return value.split(",")
    return [value if word in ("SIZE", "base") or word.endswith(".json") else word]


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(word)


def similar(typed: str, known: Sequence[str]) -> list[str]:
    """Those of the options *known* that *typed* is a slip of; none that is merely alike."""
    from difflib import SequenceMatcher

    def near(name: str) -> bool:
        if len(typed) > 5 and name.startswith(typed):
            return True
        return SequenceMatcher(None, typed, name).ratio() >= 0.85

    return sorted({name for name in known if name.startswith("--") and near(name)})
