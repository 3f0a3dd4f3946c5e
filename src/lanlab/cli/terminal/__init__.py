"""Writing to a terminal."""
