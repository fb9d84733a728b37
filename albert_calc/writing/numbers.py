"""Numbers as people read them."""

import math

_HUGE = 1e12
_MOST_DECIMALS = 12

BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
"""Units of bytes, each 2^10 of the one before."""

_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs", "EFLOPs", "ZFLOPs")


def count(value: int) -> str:
    """``11683584`` as ``11,683,584``."""
    return f"{value:,}"


def difference(value: int) -> str:
    """``683584`` as ``+683,584``, and nothing as ``0``."""
    return f"{value:+,}" if value else "0"


def short(value: int, more: int = 0) -> str:
    """``222662400`` as ``222.7M``, ``2560471040`` as ``2.56B``; below a million in full.

    *more* is a number of further decimals.
    """
    if abs(value) < 10**6:
        return count(value)
    for unit, power, fewest in (("M", 6, 1), ("B", 9, 2), ("T", 12, 2)):
        scaled, decimals = value / 10**power, fewest + more
        if abs(round(scaled, decimals)) < 1000:
            return f"{scaled:.{decimals}f}{unit}"
    return f"{scaled:,.2f}T" if abs(scaled) < _HUGE else f"{value:.2e}"


def part_of(part: int, whole: int) -> float:
    """*part* / *whole*, which is 1 only where they are equal; 0 of nothing."""
    fraction = part / whole if whole else 0.0
    if abs(fraction) == 1 and abs(part) != abs(whole):
        return math.nextafter(fraction, 0.0 if abs(part) < abs(whole) else 2 * fraction)
    return fraction


def percent(fraction: float, decimals: int = 1) -> str:
    """``0.9646`` as ``96.5%``; never ``100.0%`` or ``0.0%`` for what only comes close."""
    hundred = fraction * 100
    if abs(hundred) >= _HUGE:
        return f"{hundred:.1e}%"
    while True:
        text = f"{hundred:.{decimals}f}"
        if abs(float(text)) not in (0.0, 100.0) or fraction in (0, 1, -1):
            return f"{text.removeprefix('-') if fraction == 0 else text}%"
        if decimals == _MOST_DECIMALS:
            return f"about {round(float(text))}%"
        decimals += 1


def saving(fraction: float) -> str:
    """``0.9646`` saved as ``96.5%``, ``-0.0252`` as ``2.5% more``, and nothing as nothing."""
    if not fraction:
        return ""
    return percent(fraction) if fraction > 0 else f"{percent(-fraction)} more"


def ratio(factor: float) -> str:
    """``28.2136`` as ``28.2×``, ``0.6642`` as ``0.66×``, and ``0.0004`` as ``0.0004×``."""
    if factor >= _HUGE:
        return f"{factor:.1e}×"
    if factor >= 1 or not factor:
        return f"{factor:,.1f}×"
    return f"{factor:.2f}×" if factor >= 0.1 else f"{factor:.2g}×"


def fewer(before: int, after: int) -> str:
    """What *after* is against *before*, both positive: ``9.3× fewer``, or ``1.3× more``."""
    return f"{ratio(before / after)} fewer" if after <= before else f"{ratio(after / before)} more"


def number(value: float) -> str:
    """``749.1499`` as ``749.15``."""
    return f"{value:,.2f}" if abs(value) < _HUGE else f"{value:.2e}"


def binary_size(size: int) -> str:
    """A number of bytes in the largest fitting unit of 2^10: ``44.6 MiB``."""
    return _in_units(size, 2**10, BINARY_UNITS, 1)


def decimal_size(size: int) -> str:
    """A number of bytes in the largest fitting unit of 10^3: ``46.7 MB``."""
    return _in_units(size, 1000, ("B", "kB", "MB", "GB", "TB", "PB", "EB"), 1)


def flops(operations: int) -> str:
    """A number of operations in the largest fitting unit of 1000: ``20.21 TFLOPs``."""
    return _in_units(operations, 1000, _FLOPS, 2)


def _in_units(value: int, step: int, units: tuple[str, ...], decimals: int) -> str:
    power = 0
    while power + 1 < len(units) and round(abs(value) / step**power, decimals) >= step:
        power += 1
    if power == 0:
        return f"{value:,} {units[0]}"
    scaled = value / step**power
    text = f"{scaled:,.{decimals}f}" if abs(scaled) < _HUGE else f"{scaled:.2e}"
    return f"{text} {units[power]}"
