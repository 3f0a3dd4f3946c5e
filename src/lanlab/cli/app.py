"""The commands."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence

import typer

from lanlab.cli.command import Commands, check_values
from lanlab.cli.help_groups import COMMANDS_BY_TITLE
from lanlab.cli.parameter_options import with_options

#: Each with the module of `lanlab.cli` that has the function of its name.
COMMANDS = {name: module for group in COMMANDS_BY_TITLE.values() for name, module in group.items()}
#: The last lines of help are those that a terminal shows.
_BEGIN = """\b
Begin with one of these; every command has its own --help with examples.
  lanlab stream --to HOST          how fast is the network to HOST, by ssh?
  lanlab copy FILES URL URL        which service of a NAS is fastest?
  lanlab serve DIR --service smb1  files for DOS, OS/2 and Windows 98
  lanlab run STUDY                 do the findings of a study hold here?
Begin with `lanlab tour` to see all of it in some minutes.
"""


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with some of its commands, which are imported."""
    app = typer.Typer(
        name="lanlab",
        cls=Commands,
        help="Measure how networks and file services perform, and how sure each result is.",
        epilog=_BEGIN,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    named = list(names)
    for name in named:
        module = importlib.import_module(f"lanlab.cli.{COMMANDS[name]}")
        command = getattr(module, name)
        # A list of all takes no options, and models of workloads take a while to load.
        app.command(name)(with_options(command) if len(named) == 1 else command)
    check_values(app)
    app.callback()(_common)
    return app


def _named(arguments: Sequence[str]) -> Iterable[str]:
    """The command that is to be run or completed; all, where help or an error may list them."""
    # What the shell completes, with the program's name first.
    completed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    words = [word for word in arguments or completed.split()[1:] if word != "--"]
    return words[:1] if words and words[0] in COMMANDS else COMMANDS


def _version(asked: bool) -> None:
    if asked:
        from lanlab import __version__

        typer.echo(f"lanlab {__version__}")
        raise typer.Exit


def _common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    """Options before the command."""


def run() -> None:
    """Run the command that was typed; `lanlab.cli.exit_report` says what becomes of its errors."""
    # However it was started: `python -m` has no name that a user could type.
    application(_named(sys.argv[1:]))(prog_name="lanlab")
