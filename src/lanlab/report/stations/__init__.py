"""Stations: tables and sentences."""
