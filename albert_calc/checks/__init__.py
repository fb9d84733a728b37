"""Counts held against bounds, one by one or as many as a file lists.

May import the counting core, but neither rendering nor the command line.
"""
