"""Many models at once: ranges and grids of sizes, sweeps over them, sizes solved for."""
