"""Runs compared with each other."""
