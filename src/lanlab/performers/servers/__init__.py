"""File servers: that of a trial, those that are installed, and one that serves a directory."""
