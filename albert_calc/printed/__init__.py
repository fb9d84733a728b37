"""Figures as printed in the book and in the paper, each with the convention that gives it.

A new source is a module with ``TITLE`` and ``figures()``, and a line in ``SOURCES``. It
may import the counting core, but neither rendering nor the command line.
"""

SOURCES: tuple[str, ...] = ("handbook", "paper")
"""Each source, whose module here has the same name."""
