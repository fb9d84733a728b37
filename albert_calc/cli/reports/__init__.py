"""Reports that are more than a table or two: what they show, and the JSON beside it."""
