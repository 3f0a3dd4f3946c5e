"""Talk goes to standard error, answers to standard output; colour only adds."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console


def talk() -> Console:
    """Where progress and remarks go. NO_COLOR and dumb terminals are obeyed by rich."""
    console = _console(stderr=True)
    # A log has a line for each remark, however long.
    return console if console.is_terminal else _console(stderr=True, soft_wrap=True)


def answer(*, markup: bool = False) -> Console:
    """Where tables go. As wide as they need where it is no terminal: for `grep`, not for eyes.

    Args:
        markup: For tables with markup of rich in them, whose texts are escaped.
    """
    console = _console(markup=markup)
    return console if console.is_terminal else _console(markup=markup, width=200)


def _console(*, markup: bool = False, **settings: Any) -> Console:
    # Titles and messages come from elsewhere: a bracket in one is a bracket, not rich's markup.
    return Console(highlight=False, markup=markup, emoji=False, **settings)


def print_json(value: Any) -> None:
    """One JSON object at full precision, and nothing else."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
