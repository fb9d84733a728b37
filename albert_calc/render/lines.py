"""Lines of text for pictures: wrapped at words, padded to a width in terminal cells.

May import rich.
"""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_CONSOLE = Console(width=80, height=100)


def wrapped(text: str, width: int, style: str = "") -> list[Text]:
    """*text* in lines of at most *width* cells, broken between words where possible.

    A number is never broken: one that is wider stands alone on its line.
    """
    numbers = [word for word in text.split() if word[0].isdigit()]
    lines = Text(text, style=style).wrap(_CONSOLE, max(width, widest(numbers), 1))
    for line in lines:
        line.rstrip()
    return list(lines)


def flowed(texts: Iterable[str], width: int, gap: str) -> list[str]:
    """*texts* with *gap* between them, as many on a line of *width* cells as fit."""
    lines: list[str] = []
    for text in texts:
        if lines and cell_len(lines[-1] + gap + text) <= width:
            lines[-1] += gap + text
        else:
            lines.append(text)
    return lines


def padded(text: str, width: int, right: bool = False) -> str:
    """*text* with spaces up to *width* cells, after it or before it."""
    spaces = " " * (width - cell_len(text))
    return spaces + text if right else text + spaces


def widest(texts: list[str]) -> int:
    """The width of the longest of *texts* in cells."""
    return max((cell_len(text) for text in texts), default=0)
