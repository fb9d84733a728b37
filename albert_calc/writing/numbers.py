"""Numbers as people read them."""

_HUGE = 1e12
_SMALL = 0.1
_MOST_DECIMALS = 12


def count(value: int) -> str:
    """``11683584`` as ``11,683,584``."""
    return f"{value:,}"


def difference(value: int) -> str:
    """``683584`` as ``+683,584``, and nothing as ``0``."""
    return f"{value:+,}" if value else "0"


def percent(fraction: float, decimals: int = 1) -> str:
    """``0.9646`` as ``96.5%``; never ``100.0%`` or ``0.0%`` for what only comes close."""
    hundred = fraction * 100
    if abs(hundred) >= _HUGE:
        return f"{hundred:.1e}%"
    while True:
        text = f"{hundred:.{decimals}f}"
        if float(text) not in (0.0, 100.0) or fraction in (0, 1):
            return f"{text.removeprefix('-') if fraction == 0 else text}%"
        if decimals == _MOST_DECIMALS:
            return f"about {abs(round(float(text)))}%"
        decimals += 1


def ratio(factor: float) -> str:
    """``28.2136`` as ``28.2×``, and ``0.0004`` as ``0.0004×``."""
    return f"{factor:,.1f}×" if factor >= _SMALL or not factor else f"{factor:.1g}×"


def number(value: float) -> str:
    """``749.1499`` as ``749.15``."""
    return f"{value:,.2f}"


def binary_size(size: int) -> str:
    """A number of bytes in the largest fitting unit of 2^10: ``44.6 MiB``."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    power = 0
    while power + 1 < len(units) and size >= 2 ** (10 * (power + 1)):
        power += 1
    return f"{size:,} B" if power == 0 else f"{size / 2 ** (10 * power):,.1f} {units[power]}"
