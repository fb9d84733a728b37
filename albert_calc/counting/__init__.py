"""From a config to its tensors and their counts, and what the techniques make of them."""
