"""Prints remarks to standard error and answers to standard output. Colour adds no meaning."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from lanlab.cli.terminal.output import can_hold
from lanlab.units import lines_of

if TYPE_CHECKING:
    from lanlab.report.document.document import Block, Document
    from lanlab.report.document.table import Table

#: Characters that a terminal would interpret or that reverse a line: control characters except line
#: feed and tab (C0, DEL, C1), and marks of writing direction (Unicode TR 36, section 3.1).
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

#: Width of sentences if the output is not a terminal; tables then omit no column.
_WIDE = 200
#: Most lines of sentences above the first table.
_MOST_LINES = 5
#: Terminals without control sequences.
_PLAIN = ("dumb", "unknown")
_LABEL = re.compile(r"[a-z][a-z ]{0,10} {2,}")


def printable(text: str) -> str:
    """Text from outside (a study, a record, an engine, a host's name), made safe for a terminal:
    control characters are shown and have no effect.
    """
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def can_ask() -> bool:
    """Whether the user can be prompted: input and standard error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Talk:
    """Standard error: a line for each remark and, on a terminal, a status line below them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown = ""

    @property
    def is_terminal(self) -> bool:
        return (
            sys.stderr is not None
            and sys.stderr.isatty()
            and os.environ.get("TERM", "") not in _PLAIN
        )

    def print(self, text: str, *, is_warning: bool = False) -> None:
        text = printable(text)
        if self.is_terminal:
            # Wrap sentences between words, and indent the following lines.
            width = _width_of(sys.stderr)
            text = "\n".join(part for one in text.split("\n") for part in broken(one, width))
        if is_warning and self.is_terminal and not os.environ.get("NO_COLOR"):
            text = f"\x1b[33m{text}\x1b[0m"
        with self._lock:
            print(f"{_ERASED if self._shown else ''}{text}", file=sys.stderr)
            if self._shown:
                self._draw()

    def show(self, text: str) -> None:
        """Replace the status line; an empty text removes it."""
        if not self.is_terminal:
            return
        with self._lock:
            was, self._shown = self._shown, " ".join(printable(text).split())
            if self._shown:
                self._draw()
            elif was:
                print(_ERASED, end="", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        # Make the terminal cut long lines instead of wrapping them.
        print(f"{_ERASED}\x1b[?7l{self._shown}\x1b[?7h", end="", file=sys.stderr, flush=True)


_ERASED = "\r\x1b[2K"
_TALK = Talk()


def say(text: str) -> None:
    """Print a remark: a warning, an error or a hint."""
    _TALK.print(text)


def talk() -> Talk:
    """The output for progress and remarks. It respects NO_COLOR and dumb terminals."""
    return _TALK


def print_lines(text: str) -> None:
    """Print lines of an answer. On a narrow terminal they are wrapped between words, and indented
    to the text after their label.
    """
    width = _width_of(sys.stdout) if sys.stdout.isatty() else asked_width() or 0
    for line in printable(text).splitlines():
        print(*broken(line, width), sep="\n")


def _width_of(terminal: TextIO) -> int:
    try:
        return os.get_terminal_size(terminal.fileno()).columns
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def asked_width() -> int | None:
    """The width of output that is not a terminal, from LANLAB_COLUMNS. COLUMNS is not used: shells
    and libraries set it for terminals, but programs read what goes through a pipe.
    """
    text = os.environ.get("LANLAB_COLUMNS", "")
    return int(text) if re.fullmatch("[0-9]{1,4}", text) and int(text) else None


def broken(line: str, width: int) -> list[str]:
    """
    A line wrapped to at most `width` characters (`lines_of`), with a hanging indent.

    Examples:
        >>> broken("processor   sending 0.01 s; receiving 0.02 s", 34)
        ['processor   sending 0.01 s;', '            receiving 0.02 s']
    """
    if not 0 < width < len(line):
        return [line]
    label = _LABEL.match(line)
    indent = label.end() if label else len(line) - len(line.lstrip()) + 2
    return lines_of(line, width, " " * indent)


class Answer:
    """Standard output for sentences and tables."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()
        columns = _width_of(sys.stdout) if self.is_terminal else asked_width()
        self.width = columns or _WIDE
        # Without a width, tables omit no column, for `grep`.
        self._table_width = columns

    def print(self, text: str | Table = "", *, bold: bool = False, wrap: bool = True) -> None:
        """Lines wider than the terminal are wrapped between words, not cut: ids and verdicts are at
        their ends.
        """
        if isinstance(text, str):
            width = self.width if wrap else 0
            parts = (broken(line, width) for line in printable(text).split("\n"))
            lines: Iterable[tuple[str, bool]] = ((part, bold) for one in parts for part in one)
        else:
            from lanlab.report.document.fitted import fitted

            found = fitted(text, self._table_width)
            lines = ((printable(line), is_bold) for line, is_bold in found)
        has_bold = self.is_terminal and os.environ.get("TERM", "") not in _PLAIN
        for line, is_bold in lines:
            print(f"\x1b[1m{line}\x1b[0m" if is_bold and has_bold else line)


answer = Answer


def deliver(found: Document, as_json: bool = False) -> None:
    """Print a result as one JSON object, or as sentences with tables: the first few lines above the
    tables, everything else below them.
    """
    if as_json:
        print_json(found.to_json())
        return
    console = answer()
    above, below = [*found.answer, *filter(None, [found.caution])], list[str]()
    if not all(isinstance(one, str) for one in found.body):
        above, below = above_tables(found, console.width)
    below += [*found.in_full, *found.more, *filter(None, [found.next_step])]
    before: Block = ""
    for block in (*above, *found.body, *below):
        # Tables have an empty line before and after them.
        if not (isinstance(before, str) and isinstance(block, str)):
            console.print()
        console.print(block)
        before = block


def above_tables(found: Document, width: int) -> tuple[list[str], list[str]]:
    """The sentences of an answer that fit into `_MOST_LINES`, and the others. Those that answer one
    question share the lines. What does not fit is cut, and is whole among the others.
    """
    room = _MOST_LINES - _height(found.caution, width)
    heights = [_height(sentence, width) for sentence in found.answer]
    leads = heights[: found.leads]
    shares = [0] * len(leads)
    while room > sum(shares) and shares != leads:
        for place, height in enumerate(leads):
            shares[place] += shares[place] < height and sum(shares) < room
    above: list[str] = []
    below: list[str] = []
    for place, (sentence, height) in enumerate(zip(found.answer, heights, strict=True)):
        own = shares[place] if place < len(shares) else room
        if below and place >= len(shares):
            own = 0
        text = sentence if height <= own else _cut(sentence, width, own, place < found.leads)
        below += [sentence] if text != sentence else []
        above += filter(None, [text])
        room -= _height(text, width)
    above[1:1] = filter(None, [found.caution])
    if not below and sum(_height(one, width) for one in (found.question, *above)) <= _MOST_LINES:
        above[:0] = filter(None, [found.question])
    return above, below


def _height(text: str, width: int) -> int:
    return len(broken(text, width)) if text else 0


#: How sure an answer is, in brackets before it.
_CERTAINTY = re.compile(r"(\w+) \(.*?\): ")


def _cut(sentence: str, width: int, room: int, is_lead: bool) -> str:
    """The most clauses of a sentence that fit; of a lead, if none does, its words without its
    certainty; else empty.
    """
    # A single line up to a comma says too little.
    for mark, least in ((";", 1), (",", 2)):
        if text := _begin(sentence, f"{mark} ", "; the rest is below.", width, least, room):
            return text
    if not is_lead:
        return ""
    short = _CERTAINTY.sub(r"\1: ", sentence, count=1)
    return short if _height(short, width) <= room else _begin(short, " ", " …", width, 1, room)


def _begin(text: str, mark: str, end: str, width: int, least: int, most: int) -> str:
    """The longest beginning of a text that ends before a mark, takes `least` to `most` lines and
    has no open bracket.
    """
    for found in reversed([*re.finditer(mark, text)]):
        begin = text[: found.start()]
        cut = f"{begin.rstrip(',;:')}{end}"
        if begin.count("(") == begin.count(")") and least <= _height(cut, width) <= most:
            return cut
    return ""


class _JsonForm:
    indent: int | None = 2


def print_json_in_one_line() -> None:
    """Print the next object on one line, like the lines before it."""
    _JsonForm.indent = None


def print_json(value: object) -> None:
    indent, _JsonForm.indent = _JsonForm.indent, 2
    # JSON only escapes characters below the space; escaping more does not change the meaning.
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    if not can_hold(text, sys.stdout):
        # Escape by JSON's rules, because the usual replacement character would change the text.
        text = json.dumps(value, indent=indent, allow_nan=False)
    print(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


#: The password between user and host in a URL, and passwords in its query.
_PASSWORDS = (
    re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]*(?=@)"),
    re.compile(r"(?i)(?<=[?&])([^\s=&]*(?:password|secret|token)[^\s=&]*)=[^\s&]*"),
)
_HIDDEN = "***"


def masked(word: str) -> str:
    """Replace passwords in URLs of a command-line word by `***`.

    Examples:
        >>> masked("postgresql://me:pw@host/db?sslpassword=x&schema=s")
        'postgresql://me:***@host/db?sslpassword=***&schema=s'
        >>> masked("--store=postgresql://me@host/db")
        '--store=postgresql://me@host/db'
    """
    word = _PASSWORDS[0].sub(rf"\1:{_HIDDEN}", word)
    return _PASSWORDS[1].sub(rf"\1={_HIDDEN}", word)


def typed_command(argv: Sequence[str] | None = None) -> str:
    """The command that started this process, ready for a shell.

    Examples:
        >>> typed_command(["/usr/bin/lanlab", "stream", "--time", "0.5 s"])
        "lanlab stream --time '0.5 s'"
    """
    words = list(sys.argv if argv is None else argv)
    return shlex.join(["lanlab", *map(masked, words[1:])])
