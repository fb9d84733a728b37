"""What a model costs to run and to train: bytes and FLOPs, from the same tensor tables.

May import the counting core, but neither rendering nor the command line.
"""
