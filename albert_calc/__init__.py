"""Exact parameter counts of BERT and ALBERT encoders, by arithmetic alone.

These are the public names, each imported when it is first asked for. Importing them loads
nothing but the standard library.
"""

# Type checkers take this for true; importing it from typing would take longer than all else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from albert_calc.config.model_config import ModelConfig
    from albert_calc.counting.counts import ComponentCount, Counts, count_parameters
    from albert_calc.errors import AlbertCalcError

__version__ = "2.0.0"

__all__ = [
    "AlbertCalcError",
    "ComponentCount",
    "Counts",
    "ModelConfig",
    "count_parameters",
]

_HOMES = {
    "AlbertCalcError": "errors",
    "ComponentCount": "counting.counts",
    "Counts": "counting.counts",
    "ModelConfig": "config.model_config",
    "count_parameters": "counting.counts",
}


def __getattr__(name: str) -> object:
    """The public name *name*: late, so that a command line starts where it can be interrupted."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, also those that nobody has asked for yet."""
    return sorted({*globals(), *__all__})
