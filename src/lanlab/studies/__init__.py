"""Studies as data: the published ones and the user's own."""
