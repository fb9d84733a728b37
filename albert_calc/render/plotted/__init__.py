"""Each kind of picture as a figure of matplotlib; loading this package loads matplotlib."""
