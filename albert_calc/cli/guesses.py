"""First guesses of a command line that cannot work, each with what would.

The table is also the test: every row is typed as in its example, and so is its answer.
"""

import os
import re
from collections.abc import Callable, Collection, Sequence

from albert_calc.config.presets import find_preset
from albert_calc.families import HEADS, family, head_meant
from albert_calc.families.sizes import SIZES
from albert_calc.named_tuple import NamedTuple


class Guess(NamedTuple):
    """Words that are typed, the words that are meant, and a line in which they stand.

    ``SIZE`` stands for a number of bytes such as 16GB, ``NAMES`` for names of presets with
    commas between them, ``HEAD`` for what a head is called elsewhere, and ``N`` for a number.
    A row with a ``command`` is a guess of that command alone.
    """

    typed: str
    meant: str
    example: str
    command: str = ""


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
    Guess("-b N", "-B N", "cost base {}"),
    Guess("-s N", "-S N", "cost base {}"),
    Guess("--seq", "-S", "cost base {} 128"),
    Guess("--seq-len", "-S", "cost base {} 128"),
    Guess("--seq-length", "-S", "cost base {} 128"),
    Guess("--max-length", "-S", "cost base {} 128"),
    Guess("--max-seq-length", "-S", "cost base {} 128"),
    Guess("--precision", "--dtype", "cost base {} float16"),
    Guess("--dtype half", "--dtype float16", "cost base {}"),
    Guess("--dtype float", "--dtype float32", "cost base {}"),
    Guess("--fp32", "--dtype float32", "cost base {}"),
    # So the Trainer of transformers calls mixed precision.
    Guess("--fp16", "--autocast float16", "cost base {}"),
    Guess("--bf16", "--autocast bfloat16", "cost base {}"),
    Guess("--amp", "--autocast float16", "cost base {}"),
    Guess("--mixed-precision", "--autocast", "cost base {} bf16"),
    Guess("--half", "--dtype float16", "cost base {}"),
    Guess("--gradient-checkpointing", "--checkpointing", "cost base {}"),
    Guess("--attention flash", "--attention sdpa", "cost base {}"),
    Guess("--attention flash_attention_2", "--attention sdpa", "cost base {}"),
    Guess("--lora-rank", "--lora", "cost bert-base-uncased {} 8"),
    Guess("--rank", "--lora", "cost bert-base-uncased {} 8"),
    Guess("--optimizer adam", "--optimizer adamw", "cost base {}"),
    Guess("--layers", "--num-hidden-layers", "count base {} 6"),
    Guess("--num-layers", "--num-hidden-layers", "count base {} 6"),
    Guess("--heads N", "--num-attention-heads N", "count base {}"),
    Guess("--heads", "--head", "count bert-base-uncased {} masked-lm"),
    Guess("--num-heads", "--num-attention-heads", "count base {} 8"),
    Guess("--vary hidden", "--vary hidden-size", "solve base --budget 12M {}"),
    Guess("--vary layers", "--vary num-hidden-layers", "solve bert-base-uncased --budget 90M {}"),
    Guess("--vary vocab", "--vary vocab-size", "solve base --budget 12M {}"),
    Guess("--vary embedding", "--vary embedding-size", "solve base --budget 12M {}"),
    Guess("--vary batch", "--vary batch-size", "solve base --memory 16GB {}"),
    Guess("--hidden", "--hidden-size", "count base {} 384"),
    Guess("--vocab", "--vocab-size", "count base {} 30000"),
    Guess("--labels", "--num-labels", "count base --head sequence-classification {} 5"),
    Guess("--num-classes", "--num-labels", "count base --head sequence-classification {} 5"),
    Guess("--head HEAD", "--head HEAD", "count bert-base-uncased {}"),
    Guess(
        "--model base",
        "--preset base",
        "verify tests/data/checkpoints/bert-with-buffers {} -V 1",
        "verify",
    ),
    Guess("--model base", "base", "count {}"),
    Guess("--file configs/base.json", "configs/base.json", "count {}"),
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

_SIZE_OPTIONS = frozenset(
    name for s in SIZES for name in (f"-{s.symbol}", f"--{s.key.replace('_', '-')}")
) | {"-B", "-S", "--batch-size", "--sequence-length"}

_SIZE = re.compile(r"[0-9][0-9_.]*\s*([kmgt]i?b?|b)", re.IGNORECASE)


