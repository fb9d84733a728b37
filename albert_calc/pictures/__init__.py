"""Pictures: what they show (``picture``), and how each is made of what the library knows."""
