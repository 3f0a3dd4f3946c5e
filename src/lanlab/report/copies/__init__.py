"""Copies: tables and sentences."""
