"""Published values, alone and compared with a run."""
