"""Round trips."""
