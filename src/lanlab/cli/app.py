"""The commands, and what all of them do with an error."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

import typer

from lanlab import left_behind
from lanlab.cli.compare import compare
from lanlab.cli.copy import copy
from lanlab.cli.doctor import doctor
from lanlab.cli.echo import echo
from lanlab.cli.findings import findings
from lanlab.cli.interrupts import Interrupts
from lanlab.cli.report import report
from lanlab.cli.run_study import run as run_study
from lanlab.cli.runs import runs
from lanlab.cli.saturation import saturation
from lanlab.cli.show import show
from lanlab.cli.stations import stations
from lanlab.cli.stream import stream
from lanlab.cli.studies import studies
from lanlab.cli.tour import tour
from lanlab.errors import LabError, UsageError

app = typer.Typer(
    name="lanlab",
    help="Measure how networks perform: run a study, see what holds on yours, and how sure it is.",
    epilog="Begin with `lanlab tour`. Every command has its own --help with examples.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("tour")(tour)
app.command("studies")(studies)
app.command("show")(show)
app.command("findings")(findings)
app.command("run")(run_study)
app.command("runs")(runs)
app.command("report")(report)
app.command("compare")(compare)
app.command("stream")(stream)
app.command("echo")(echo)
app.command("copy")(copy)
app.command("stations")(stations)
app.command("saturation")(saturation)
app.command("doctor")(doctor)


def _version(asked: bool) -> None:
    if asked:
        from lanlab import __version__

        typer.echo(f"lanlab {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    """Options before the command."""


def run() -> None:
    """Run a command; exit with 0 (done), 1 (failed, or something of lanlab's is left at a user's
    server) or 2 (refused)."""
    interrupts = Interrupts()
    interrupts.install()
    code: int | str | None = 0
    try:
        # However it was started: `python -m` has no name that a user could type.
        app(prog_name="lanlab")
    except SystemExit as end:
        code = end.code
    except LabError as error:
        code = 2 if isinstance(error, UsageError) else 1
        from lanlab.cli.terminal import say

        with contextlib.suppress(BrokenPipeError):
            say(f"error: {error.message}")
            if error.hint:
                say(f"hint: {error.hint}")
    except BrokenPipeError:
        code = 1
    finally:
        interrupts.close()
    # The last that is said, whatever became of the command.
    for warning, hint in left_behind.take():
        from lanlab.cli.terminal import say

        with contextlib.suppress(BrokenPipeError):
            say(f"warning: {warning}")
            say(f"hint: {hint}")
        code = code or 1
    # Here, as Python would complain of a reader that has gone (`lanlab runs | head`) when it is too
    # late to ask.
    for output in (sys.stdout, sys.stderr):
        if not _flush(output):
            code = code or 1
    sys.exit(code)


def _flush(output: TextIO | None) -> bool:
    """Whether there is somebody to read the rest; if not, it goes nowhere."""
    if output is None:
        return True
    try:
        output.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
        return False
    return True
