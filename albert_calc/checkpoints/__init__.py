"""Checkpoints: read from their headers alone, compared with a config, and explained.

``files`` reads, ``verification`` compares, ``inference`` explains. The numbers behind a header
are never read, and no pickle is ever run.
"""
