"""Round trips during streams."""
