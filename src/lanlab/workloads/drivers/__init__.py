"""Drivers: other programs that measure a condition in lanlab's place. One file each; the table is
in `registry.py`.
"""
