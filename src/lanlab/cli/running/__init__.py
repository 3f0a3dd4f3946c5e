"""Runs from the command line: options, progress and interruption."""
