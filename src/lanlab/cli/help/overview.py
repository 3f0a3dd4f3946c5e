"""`lanlab --help`. It imports neither typer nor the commands, which takes three times as long."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence

from lanlab.cli.help.groups import COMMANDS_BY_TITLE

ABOUT = "Measure how networks and file services perform, and how sure each result is."
_OPTIONS = (
    ("--version", "Print the version and exit."),
    ("--install-completion", "Install completion for the current shell."),
    (
        "--show-completion",
        "Show completion for the current shell, to copy it or customize the installation.",
    ),
    ("-h, --help", "Show this message and exit."),
)
BEGIN = """\
First steps (`lanlab COMMAND --help` shows examples):
  lanlab nas HOST                  which protocol of my NAS is fastest?
  lanlab stream --to HOST          how fast is the network to HOST, by ssh?
  lanlab load --to HOST            how much latency does load add?
  lanlab stations URL              how many stations (clients) can it serve?
  lanlab compare BEFORE last       did my change help?
  lanlab serve DIR --service smb1  files for DOS, OS/2 and Windows 98
  lanlab run STUDY                 do the findings of a study hold here?
`lanlab tour` shows everything in a few minutes. An option of iperf3 or fio that
lanlab lacks gets a hint with its own."""


def overview() -> str:
    """The options before a command, and all commands, as wide as the terminal or 78 letters."""
    width = max(min(_columns(), 80) - 2, 50)
    groups = {title: tuple(commands.items()) for title, commands in COMMANDS_BY_TITLE.items()}
    about = textwrap.fill(ABOUT, width, initial_indent="  ", subsequent_indent="  ")
    lines = ["Usage: lanlab [OPTIONS] COMMAND [ARGS]...", "", about]
    for title, rows in {"Options": _OPTIONS, **groups}.items():
        lines += ["", f"{title}:", *_listed(rows, width)]
    return "\n".join([*lines, "", textwrap.indent(BEGIN, "  ")])


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
    except (ValueError, OSError):
        return 80


def _listed(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    first = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        begin, *more = textwrap.wrap(text, max(width - first - 2, 10), break_on_hyphens=False) or [
            ""
        ]
        yield f"  {name:{first}}{begin}"
        yield from (" " * (first + 2) + line for line in more)
