"""Talk goes to standard error, answers to standard output; colour only adds."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console


def talk() -> Console:
    """Where progress and remarks go. NO_COLOR and dumb terminals are obeyed by rich."""
    return Console(stderr=True, highlight=False)


def answer() -> Console:
    """Where tables go. As wide as they need where it is no terminal: for `grep`, not for eyes."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def print_json(value: Any) -> None:
    """One JSON object at full precision, and nothing else."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
