"""Trials with another program at the other end."""
