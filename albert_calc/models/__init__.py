"""One noun for what a command is about: a model, however it was named."""
