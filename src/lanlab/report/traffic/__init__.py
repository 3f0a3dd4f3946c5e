"""Tables and sentences of streams and echoes."""
