"""The trials of a run, and what disturbed or ended them."""
