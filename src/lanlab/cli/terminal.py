"""Talk goes to standard error, answers to standard output; colour only adds."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import threading
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


class Talk:
    """
    Standard error: a line for each remark, and in a terminal one line below them that shows what
    goes on. Without rich, as importing that takes a tenth of a command's start.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: The line that is shown.
        self._shown = ""

    @property
    def is_terminal(self) -> bool:
        """Whether a line can be shown and replaced."""
        return (
            sys.stderr is not None
            and sys.stderr.isatty()
            and os.environ.get("TERM", "") not in ("dumb", "unknown")
        )

    def print(self, text: str, *, is_warning: bool = False) -> None:
        """A remark, in yellow if it warns and colour is wanted."""
        text = printable(text)
        if is_warning and self.is_terminal and not os.environ.get("NO_COLOR"):
            text = f"\x1b[33m{text}\x1b[0m"
        with self._lock:
            print(f"{_ERASED if self._shown else ''}{text}", file=sys.stderr)
            if self._shown:
                self._draw()

    def show(self, text: str) -> None:
        """Show a line in place of the last; an empty one removes it."""
        if not self.is_terminal:
            return
        with self._lock:
            was, self._shown = self._shown, " ".join(printable(text).split())
            if self._shown:
                self._draw()
            elif was:
                print(_ERASED, end="", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        # The terminal cuts what is too long for it, instead of going on in another line.
        print(f"{_ERASED}\x1b[?7l{self._shown}\x1b[?7h", end="", file=sys.stderr, flush=True)


#: Back to the beginning of the line, and nothing in it.
_ERASED = "\r\x1b[2K"
_TALK = Talk()


def say(text: str) -> None:
    """A line of talk: a warning, an error or a hint."""
    _TALK.print(text)


def talk() -> Talk:
    """Where progress and remarks go. NO_COLOR and dumb terminals are obeyed."""
    return _TALK


def print_lines(text: str) -> None:
    """Lines of an answer, broken between words where a terminal is too narrow. Without rich."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for line in printable(text).splitlines():
        shown = [line]
        if width and len(line) > width:
            shown = textwrap.wrap(line, width, expand_tabs=False, replace_whitespace=False)
        print(*shown, sep="\n")


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


class _JsonForm:
    """How objects are printed: the next one, of this process."""

    indent: int | None = 2


def print_json_in_one_line() -> None:
    """Have the next object printed in one line, as the lines before it."""
    _JsonForm.indent = None


def print_json(value: Any) -> None:
    """One JSON object at full precision, and nothing else."""
    indent, _JsonForm.indent = _JsonForm.indent, 2
    # Only those below a space are escaped by JSON itself; these mean the same to a program.
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    if not can_hold(text, sys.stdout):
        # Escaped as JSON has it: what stands for a letter in a text would be another one here.
        text = json.dumps(value, indent=indent, allow_nan=False)
    print(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
