"""The trials of a run, their disturbances and failures."""
