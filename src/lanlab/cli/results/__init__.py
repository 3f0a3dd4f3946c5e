"""Printed results."""
