"""Counts held against bounds, one by one or as many as a file lists."""
