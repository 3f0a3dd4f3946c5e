"""Lets these tests use the made-up stations of the workloads' tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "workloads"))
