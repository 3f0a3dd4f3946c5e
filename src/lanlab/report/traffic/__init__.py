"""Streams and echoes: tables and sentences."""
