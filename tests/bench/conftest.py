"""Makes the programs of `bench/` importable. Without them there is nothing to test."""

import sys
from pathlib import Path

PROGRAMS = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(PROGRAMS))
collect_ignore_glob = [] if PROGRAMS.is_dir() else ["test_*.py"]
