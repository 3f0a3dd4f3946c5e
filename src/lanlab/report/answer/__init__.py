"""The answer of a run, in sentences."""
