"""What disturbed a run, and properties of hosts and paths that can mislead."""
