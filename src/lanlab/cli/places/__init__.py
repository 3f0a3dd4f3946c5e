"""Files, servers and mounts named on the command line."""
