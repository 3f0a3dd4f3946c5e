"""Tables and sentences of copies."""
