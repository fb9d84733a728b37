"""Figures as printed in the book, in the paper and of real GPUs, and what each counts.

A new source is a module with ``TITLE`` and ``figures()``, and a line in ``SOURCES``.
"""

SOURCES: tuple[str, ...] = ("handbook", "paper", "gpu")
"""Each source, whose module here has the same name."""
