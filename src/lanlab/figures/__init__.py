"""Figures: tables in, figures out. `registry.py` lists them; nothing is imported here, because a
single measurement uses `wording.py` without drawing.
"""
