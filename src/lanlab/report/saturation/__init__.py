"""Where searches ended."""
