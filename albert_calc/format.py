"""Numbers as people read them. Imports nothing of the package."""


def count(value: int) -> str:
    """``11683584`` as ``11,683,584``."""
    return f"{value:,}"


def difference(value: int) -> str:
    """``683584`` as ``+683,584``, and nothing as ``0``."""
    return f"{value:+,}" if value else "0"


def percent(fraction: float, decimals: int = 1) -> str:
    """``0.9646`` as ``96.5%``; never ``100.0%`` or ``0.0%`` for what only comes close."""
    while True:
        text = f"{fraction * 100:.{decimals}f}%"
        rounded_away = float(text[:-1]) in (0.0, 100.0) and fraction not in (0, 1)
        if not rounded_away or decimals >= 12:
            return text if float(text[:-1]) else text.replace("-", "")
        decimals += 1


def ratio(factor: float) -> str:
    """``28.2136`` as ``28.2×``."""
    return f"{factor:,.1f}×"


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
