"""Copies to and from a file service."""
