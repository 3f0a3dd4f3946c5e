"""Verdicts on the findings of a study."""
