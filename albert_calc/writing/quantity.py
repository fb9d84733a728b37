"""Quantities as people type them: ``11683584``, ``11_683_584``, ``11,683,584``, ``12M``."""

import re

_SUFFIXES = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}
# A comma separates thousands: one to three digits before it, the first of them not 0.
_WHOLE = r"[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)+"
_PATTERN = rf"(?P<whole>{_WHOLE})(?:\.(?P<fraction>[0-9]+))?(?P<suffix>[KMBTkmbt]?)"
_BYTES = rf"(?P<whole>{_WHOLE})(?:\.(?P<fraction>[0-9]+))?\s*(?P<unit>[KMGTPkmgtp]?i?[Bb]?)"
_LONGEST = 40


def parse_quantity(text: str) -> int:
    """The whole number that *text* stands for, exactly (``1.5B`` is 1,500,000,000).

    Raises ``ValueError`` for anything else: signs, other letters, misplaced
    separators, a fraction that its suffix does not make whole.
    """
    match = re.fullmatch(_PATTERN, text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError("not a quantity")
    if match["fraction"] and not match["suffix"]:
        raise ValueError("not a whole number")
    return _scaled(match, 10 ** _SUFFIXES[match["suffix"].upper()])


def parse_bytes(text: str) -> int:
    """The number of bytes that *text* stands for: ``16GiB`` is 16 × 2^30, ``16GB`` 16 × 10^9.

    Without a unit it is a number of bytes. Raises ``ValueError`` for anything else.
    """
    match = re.fullmatch(_BYTES, text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError("not a number of bytes")
    unit = match["unit"].upper().removesuffix("B")
    if unit == "I":
        raise ValueError("not a unit")
    base = 1024 if unit.endswith("I") else 1000
    power = "KMGTP".find(unit[:1]) + 1 if unit else 0
    if match["fraction"] and not power:
        raise ValueError("not a whole number")
    return _scaled(match, base**power)


def _scaled(match: re.Match[str], factor: int) -> int:
    whole = re.sub("[,_]", "", match["whole"])
    fraction = (match["fraction"] or "").rstrip("0")
    scaled: int
    scaled, rest = divmod(int(whole + fraction) * factor, 10 ** len(fraction))
    if rest:
        raise ValueError("not a whole number")
    return scaled
