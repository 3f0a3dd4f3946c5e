"""Help, typing slips, and what the shell completes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from command_line import Lanlab, environment

from lanlab.cli import complete, single
from lanlab.cli.app import COMMANDS, application
from lanlab.workloads import WORKLOADS

LOADED = """
import sys
from lanlab.cli import ending, main
sys.argv = ["lanlab", {arguments}]
ending.leave = sys.exit
try:
    main()
except SystemExit:
    pass
heavy = "scipy", "numpy", "matplotlib", "jinja2", "pydantic", "pyarrow", "pg8000", "sqlite3"
print(*[name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def context_with(**parameters: object) -> typer.Context:
    """What a completion is told of the line so far."""
    context = typer.Context(typer.main.get_command(application()))
    context.params.update(parameters)
    return context


def test_every_command_is_listed(lanlab: Lanlab) -> None:
    """With how to begin."""
    said = lanlab("--help")

    assert said.code == 0
    assert len(COMMANDS) == 15
    assert all(f"  {name} " in said.out for name in COMMANDS)
    assert "`lanlab tour`" in said.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, lanlab: Lanlab) -> None:
    """An example names the command as it is typed."""
    said = lanlab(name, "--help")

    assert (said.code, said.err) == (0, "")
    assert "Example" in said.out
    assert f"lanlab {name}" in said.out.partition("Example")[2]
    assert lanlab(name, "-h").out == said.out


def test_every_parameter_that_is_named_by_an_option_has_that_option(lanlab: Lanlab) -> None:
    """An error that names an option must not send anybody looking for one that is not there."""
    helps = {name: lanlab(name, "--help").out for name in ("stream", "echo")}

    for key, option in single._OPTIONS.items():
        for name, said in helps.items():
            if key in WORKLOADS[name].Parameters.model_fields:
                assert f"{option} " in said, (name, key)
    for name in helps:
        unnamed = set(WORKLOADS[name].Parameters.model_fields) - set(single._OPTIONS)
        # A switch has no value that could be wrong; the width of bins is for studies.
        assert unnamed <= {"nodelay", "interval_s", "driver"}


def test_no_command_gives_help(lanlab: Lanlab) -> None:
    """And not an empty line."""
    assert "lanlab tour" in "".join(lanlab("").err + lanlab().err + lanlab().out)


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    # Of the options of a command, typer itself makes models.
    [
        ("'--help'", []),
        ("'--version'", []),
        ("'run', '--help'", ["pydantic"]),
        # The statistics come with the verdicts.
        ("'show', 'schomer-claason', '--only', 'tables'", ["pydantic"]),
    ],
)
def test_help_loads_nothing_that_takes_long_to_load(
    arguments: str, loaded: list[str], tmp_path: Path
) -> None:
    """Numerics, figures, pages and models are for the commands that need them."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout
    assert done.stderr.split() == loaded


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        (["tuor"], "'tour'"),
        (["run", "small.toml", "--scal", "quick"], "--scale"),
        (["run", "milanovic"], "did you mean `milanovic-srbljic`?"),
        (["show", "manford-kolahy"], "did you mean `manford-kolahi`?"),
        (["run", "small.toml", "--testbed", "loopback", "--scale", "quik"], "`quick`"),
        (["run", "small.toml", "--testbed", "lopback"], "did you mean `loopback`?"),
        (["stream", "--testbed", "vitual"], "did you mean `virtual`?"),
        (["run", "smal.toml"], "no such .toml file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_slip_is_answered_with_what_may_be_meant(
    mistyped: list[str], meant: str, lanlab: Lanlab, folder: Path
) -> None:
    """Refused, with nothing on standard output and nothing written."""
    said = lanlab(*mistyped)

    assert (said.code, said.out) == (2, "")
    assert meant in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_a_mistyped_run_is_answered_with_the_run_that_may_be_meant(lanlab: Lanlab) -> None:
    """For every command that takes one."""
    run = lanlab("stream", "--testbed", "loopback", "--time", "0.05", "--json").json()["run"]

    for command in (["report"], ["run", "--resume"]):
        said = lanlab(*command, f"{run[:-1]}x")
        assert (said.code, said.out) == (2, "")
        assert f"hint: did you mean `{run}`?" in said.err


def test_names_are_completed(lanlab: Lanlab) -> None:
    """Studies, testbeds, the scales of the study that is named already, runs."""
    run = lanlab("stream", "--testbed", "loopback", "--time", "0.05", "--json").json()["run"]

    assert complete.studies("mil") == ["milanovic-srbljic"]
    assert complete.testbeds("") == ["loopback", "virtual"]
    assert complete.scales(context_with(study="small.toml"), "") == ["quick", "slow"]
    assert complete.scales(context_with(), "f") == ["full"]
    assert complete.runs(context_with(), "") == ["last", run]
    assert complete.runs(context_with(store="lanlab-results/store.sqlite"), run[:9]) == [run]


@pytest.mark.parametrize("name", ["", ".", "small.toml", "a\0b", "x" * 5000, "/", "no-such", "é"])
def test_completion_never_fails(name: str, folder: Path) -> None:
    """Whatever is on the line: an error would be printed into it."""
    (folder / "small.toml").write_text("schema = [")

    for parameters in ({"study": name}, {"store": name}, {"store": f"postgresql://{name}"}):
        for incomplete in ("", name):
            context = context_with(**parameters)
            complete.scales(context, incomplete)
            complete.runs(context, incomplete)
            complete.studies(incomplete)
            complete.testbeds(incomplete)
