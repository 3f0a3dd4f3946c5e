"""Tables as data, and their layout on a terminal."""
