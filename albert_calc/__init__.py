"""Exact parameter counts of BERT and ALBERT encoders, by arithmetic alone.

These are the public names. Importing them loads nothing but the standard library.
"""

from albert_calc.config import ModelConfig
from albert_calc.counts import ComponentCount, Counts, count_parameters
from albert_calc.errors import AlbertCalcError

__version__ = "1.0.0"

__all__ = [
    "AlbertCalcError",
    "ComponentCount",
    "Counts",
    "ModelConfig",
    "count_parameters",
]
