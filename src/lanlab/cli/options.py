"""Arguments and options that mean the same in every command that has them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lanlab.cli import complete

#: The virtual LAN needs Linux; loopback is everywhere.
DEFAULT_TESTBED = "virtual" if sys.platform == "linux" else "loopback"

_STUDY = typer.Argument(
    help="Name of a study, or path of a study file.", autocompletion=complete.studies
)
StudyArgument = Annotated[str, _STUDY]
#: Where it can be left out, and several can be taken in turns.
StudiesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[STUDY]...",
        help="Name of a study or path of a study file; several with --alternate.",
        autocompletion=complete.studies,
    ),
]
TestbedOption = Annotated[
    str,
    typer.Option(
        "--testbed",
        metavar="NAME",
        help="Where to measure: `virtual` (hosts and a cable inside this machine) or `loopback`.",
        autocompletion=complete.testbeds,
        show_default=True,
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="SPEED",
        help="Speed of the virtual LAN's link, e.g. 10M, 100M, 1G or `unshaped`; append "
        "`:switch` to join the hosts by a switch.",
    ),
]
ScaleOption = Annotated[
    str,
    typer.Option(
        "--scale",
        help="Scale of the study to run: `quick`, `full` (as published) or another of its scales.",
        autocompletion=complete.scales,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="Where results are saved: a file, or postgresql://USER@HOST/DATABASE. Default: "
        "$LANLAB_STORE, else lanlab-results/store.sqlite.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, at full precision.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="NUMBER",
        min=0,
        max=2**63 - 1,
        help="Seed of the order of trials. Default: random.",
    ),
]
TrialsOption = Annotated[
    int,
    typer.Option("--trials", metavar="NUMBER", min=1, max=10_000, help="Number of trials."),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Say what disturbed each trial."),
]
#: Text, as an empty path would become that of the current directory; `cli/command.py` refuses it.
OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder to write to. Other files in it are left alone. Default: a folder beside the "
        "store.",
    ),
]


def path_of(text: str | None) -> Path | None:
    """The path that an option names; `None` where it was not given."""
    return None if text is None else Path(text).expanduser()
