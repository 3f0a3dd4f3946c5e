"""File servers: a trial's, installed ones, and one that serves a directory."""
