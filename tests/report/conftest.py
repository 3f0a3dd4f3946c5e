"""
Lets these tests use made-up engine results of the workloads' tests, and made-up copies. Reports
have stand-ins for figures, unless a test asks for `drawn`.
"""

import sys
from pathlib import Path

from undrawn import drawn, undrawn

__all__ = ["drawn", "undrawn"]

for folder in ("workloads", "analysis"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
