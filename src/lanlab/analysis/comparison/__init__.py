"""Runs compared with each other, levels of a factor compared, and rankings."""
