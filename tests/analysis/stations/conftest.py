"""Lets these tests use the made-up stations of the workloads' tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "workloads"))
