"""Text and values from files and command lines made harmless, to be shown in messages."""

_SHORT = 60


def printable(text: str, longest: int | None = None) -> str:
    """*text* with control, bidirectional and other invisible characters escaped.

    Longer than *longest* characters, it is cut and ends in ``…``.
    """
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shown(value: object) -> str:
    """A value as an error message quotes it: as JSON would, short and harmless."""
    if isinstance(value, str):
        return repr(printable(value, _SHORT))
    if isinstance(value, int) and not isinstance(value, bool):
        bits = value.bit_length()
        return str(value) if bits < 256 else f"a number of about {bits * 3 // 10} digits"
    if isinstance(value, list | tuple | dict):
        kind = "an object" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)} entries" if value else f"an empty {kind.split()[1]}"
    if value is None or isinstance(value, bool | float):
        import json  # late: few runs have anything to quote

        return json.dumps(value)
    return f"a {type(value).__name__}"
