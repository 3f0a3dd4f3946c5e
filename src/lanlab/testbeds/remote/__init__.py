"""Hosts reached by ssh: their names, the connection, and the engine."""
