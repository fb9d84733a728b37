"""Each kind of picture as lines of characters."""
