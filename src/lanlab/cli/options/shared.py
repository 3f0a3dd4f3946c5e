"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lanlab.cli.options import complete
from lanlab.user_files import user_path

DEFAULT_TESTBED = "virtual"


def option(names: str, metavar: str | None, help: str, default: Any = None, **more: Any) -> Any:
    """An option with a value, as the default of a command's parameter.

    Args:
        names: Separated by spaces.
        default: `...` for none.
    """
    return typer.Option(default, *names.split(), metavar=metavar, help=help, **more)


def flag(names: str, help: str) -> bool:
    made: bool = typer.Option(False, *names.split(), help=help)
    return made


def argument(metavar: str | None, help: str, default: Any = None, **more: Any) -> Any:
    return typer.Argument(default, metavar=metavar, help=help, **more)


def text_option(names: str, metavar: str, help: str) -> object:
    """The type of an optional text, for options that a decorator adds."""
    return Annotated[str | None, typer.Option(*names.split(), metavar=metavar, help=help)]


_STUDY = argument("STUDY", "Study name or file.", ..., autocompletion=complete.studies)
StudyArgument = Annotated[str, _STUDY]
StudiesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="STUDY",
        help="Study name or file; with --alternate, several.",
        autocompletion=complete.studies,
    ),
]
RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN",
        help="Run ids, unique prefixes of ids, or `last`.",
        autocompletion=complete.runs,
    ),
]
TestbedOption = Annotated[
    str,
    typer.Option(
        "--testbed",
        metavar="NAME",
        help="Where to measure: `virtual` (namespaces on this machine), `loopback`, `simulated`, "
        "`ssh:here,alice@nas`, `ssh:lab.toml`, `ray:ADDRESS`.",
        autocompletion=complete.testbeds,
        show_default=True,
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="LINK",
        help="Virtual LAN link: 10M, 1G, `unshaped`; optional `:hub`, `:bus`, `:switch` or "
        "`:broadband`, `,delay=1ms,loss=0.1%`.",
    ),
]
PcapOption = Annotated[
    str | None,
    typer.Option(
        "--pcap",
        metavar="FILE",
        help="Write every frame to a new pcap file (Wireshark), for virtual links up to 100M, "
        "--interface and simulations. A second simulated trial goes to FILE-2.",
    ),
]
ScaleOption = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="NAME",
        help="Scale to run: `quick`, `full` (as published) or another of the study's.",
        autocompletion=complete.scales,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="Result store: a file, or postgresql://USER@HOST/DATABASE. Default: $LANLAB_STORE, "
        "else lanlab-results/store.sqlite.",
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
        help="Simulated machine at each end, from a study (`lanlab show STUDY --only machines`) or "
        "a file, e.g. vista-ipv4,vista-ipv4 or mine.toml#server,sender.",
    ),
]
TrialsOption = Annotated[
    int,
    typer.Option("--trials", metavar="NUMBER", min=1, max=10_000, help="Trials of each condition."),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show all results of each trial and any interference."),
]
#: A string, because an empty `Path` would be the current directory; `cli/command.py` refuses it.
OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder to write to; other files in it are kept. Default: a folder next to the store.",
    ),
]


def path_of(text: str | None) -> Path | None:
    """The path that an option names; `None` if it was not given."""
    return None if text is None else user_path(text)


def is_given(context: typer.Context, name: str | None) -> bool:
    """Whether an option or argument is on the command line."""
    source = context.get_parameter_source(str(name))
    return source is not None and source.name == "COMMANDLINE"
