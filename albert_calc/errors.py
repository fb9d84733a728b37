"""The errors that albert-calc raises on purpose. Imports nothing of the package."""

from collections.abc import Iterable


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
