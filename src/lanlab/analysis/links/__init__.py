"""What a link can carry at most."""
