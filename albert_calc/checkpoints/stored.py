"""What a file says about its tensors, and how much of a file is read to learn it."""

import os
import stat
from dataclasses import dataclass
from math import prod
from typing import IO, NamedTuple

from albert_calc.config.files import followed, quoted
from albert_calc.errors import CheckpointError

LARGEST_HEADER = 4 * 2**20
"""Bytes of safetensors headers and indexes that are read for one checkpoint."""

MOST_TENSORS = 20_000
"""Tensors that a checkpoint may have; MobileBERT, which has most for its size, has 1,113."""

LARGEST_PICKLE = 8 * 2**20
"""Bytes of pickles that are read for one checkpoint; those of BERT-large are 0.1 MiB."""

MOST_STEPS = 500_000
"""Opcodes of pickles that are followed for one checkpoint; a tensor takes about 35."""

MOST_DIMENSIONS = 64
LARGEST_SIZE = 2**64 - 1
# More than any tensor has; work on absurd ones would take seconds.
LONGEST_NAME = 10_000


class StoredTensor(NamedTuple):
    """What a file says about one tensor: its dtype and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers the tensor holds."""
        return prod(self.shape)


@dataclass
class Limits:
    """How much may still be read for one checkpoint; what is read in vain counts too."""

    header: int = LARGEST_HEADER
    pickle: int = LARGEST_PICKLE
    steps: int = MOST_STEPS


def product_within(sizes: tuple[int, ...] | list[int]) -> int | None:
    """The product of *sizes*, or ``None`` if it is more than any file can hold.

    Multiplied step by step, as a thousand large sizes make a number that takes minutes.
    """
    elements = 1
    for size in sizes:
        elements *= size
        if elements > LARGEST_SIZE:
            return None
    return elements


def open_regular(path: str) -> IO[bytes]:
    """The regular file *path*, opened for reading.

    Raises ``CheckpointError`` for anything else: a pipe or a device could block for ever.
    """
    try:
        path = followed(path)
        # Asked before it is opened: opening a pipe waits for somebody to write.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CheckpointError(f"{quoted(path)}: must be a regular file")
        return open(path, "rb")
    except OSError as error:
        raise CheckpointError(f"{quoted(path)}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{quoted(path)}: cannot be read: {error}") from None


def read_start(path: str, length: int) -> tuple[bytes, int]:
    """The first *length* bytes of the regular file *path*, and its size in bytes."""
    with open_regular(path) as file:
        try:
            return file.read(length), os.fstat(file.fileno()).st_size
        except OSError as error:
            raise CheckpointError(f"{quoted(path)}: cannot be read: {error.strerror}") from None
