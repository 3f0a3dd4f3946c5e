"""The commands."""

from __future__ import annotations

import typer

from lanlab.cli.command import check_values
from lanlab.cli.compare import compare
from lanlab.cli.copy import copy
from lanlab.cli.delete import delete
from lanlab.cli.doctor import doctor
from lanlab.cli.echo import echo
from lanlab.cli.findings import findings
from lanlab.cli.report import report
from lanlab.cli.run_study import run as run_study
from lanlab.cli.runs import runs
from lanlab.cli.saturation import saturation
from lanlab.cli.show import show
from lanlab.cli.stations import stations
from lanlab.cli.stream import stream
from lanlab.cli.studies import studies
from lanlab.cli.tour import tour

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
app.command("delete")(delete)
app.command("report")(report)
app.command("compare")(compare)
app.command("stream")(stream)
app.command("echo")(echo)
app.command("copy")(copy)
app.command("stations")(stations)
app.command("saturation")(saturation)
app.command("doctor")(doctor)
check_values(app)


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
    """Run the command that was typed; `lanlab.cli.ending` says what becomes of its errors."""
    # However it was started: `python -m` has no name that a user could type.
    app(prog_name="lanlab")
