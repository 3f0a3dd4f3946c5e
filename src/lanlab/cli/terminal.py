"""Talk goes to standard error, answers to standard output; colour only adds."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

from lanlab.cli.output import can_hold

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: What a terminal takes for a command, or what turns a line round: controls but for the line feed
#: and the tab (C0, DEL, C1), and marks of writing direction (Unicode TR 36, section 3.1).
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Text from elsewhere (a study, a record, an engine, a host's name) as a terminal may have it:
    each control is shown and does nothing."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def say(text: str) -> None:
    """A line of talk: a warning, an error or a hint."""
    print(printable(text), file=sys.stderr)


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
    # Here, as a host can be made while it is imported.
    from rich.console import Console

    class Quiet(Console):
        """A console on which texts say what they say, and command nothing."""

        def render_str(self, text: str, **settings: Any) -> Text:
            return super().render_str(printable(text), **settings)

    # Titles and messages come from elsewhere: a bracket in one is a bracket, not rich's markup.
    return Quiet(highlight=False, markup=markup, emoji=False, **settings)


def print_json(value: Any) -> None:
    """One JSON object at full precision, and nothing else."""
    # Only those below a space are escaped by JSON itself; these mean the same to a program.
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    if not can_hold(text, sys.stdout):
        # Escaped as JSON has it: what stands for a letter in a text would be another one here.
        text = json.dumps(value, indent=2, allow_nan=False)
    print(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
