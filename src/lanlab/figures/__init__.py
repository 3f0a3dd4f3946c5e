"""Figures: tables in, figures out. `registry.py` lists them. This module imports nothing, because
single measurements use `wording.py` without drawing.
"""
