"""Lets these tests use the synthetic runs of the report's tests, and made-up copies."""

import sys
from pathlib import Path

for folder in ("report", "analysis"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
