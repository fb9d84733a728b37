"""How things are written: text made harmless, numbers for people, quantities as typed."""
