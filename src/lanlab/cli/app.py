"""The commands, and what all of them do with an error."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType

import typer

from lanlab.cli.doctor import doctor
from lanlab.cli.echo import echo
from lanlab.cli.report import report
from lanlab.cli.run_study import run as run_study
from lanlab.cli.runs import runs
from lanlab.cli.saturation import saturation
from lanlab.cli.show import show
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
app.command("run")(run_study)
app.command("runs")(runs)
app.command("report")(report)
app.command("stream")(stream)
app.command("echo")(echo)
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


def _end_as_by_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A polite end asked for by the system is treated like Ctrl-C: what has ended is kept."""
    raise KeyboardInterrupt


def run() -> None:
    """Run a command; exit with 0 (done), 1 (failed) or 2 (refused)."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What whoever started us has set to be ignored stays so: `nohup lanlab run`.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_as_by_ctrl_c)
    try:
        try:
            # However it was started: `python -m` has no name that a user could type.
            app(prog_name="lanlab")
        finally:
            # Here, as Python would complain of a reader that has gone when it is too late to ask.
            if sys.stdout is not None:
                sys.stdout.flush()
    except LabError as error:
        from lanlab.cli.terminal import say

        say(f"error: {error.message}")
        if error.hint:
            say(f"hint: {error.hint}")
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except BrokenPipeError:
        # The reader of our output has gone (`lanlab runs | head`). Python would complain once more
        # when it closes standard output.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
