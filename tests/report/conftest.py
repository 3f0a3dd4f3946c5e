"""Lets these tests use made-up engine results of the workloads' tests, and made-up copies."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("workloads", "analysis"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
