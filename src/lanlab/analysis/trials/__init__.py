"""The trials of a run: attempts, failures, endings, and their summary."""
