"""Arguments and options that mean the same in every command that has them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lanlab.cli import complete
from lanlab.services import FRAME_TITLES

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
        help="Where to measure: `virtual` (hosts and a cable inside this machine), `loopback`, "
        "`simulated` (machines of a study, computed), real hosts by ssh, as `ssh:here,alice@nas` "
        "or `ssh:lab.toml`, or the nodes of a Ray cluster, as `ray:10.0.0.1:6379`.",
        autocompletion=complete.testbeds,
        show_default=True,
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="LINK",
        help="Link of the virtual LAN: a speed, e.g. 10M, 1G or `unshaped`; append `:switch`, "
        "`:hub`, `:bus` or `:broadband`, and up to 100M e.g. `,delay=1ms,loss=0.1%`.",
    ),
]
PcapOption = Annotated[
    str | None,
    typer.Option(
        "--pcap",
        metavar="FILE",
        help="Write every frame on the link to a new file, in pcap format (Wireshark). Needs a "
        f"virtual link up to 100M, --interface ({FRAME_TITLES}), or simulated machines: their "
        "second "
        "trial goes to FILE-2.",
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
    bool, typer.Option("--json", "-J", help="Print one JSON object, at full precision.")
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
MachinesOption = Annotated[
    str | None,
    typer.Option(
        "--machines",
        metavar="NAME,NAME",
        help="With --testbed simulated: the machine at each end, from a study (`lanlab show STUDY "
        "--only machines`) or a file, e.g. vista-ipv4,vista-ipv4 or mine.toml#server,sender.",
    ),
]
TrialsOption = Annotated[
    int,
    typer.Option("--trials", metavar="NUMBER", min=1, max=10_000, help="Trials of each condition."),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say of each trial all that it found, how it was measured, and what disturbed it.",
    ),
]
#: Text, as an empty path would become that of the current directory; `cli/command.py` refuses it.
OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder to write to. Other files in it are left alone. Default: a folder next to the "
        "store.",
    ),
]


def path_of(text: str | None) -> Path | None:
    """The path that an option names; `None` where it was not given."""
    return None if text is None else Path(text).expanduser()
