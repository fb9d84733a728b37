"""The errors that albert-calc raises on purpose."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

MOST_PROBLEMS = 20
"""The most problems that are named at once; of more, the others are counted."""


def first_of(texts: Sequence[str], more: str = "more problems") -> list[str]:
    """*texts*, or the first of them and how many *more* there are."""
    if len(texts) <= MOST_PROBLEMS:
        return list(texts)
    return [*texts[:MOST_PROBLEMS], f"and {len(texts) - MOST_PROBLEMS:,} {more}"]


class AlbertCalcError(ValueError):
    """Root of every error that the library raises for input it cannot use.

    ``problems`` holds one line for each thing that is wrong, so that a reader
    can mend all of them at once.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class ConfigError(AlbertCalcError):
    """A model's sizes, or the file that holds them, cannot be used."""


class CheckpointError(AlbertCalcError):
    """A checkpoint's header cannot be read or does not follow its format."""


class Problems(list[str]):
    """What was found wrong so far, so that several steps can report all at once."""

    @contextmanager
    def collected(self, of: str = "") -> Iterator[None]:
        """Add the problems of an error raised inside, and go on after it.

        Each begins with the name of what it is a problem *of*, if that is given.
        """
        try:
            yield
        except AlbertCalcError as error:
            self += [f"{of}: {problem}" for problem in error.problems] if of else error.problems

    def raise_any(self, kind: type[AlbertCalcError] = ConfigError) -> None:
        """Raise all problems, each once, as one error of *kind*; do nothing without any."""
        if self:
            raise kind(dict.fromkeys(self))
