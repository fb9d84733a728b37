"""The one theme: what colours mean, and which ones bars, boxes and lines have.

Every colour is told from its neighbours by people who see none of red and green, and by its
lightness on paper; nothing is said by colour alone.
"""

from typing import Literal

from albert_calc.named_tuple import NamedTuple

Role = Literal["", "good", "bad", "dim", "strong", "bar"]
"""What a text is: savings and ``ok``, costs and ``FAILED``, an aside, the answer."""


class Look(NamedTuple):
    """How a role looks: on a terminal, and on a page in the light and in the dark."""

    terminal: str
    light: str
    dark: str


ROLES: dict[Role, Look] = {
    "good": Look("green", "#116329", "#57c978"),
    "bad": Look("red", "#b3261e", "#ff8a80"),
    "dim": Look("dim", "#5f6670", "#9aa3ad"),
    "strong": Look("bold", "", ""),
    "bar": Look("#0173b2", "#0173b2", "#0173b2"),
}

PARTS: tuple[str, ...] = ("#0173b2", "#de8f05", "#029e73", "#cc78bc", "#56b4e9", "#8c613c")
"""The colours of the parts of a bar, in their order."""

BEFORE = "#8c8c8c"
"""The colour of what something else is compared with."""

INK, PAPER, RULE = "#1f2328", "#ffffff", "#8a919b"
"""Letters, background and thin lines of files; a file looks the same wherever it is shown."""

LIMIT = "#c1121f"
"""A line that must not be crossed."""

_SIXTEEN = {
    **dict(zip(PARTS, ("blue", "yellow", "green", "magenta", "cyan", "red"), strict=True)),
    BEFORE: "bright_black",
    LIMIT: "red",
}
"""The colours of bars and lines where there are but sixteen."""

_SHADES = 100

_RAMP = ((68, 57, 131), (49, 104, 142), (33, 145, 140), (83, 197, 104), (253, 231, 37))


def part_colour(hue: int | None) -> str:
    """The colour of a part of bars by its number; without one, of what it is compared with."""
    return BEFORE if hue is None else PARTS[hue % len(PARTS)]


def shade_colour(shade: float) -> str:
    """A colour between the dark end of a ramp, at 0, and its light end, at 1."""
    place = (len(_RAMP) - 1) * shade
    before = min(int(place), len(_RAMP) - 2)
    mixed = (
        round(a + (b - a) * (place - before))
        for a, b in zip(_RAMP[before], _RAMP[before + 1], strict=True)
    )
    return "#" + "".join(f"{value:02x}" for value in mixed)


def ink_on(colour: str) -> str:
    """Black or white, whichever is read better on *colour*."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def shade_style(shade: float | None) -> str:
    """The name of the style of a box of that shade; none has none."""
    return "" if shade is None else f"shade {round(_SHADES * shade)}"


def terminal_styles(few: bool) -> dict[str, str]:
    """The styles that pictures and tables name, for a terminal that has many colours or *few*.

    Of sixteen colours two boxes would share one, so they get none.
    """
    found: dict[str, str] = {role: look.terminal for role, look in ROLES.items()}
    if not few:
        return {**found, **_shades()}
    pairs = {
        f"{ink} on {paper}": f"{name} on {behind}"
        for ink, name in _SIXTEEN.items()
        for paper, behind in _SIXTEEN.items()
    }
    return {**found, **_SIXTEEN, **pairs, **dict.fromkeys(_shades(), "none")}


def page_styles() -> dict[str, str]:
    """The same for a page in the light."""
    return {**{role: look.light or look.terminal for role, look in ROLES.items()}, **_shades()}


def _shades() -> dict[str, str]:
    papers = {i: shade_colour(i / _SHADES) for i in range(_SHADES + 1)}
    return {f"shade {i}": f"{ink_on(paper)} on {paper}" for i, paper in papers.items()}
