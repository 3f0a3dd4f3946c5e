"""Verdicts on a study's findings."""
