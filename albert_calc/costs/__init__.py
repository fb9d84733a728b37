"""What a model costs to run and to train: bytes and FLOPs, from the same tensor tables."""
