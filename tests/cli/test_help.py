"""Help, typing slips, and what the shell completes."""

import sys
from pathlib import Path

import pytest
import typer
from command_line import STREAM, Lanlab, environment
from programs import ran
from pydantic import ValidationError
from typer.testing import CliRunner

from lanlab.cli.app import COMMANDS, application
from lanlab.cli.help.groups import grouped
from lanlab.cli.options import complete
from lanlab.cli.options.checks import check_values
from lanlab.cli.options.levels import checked
from lanlab.cli.options.parameters import Given, ParametersOf, with_options
from lanlab.errors import UsageError
from lanlab.studies.scaling import validated
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions, parameter
from lanlab.workloads.parameters import SizeBytes


def test_ranges_of_numbers_are_in_words(lanlab: Lanlab) -> None:
    """Typer writes `1<=x<=100`, the options of parameters `1 to 100`."""
    text = " ".join(lanlab("serve", "--help", "all").out.split())

    assert "0 to 65,535" in text
    assert "<=x<=" not in text


LOADED = """
import sys
from lanlab.cli import main
from lanlab.cli.terminal import exit_report
sys.argv = ["lanlab", {arguments}]
exit_report.leave = sys.exit
try:
    main()
except SystemExit:
    pass
heavy = "scipy", "numpy", "matplotlib", "jinja2", "pydantic", "pyarrow", "pg8000", "sqlite3"
print(*[name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def context_with(**parameters: object) -> typer.Context:
    context = typer.Context(typer.main.get_command(application()))
    context.params.update(parameters)
    return context


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_parameter_option_has_its_help_and_default(name: str, lanlab: Lanlab) -> None:
    said = " ".join(lanlab(name, "--help", "all").out.split())

    own = {"stations", "read_ratio", "longest_s"} if name == "stations" else {"message_size_bytes"}
    for key, one in definitions(WORKLOADS[name].Parameters).items():
        assert one.help.endswith("."), (name, key)
        if one.option is None or one.is_hidden:
            assert f" {one.option} " not in said
            continue
        assert f" {one.option} " in said, (name, key)
        if key not in own:
            assert one.help in said, (name, key)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_on_a_help_page_of_its_command(name: str, lanlab: Lanlab) -> None:
    command = typer.main.get_command(application([name])).commands[name]  # type: ignore[attr-defined]
    options = [param for param in command.params if param.opts[0][0] == "-" and not param.hidden]
    topics = grouped(str(param.name) for param in options)

    everything = lanlab(name, "--help", "all").out
    pages = "".join(lanlab(name, "--help", topic).out for topic in topics)

    assert options
    for option in options:
        assert f"{option.opts[0]} " in everything.replace(",", " ")
        assert not topics or f"{option.opts[0]} " in pages.replace(",", " ")


def test_help_of_a_topic_has_its_options_only(lanlab: Lanlab) -> None:
    said = lanlab("copy", "--help", "smb1").out

    assert "--dialect" in said and "--trials" not in said
    assert lanlab("copy", "-h", "smb1").out == said
    assert "--dialect" not in lanlab("copy", "--help").out
    assert lanlab("copy", "--help", "mixed", "smb://nas/share").out == lanlab("copy", "-h").out


def test_an_unknown_help_topic_is_refused_with_the_known_ones(lanlab: Lanlab) -> None:
    said = lanlab("copy", "--help", "netbeui")

    assert (said.code, said.out) == (2, "")
    assert "error: no help topic `netbeui`\nhint: topics: what, where," in said.err


def test_options_omitted_from_help_work(lanlab: Lanlab) -> None:
    assert "--receiver-work" not in lanlab("stream", "--help", "all").out
    assert "--receiver-work: found `2`; allowed: 0 to 1 s" in (
        lanlab("stream", "--receiver-work", "2").err
    )


def test_a_new_parameter_needs_only_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    class Parameters(WORKLOADS["echo"].Parameters):  # type: ignore[name-defined, misc]
        padding_bytes: SizeBytes = parameter(0, "Padding of each request.", ge=0, le=1024)

    monkeypatch.setattr(type(WORKLOADS["echo"]), "Parameters", Parameters)
    seen: list[dict[str, object]] = []

    @ParametersOf("echo", only=("padding_bytes",))
    def pad(given: Given) -> None:
        seen.append(checked("echo", {**given, "time_s": 1}))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_options(pad))
    check_values(app)
    command = typer.main.get_command(app)

    said = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    assert "--padding SIZE Padding of each request. [default: 0 B]" in said
    command(["--padding", "1KiB"], standalone_mode=False)
    assert seen[0]["padding_bytes"] == 1024
    with pytest.raises(UsageError, match="--padding: found `2KiB`; allowed: 0 B to 1 KiB"):
        command(["--padding", "2KiB"], standalone_mode=False)
    with pytest.raises(ValidationError, match="padding_bytes"):
        validated("echo", {"time_s": 1, "padding_bytes": -1})


def test_no_command_gives_help(lanlab: Lanlab) -> None:
    assert "lanlab tour" in "".join(lanlab("").err + lanlab().err + lanlab().out)


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        ("'--help'", []),
        ("'--version'", []),
        ("'run', '--help'", []),
        ("'runs', '--store', 'none.sqlite'", ["sqlite3"]),
        # The statistics come with the verdicts.
        ("'show', 'schomer-claason', '--only', 'tables'", ["pydantic"]),
    ],
)
def test_help_loads_no_slow_module(arguments: str, loaded: list[str], tmp_path: Path) -> None:
    done = ran(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        cwd=tmp_path,
        env=environment(),
        check=True,
    )

    assert done.stdout or done.stderr
    assert done.stderr.splitlines()[-1:] == [" ".join(loaded)]


def test_a_mistyped_run_gets_a_suggestion(lanlab: Lanlab) -> None:
    run = lanlab(*STREAM, "--json").json()["run"]

    for command in (["report"], ["run", "--resume"]):
        said = lanlab(*command, f"{run[:-1]}x")
        assert (said.code, said.out) == (2, "")
        assert f"hint: did you mean `{run}`?" in said.err


def test_names_are_completed(lanlab: Lanlab) -> None:
    run = lanlab(*STREAM, "--json").json()["run"]

    assert complete.studies("mil") == ["milanovic-srbljic"]
    assert complete.testbeds("") == ["loopback", "simulated", "virtual"]
    assert complete.scales(context_with(study="small.toml"), "") == ["quick", "slow"]
    assert complete.scales(context_with(), "f") == ["full"]
    assert complete.runs(context_with(), "") == ["last", run]
    assert complete.runs(context_with(store="lanlab-results/store.sqlite"), run[:9]) == [run]


@pytest.mark.parametrize("name", ["", ".", "small.toml", "a\0b", "x" * 5000, "/", "no-such", "é"])
def test_completion_offers_defaults_for_unreadable_studies_and_stores(
    name: str, folder: Path
) -> None:
    (folder / "small.toml").write_text("schema = [")

    assert complete.scales(context_with(study=name), "") == ["quick", "full"]
    assert complete.scales(context_with(study=name), "f") == ["full"]
    for store in (name, f"postgresql://{name}"):
        assert complete.runs(context_with(store=store), "") == []
    assert (complete.studies(name) == []) == (complete.testbeds(name) == []) == (name != "")
