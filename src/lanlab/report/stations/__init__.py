"""Tables and sentences of stations."""
