"""Quantities as people type them: ``11683584``, ``11_683_584``, ``11,683,584``, ``12M``.
"""

import re

_SUFFIXES = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}
_PATTERN = (
    r"(?P<whole>[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)+)"
    r"(?:\.(?P<fraction>[0-9]+))?(?P<suffix>[KMBTkmbt]?)"
)
_LONGEST = 40


def parse_quantity(text: str) -> int:
    """The whole number that *text* stands for, exactly (``1.5B`` is 1,500,000,000).

    Raises ``ValueError`` for anything else: signs, other letters, misplaced
    separators, a fraction that its suffix does not make whole.
    """
    match = re.fullmatch(_PATTERN, text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError("not a quantity")
    whole = re.sub("[,_]", "", match["whole"])
    fraction = (match["fraction"] or "").rstrip("0")
    if match["fraction"] and not match["suffix"]:
        raise ValueError("not a whole number")
    zeros = _SUFFIXES[match["suffix"].upper()] - len(fraction)
    if zeros < 0:
        raise ValueError("not a whole number")
    return int(whole + fraction + "0" * zeros)
