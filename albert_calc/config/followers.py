"""Sizes that are a multiple of another where nobody gives them: I = 4·H.

The rule stands here alone: typed sizes, sweeps and searches all ask here.
"""

from collections.abc import Collection, Mapping
from typing import Any

from albert_calc.families.base import Computed
from albert_calc.families.sizes import LARGEST, SYMBOLS
from albert_calc.named_tuple import NamedTuple

Keys = dict[str, Any]


class Multiple(NamedTuple):
    """``factor`` times the size ``leader``."""

    factor: int
    leader: str

    @property
    def rule(self) -> Computed:
        """The same as a default that follows from another key."""
        return Computed((self.leader,), lambda value: self.factor * value)

    @property
    def largest(self) -> int:
        """The largest leader with which the multiple is allowed."""
        return LARGEST // self.factor


FOLLOWS: Mapping[str, Multiple] = {"intermediate_size": Multiple(4, "hidden_size")}
"""Each size that follows another, by its key."""


def with_followers(given: Mapping[str, Any]) -> tuple[Keys, tuple[str, ...]]:
    """*given* with the sizes of ``FOLLOWS`` that are missing, and a note of each.

    Where what they follow is no size, they are 1: that size will be refused, and nobody has
    said anything wrong of these. Where it is not given and a ``model_type`` is, both are what
    the class has.
    """
    keys, notes = dict(given), []
    for key, (factor, leader) in FOLLOWS.items():
        value: Any = keys.get(leader)
        if keys.get(key) is not None or (value is None and keys.get("model_type") is not None):
            continue
        sound = isinstance(value, int) and not isinstance(value, bool) and value > 0
        keys[key] = 1
        if sound:
            keys[key] = factor * value
            notes.append(f"{key}: not given, so {factor} × {leader} = {keys[key]}")
    return keys, tuple(notes)


def following_in(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """The sizes that are the multiple of another in a model with *keys*."""
    return tuple(key for key, (factor, leader) in FOLLOWS.items()
                 if keys[key] == factor * keys[leader])  # fmt: skip


def followers_of(
    leaders: Collection[str], given: Collection[str], among: Collection[str]
) -> tuple[str, ...]:
    """The sizes *among* those that may follow which do follow one of *leaders*, if not *given*."""
    return tuple(key for key in among if FOLLOWS[key].leader in leaders and key not in given)


def put_followers(keys: Keys, followers: Collection[str]) -> None:
    """Set *followers* in *keys* to what they are beside the others."""
    for key in followers:
        factor, leader = FOLLOWS[key]
        keys[key] = factor * keys[leader]


def follow_note(key: str) -> str:
    """``intermediate_size: follows hidden_size, 4 × H``."""
    factor, leader = FOLLOWS[key]
    return f"{key}: follows {leader}, {factor} × {SYMBOLS[leader]}"
