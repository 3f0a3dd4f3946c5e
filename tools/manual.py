"""
Make the manual page from the help of all commands: `python tools/manual.py FILE`.

The build of the wheel runs it (`hatch_build.py`). The page has no date, so that the same sources
make the same page.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lanlab import __version__
from lanlab.cli.app import COMMANDS, application
from lanlab.cli.help.overview import ABOUT, BEGIN

_OPENING = f"""\
.\\" Made by tools/manual.py; do not edit.
.TH LANLAB 1 "" "lanlab {__version__}" "User Commands"
.ad l
.nh
.SH NAME
lanlab \\- measure how networks and file services perform
.SH SYNOPSIS
.B lanlab
.I COMMAND
[\\fIOPTION\\fR ...] [\\fIARGUMENT\\fR ...]
"""
_FURTHER = {
    "ENVIRONMENT": {
        "LANLAB_STORE": "Where results are saved, unless --store is given.",
        "LANLAB_PASSWORD": "Password for a file server, unless --password-file is given.",
        "LANLAB_ENGINE": "Engine to use instead of the one beside lanlab.",
    },
    "EXIT STATUS": {
        "0": "Done.",
        "1": "Failed or interrupted, or a finding does not hold.",
        "2": "Refused: an option or argument is wrong, and nothing was run.",
        "3": "`run --check` and `findings --check`: a finding is undecided.",
    },
    "FILES": {
        "lanlab-results/store.sqlite": "The store, in the current directory by default.",
    },
}
_SPECIAL = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti"}


def page() -> str:
    """The page as it should be."""
    group: Any = typer.main.get_command(application())
    context = typer.Context(group, info_name="lanlab", **group.context_settings)
    begin = "".join(f"{_marked(line)}\n" for line in BEGIN.split("\n"))
    parts = [_OPENING, ".SH DESCRIPTION\n", *_prose(ABOUT), f".PP\n.nf\n{begin}.fi\n"]
    parts += [".SH OPTIONS\n", *_entries(dict(_records(group, context)))]
    parts.append(".SH COMMANDS\n")
    for name in COMMANDS:
        parts += _command(name, context)
    for title, entries in _FURTHER.items():
        parts += [f".SH {title}\n", *_entries(entries)]
    # Behind a heading a paragraph begins by itself.
    return re.sub(r"^(\.S[SH] .*\n)\.PP\n", r"\1", "".join(parts), flags=re.MULTILINE)


def _command(name: str, parent: typer.Context) -> Iterator[str]:
    # Only a command that is made alone has all of its options.
    group: Any = typer.main.get_command(application([name]))
    command = group.commands[name]
    context = typer.Context(command, parent=parent, info_name=name)
    yield f'.SS "lanlab {name}"\n'
    yield f"{_escaped(command.get_usage(context).removeprefix('Usage: '))}\n"
    yield from _prose(inspect.cleandoc(command.help))
    for title, records in command.sections(context).items():
        yield f".PP\n\\fB{_escaped(title)}:\\fR\n"
        yield from _entries(dict(records))


def _records(command: Any, context: typer.Context) -> Iterator[tuple[str, str]]:
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            yield record


def _prose(text: str) -> Iterator[str]:
    """Paragraphs, and examples with a line each."""
    for paragraph in text.split("\n\n"):
        flowing = " ".join(paragraph.split())
        label, colon, examples = flowing.partition(": ")
        if colon and label in {"Example", "Examples"}:
            yield f".PP\n{label}:\n.PP\n.nf\n.RS\n"
            yield from (f"{_escaped(one)}\n" for one in re.split(r"; (?=\S*\s?lanlab )", examples))
            yield ".RE\n.fi\n"
        else:
            yield f".PP\n{_marked(flowing)}\n"


def _entries(entries: dict[str, str]) -> Iterator[str]:
    for head, text in entries.items():
        yield f".TP\n\\fB{_escaped(head)}\\fR\n{_marked(' '.join(text.split())) or '.br'}\n"


def _marked(text: str) -> str:
    """Text for roff; what stands between backticks is bold."""
    parts = text.split("`")
    return "".join(
        f"\\fB{_escaped(part)}\\fR" if place % 2 else _escaped(part)
        for place, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    """Text that roff prints as it is: no request, no typographic hyphen, quote or tilde."""
    plain = "".join(_SPECIAL.get(sign, sign) for sign in text)
    ascii_only = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain)
    return f"\\&{ascii_only}" if ascii_only.startswith(".") else ascii_only


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.parse_args().file.write_text(page())
