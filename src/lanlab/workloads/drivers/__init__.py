"""Drivers: other programs that measure a condition in lanlab's place. One file each;
`registry.py` has the table."""
