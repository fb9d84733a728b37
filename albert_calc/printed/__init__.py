"""Figures as printed in the book and in the paper, each with the convention that gives it.

A new source is a module with ``TITLE`` and ``figures()``, and a line in ``SOURCES``. It
may import the counting core, but neither rendering nor the command line.
"""

SOURCES: dict[str, str] = {
    "handbook": "albert_calc.printed.handbook",
    "paper": "albert_calc.printed.paper",
}
"""Each source and the module that holds its figures."""
