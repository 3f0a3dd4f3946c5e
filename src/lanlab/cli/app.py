"""The commands."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from lanlab import __version__
from lanlab.cli.help.groups import COMMANDS_BY_TITLE
from lanlab.cli.help.overview import ABOUT
from lanlab.cli.options.checks import Commands, check_values
from lanlab.cli.options.parameters import with_options
from lanlab.errors import LabError, UsageError

COMMANDS = tuple(name for group in COMMANDS_BY_TITLE.values() for name in group)
_POSSIBLE = re.compile(r" *(?:\(Possible options: (.*)\)|Did you mean (.*)\?)$")
#: The first example of a command's help.
_EXAMPLE = re.compile(r"Examples?: ([^;\n]*)")
_TYPER_TEXTS = (
    (re.compile(r"^No such command '(.*)'\.$"), r"no such command: \1"),
    (re.compile(r"^No such option: "), "no such option: "),
    (re.compile(r"^Invalid value for '(.*?)'(?: / '.*')?: "), r"\1: "),
    (re.compile(r": Value error, '(.*)' is not one of (.*)$"), r": found `\1`; allowed: \2"),
    (re.compile(r"^Missing (?:argument|option) '(.*)'"), r"\1 is missing"),
    (
        re.compile(r"^Got unexpected extra argument(?:s|\(s\))? \((.*)\)$"),
        r"unexpected argument: \1",
    ),
    (re.compile(r"^Option '(.*)' (requires|does not)"), r"\1 \2"),
)


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with some of its commands, whose modules are imported."""
    app = typer.Typer(
        name="lanlab",
        cls=Commands,
        help=ABOUT,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    named = list(names)
    for name in named:
        module = importlib.import_module(f"lanlab.cli.commands.{name}")
        command = getattr(module, name)
        # A list of commands needs no options, whose models load slowly.
        app.command(name)(with_options(command) if len(named) == 1 else command)
    check_values(app)
    app.callback()(_common)
    return app


def _named(arguments: Sequence[str]) -> Iterable[str]:
    """The command to run or complete; all commands if help or an error may list them."""
    # The words to complete, starting with the program's name.
    completed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    words = [word for word in arguments or completed.split()[1:] if word != "--"]
    return words[:1] if words and words[0] in COMMANDS else COMMANDS


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lanlab {__version__}")
        raise typer.Exit


def _common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Options before the command."""


def run() -> None:
    """Run the typed command; `lanlab.cli.terminal.exit_report` reports its errors."""
    app = application(_named(sys.argv[1:]))
    try:
        # With `python -m`, there is no program name that a user could type.
        code = app(prog_name="lanlab", standalone_mode=False)
    except TyperException as error:
        _refuse(error)
    except typer.Abort:
        raise LabError("aborted") from None
    if code:
        sys.exit(code)


def _refuse(error: TyperException) -> NoReturn:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if "\n" in text:
        # The help printed for a command without arguments.
        typer.echo(text, err=True)
        sys.exit(error.exit_code)
    hint = f"see `{context.command_path} --help`" if context else None
    example = _EXAMPLE.search(context.command.help or "") if context else None
    if example and text.startswith("Missing "):
        hint = f"write e.g. `{example[1].strip()}`; {hint}"
    close = _POSSIBLE.search(text)
    if close:
        text, hint = text[: close.start()], f"did you mean {close[1] or close[2]}?"
    for pattern, plain in _TYPER_TEXTS:
        text = pattern.sub(plain, text)
    raise UsageError(text.strip().removesuffix("."), hint=hint) from None
