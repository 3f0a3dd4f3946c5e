"""Figures: tables in, figures out. `registry.py` has them all; nothing is imported here, as a
single measurement takes its words (`wording.py`) and draws none."""