def answer(
    words: Sequence[str], commands: Sequence[str], options: Callable[[str], Collection[str]]
) -> str:
    """The line that *words*, which could not be done, seem to mean; empty if none is known.

    *commands* are the names of all commands, and *options* gives those of a command.
    """
    line = [part for word in words for part in _parted(word)]
    meant = [part for word in line for part in _apart(word)]
    if meant and meant[0] not in commands:
        meant = _command(meant, commands)
    known = options(meant[0]) if meant and meant[0] in commands else ()
    for guess in GUESSES:
        first = guess.meant.split()[0]
        elsewhere = guess.command and guess.command not in meant[:1]
        fits = first in known or not first.startswith("-")
        if guess.typed.startswith("-") and fits and not elsewhere:
            meant = _replaced(meant, guess)
    meant = [_dashed(word, known) for word in meant]
    if meant[:1] == ["sweep"]:
        meant = _listed(meant)
    return f"albert-calc {' '.join(_quoted(w) for w in meant)}" if meant != line else ""


def _parted(word: str) -> list[str]:
    """``--name=value`` as two words."""
    name, equals, value = word.partition("=")
    return [name, value] if equals and name.startswith("--") else [word]


def _apart(word: str) -> list[str]:
    """``-V=value`` as two words, where an option of one letter has the sign in its value."""
    name, equals, value = word.partition("=")
    return [name, value] if equals and name in _SIZE_OPTIONS else [word]


def _dashed(word: str, known: Collection[str]) -> str:
    """``--num_labels`` as the *known* option ``--num-labels``."""
    dashed = word.replace("_", "-")
    return dashed if word.startswith("--") and dashed in known else word


def _command(words: list[str], commands: Sequence[str]) -> list[str]:
    """*words* with a command in front: the one that the first is called here, or a count."""
    from difflib import get_close_matches

    first, *rest = words
    if first.startswith("-"):
        of_a_model = first in _SIZE_OPTIONS or first in ("--preset", "--config")
        return ["count", *words] if of_a_model and rest else words
    for guess in GUESSES:
        if guess.typed == first.lower():
            return [guess.meant, *rest]
    if _is_model(first):
        others = [w for w in rest if not w.startswith("-")]
        several = others and all(find_preset(o) is not None for o in others)
        return ["compare" if several else "count", *words]
    near = get_close_matches(first.lower(), commands, n=1, cutoff=0.75)
    return [*(near or [first]), *rest]


def _is_model(word: str) -> bool:
    """Whether *word* is a MODEL by its looks: a preset, or a config in a file or directory."""
    inside = os.path.join(word, "config.json")
    return (
        (os.path.isdir(word) and os.path.isfile(inside))
        or word.endswith(".json")
        or find_preset(word) is not None
    )


def _listed(words: list[str]) -> list[str]:
    """*words* with numbers that follow the first of a size put behind it, with commas."""
    joined: list[str] = []
    for word in words:
        option, value = joined[-2:] if len(joined) > 1 else ("", "")
        if option in _SIZE_OPTIONS and all(map(_is_number, [*value.split(","), word])):
            joined[-1] += f",{word}"
        else:
            joined.append(word)
    return joined


def _is_number(word: str) -> bool:
    return bool(re.fullmatch("[0-9][0-9_]*", word))


def _replaced(words: list[str], guess: Guess) -> list[str]:
    """*words* with every place of *guess* replaced."""
    typed = guess.typed.split()
    for start in range(len(words) - len(typed) + 1):
        found = words[start : start + len(typed)]
        if all(_matches(word, pattern) for word, pattern in zip(found, typed, strict=True)):
            value = found[-1]
            if typed[-1] == "HEAD" and not _may_have(head_meant(value), words):
                return words
            meant = [w for m in guess.meant.split() for w in _filled(m, value)]
            return words[:start] + meant + words[start + len(typed) :]
    return words


def _may_have(head: str, words: Sequence[str]) -> bool:
    """Whether the first preset that is named among *words* has *head*, or none is named."""
    for word in words:
        preset = find_preset(word)
        if preset is not None:
            return head in family(preset.content["model_type"]).heads
    return True


def _matches(word: str, pattern: str) -> bool:
    if pattern == "SIZE":
        return bool(_SIZE.fullmatch(word))
    if pattern == "N":
        return _is_number(word)
    if pattern == "HEAD":
        return word not in HEADS and bool(head_meant(word))
    if pattern == "NAMES":
        names = word.split(",")
        return len(names) > 1 and all(find_preset(n) is not None for n in names)
    if pattern == "base" or pattern.endswith(".json"):
        return not word.startswith("-")
    return word == pattern


def _filled(word: str, value: str) -> list[str]:
    if word == "NAMES":
        return value.split(",")
    if word == "HEAD":
        return [head_meant(value)]
    return [value if word in ("SIZE", "N", "base") or word.endswith(".json") else word]


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
