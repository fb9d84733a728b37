"""Keys that are no sizes: how each kind is read, and the feature of one that is true."""

from albert_calc.families.base import Feature, Switch
from albert_calc.families.sizes import LARGEST


def flag(key: str) -> Switch:
    """A key that is true or false."""
    return Switch(key, "true or false", _true_or_false)


def _true_or_false(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def choice(key: str, *values: str) -> Switch:
    """A key that is one of *values*."""

    def read(value: object) -> object:
        if value not in values:
            raise ValueError
        return value

    return Switch(key, f"one of {', '.join(values)}", read)


def whole(key: str, least: int = -LARGEST) -> Switch:
    """A key that is a whole number and from which the value of a symbol follows."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError
        if not least <= value <= LARGEST:
            raise ValueError
        return value

    return Switch(key, "a positive whole number" if least > 0 else "a whole number", read)


def given(key: str) -> Feature:
    """A feature that is a switch itself."""
    return Feature((key,), bool)
