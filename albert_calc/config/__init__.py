"""From the content of a ``config.json`` to a config: its type, its keys, its rules."""
