"""Hosts that are reached by ssh: how they are named, the connection, and the engine there."""
