"""Copies: their cost, their files, and what both ends agreed on."""
