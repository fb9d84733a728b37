"""Named tuples that are quick to define.

``typing.NamedTuple`` compiles code for every class, which was a third of the time that a short
run adds to Python's own. These do what the package asks of typing's, and are slower to make:
counts, steps of training, checks, searches and checkpoints, of which there are thousands,
have typing's.
"""

from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self


class _NamedTuple(tuple[Any, ...]):
    """A tuple whose values have the names that the subclass annotates, in their order."""

    _fields: ClassVar[tuple[str, ...]]
    _field_defaults: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._field_defaults = {n: vars(cls)[n] for n in cls._fields if n in vars(cls)}
        for index, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(index)))

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """A tuple of *values*, then those that are *named*, then the defaults."""
        if named or len(values) != len(cls._fields):
            rest, known = cls._fields[len(values) :], cls._field_defaults
            try:
                values += tuple([named.pop(n) if n in named else known[n] for n in rest])
            except KeyError as missing:
                raise TypeError(f"{cls.__name__}: no {missing.args[0]} is given") from None
            if named or len(values) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has once each: {', '.join(cls._fields)}")
        return tuple.__new__(cls, values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; use _replace")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({values})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changes: Any) -> Self:
        values = {**self._asdict(), **changes}
        if len(values) != len(self):
            raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
        return tuple.__new__(type(self), values.values())


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = _NamedTuple
