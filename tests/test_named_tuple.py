"""Named tuples that are quick to define: what typing's do that the package uses, they do."""

import collections
import copy
import pickle
from typing import Any

import pytest

from albert_calc import named_tuple


class Quick(named_tuple.NamedTuple):
    """A quick one."""

    name: str
    width: int = 768
    ids: tuple[int, ...] = ()

    @property
    def area(self) -> int:
        """Of a square."""
        return self.width**2


Usual = collections.namedtuple("Usual", ("name", "width", "ids"), defaults=(768, ()))
"""The same by the standard library, whose named tuples typing's are."""

BOTH: tuple[Any, ...] = (Quick, Usual)

MADE: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    (("a",), {}),
    (("a", 2), {}),
    (("a", 2, (3,)), {}),
    (("a",), {"ids": (3,)}),
    ((), {"ids": (3,), "name": "a"}),
    ((), {"width": 0, "ids": (3,), "name": "a"}),
)

REFUSED: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((), {"width": 1}),
    (("a", 1, (), 4), {}),
    (("a",), {"name": "b"}),
    (("a",), {"height": 1}),
    (("a", 1, ()), {"height": 1}),
)


@pytest.mark.parametrize("kind", BOTH)
def test_values(kind: Any) -> None:
    assert Quick("a", 3).area == 9
    for values, named in MADE:
        made = kind(*values, **named)
        assert made == Usual(*values, **named)
        assert (made.name, made.width, made.ids) == tuple(made)
        assert hash(made) == hash(tuple(made))
        assert made._asdict() == {"name": made.name, "width": made.width, "ids": made.ids}
        assert made._replace(width=5) == (made.name, 5, made.ids)
        assert repr(made) == f"{kind.__name__}(name='a', width={made.width}, ids={made.ids})"
        for twin in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert type(twin) is kind
            assert twin == made


@pytest.mark.parametrize("kind", BOTH)
def test_refusals(kind: Any) -> None:
    for values, named in REFUSED:
        with pytest.raises(TypeError):
            kind(*values, **named)
    with pytest.raises((TypeError, ValueError)):
        kind("a")._replace(height=1)
    for name in ("width", "height"):
        with pytest.raises(AttributeError):
            setattr(kind("a"), name, 5)
