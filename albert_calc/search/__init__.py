"""Many models at once: ranges and grids of sizes, sweeps over them, sizes solved for.

May import the counting core, but neither rendering nor the command line.
"""
