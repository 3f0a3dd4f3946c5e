"""What the README and the documents promise: their commands run, their links lead somewhere."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer
from command_line import Lanlab
from missing import missing

from lanlab.cli.app import COMMANDS, application
from lanlab.errors import LabError
from lanlab.studies.load import known_studies, load_study
from lanlab.testbeds import testbed as open_testbed
from lanlab.units import format_duration

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_PROGRAM = ".venv/bin/lanlab"
_CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")


def commands(document: Path) -> list[str]:
    blocks = _CONSOLE.findall(document.read_text())
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line.removeprefix("$ ").partition("#")[0].strip() for line in lines]


def test_the_make_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    named = [line for line in commands(ROOT / "README.md") if line.startswith("make ")]

    assert named == ["make setup", "make tour", "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"setup", "tour", "test"} <= set(targets)


def test_every_lanlab_command_of_the_readme_runs(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        open_testbed("virtual", 2, "10M").close()
    except LabError as error:
        missing(f"no virtual LAN here: {error.message}")
    # What names a user at a host is tried by the tests of real hosts.
    named = commands(ROOT / "README.md")
    lines = [line for line in named if line.startswith(_PROGRAM) and "@" not in line]
    assert len(lines) >= 6

    for line in lines:
        words = shlex.split(line.replace("--scale quick", "--scale tiny"))
        said = lanlab(*words[1:])

        if "--resume" in words:
            # Nothing was interrupted here.
            assert (said.code, "is complete" in said.err) == (2, True), line
        else:
            assert said.code == 0, (line, said.err)


#: A command in a sentence may lack arguments or values.
_INLINE = re.compile(r"`(?:sudo )?lanlab ([^`]+)`")
_ASSIGNED = re.compile(r"[A-Z_]+=\S*")


def shell_words(document: Path) -> list[list[str]]:
    """The words after `lanlab` of each command of a document, with its continued lines."""
    blocks = "\n".join(_CONSOLE.findall(document.read_text())).replace("\\\n", " ")
    found = []
    for line in blocks.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True) if line[:2] == "$ " else []
        while words and (words[0] == "sudo" or _ASSIGNED.fullmatch(words[0])):
            words = words[1:]
        if words and words[0] in ("lanlab", _PROGRAM):
            found.append(words[1 : words.index("|") if "|" in words else None])
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_parser_accepts_every_documented_command(document: Path) -> None:
    for words in shell_words(document):
        group = typer.main.get_command(application(words[:1]))
        context = group.make_context("lanlab", list(words), resilient_parsing=False)
        name, command, rest = group.resolve_command(context, list(words))
        with command.make_context(name, rest, parent=context) as parsed:
            assert parsed.params, words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_options_named_in_sentences_exist(document: Path) -> None:
    for text in _INLINE.findall(document.read_text()):
        name, *words = text.split()
        if name.startswith("-") or name == "COMMAND":
            continue
        assert name in COMMANDS, text
        command = typer.main.get_command(application([name])).commands[name]
        known = {option for one in command.params for option in one.opts + one.secondary_opts}
        unknown = {word.partition("=")[0] for word in words if word.startswith("-")} - known
        assert unknown <= {"--help"}, text


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_resolve(document: Path) -> None:
    for target, heading in _LINK.findall(document.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        found = document.parent / target
        assert found.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", found.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            assert heading in anchors, f"{target}#{heading}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_toml_examples_can_be_parsed(document: Path) -> None:
    for block in re.findall(r"```toml\n(.*?)```", document.read_text(), re.DOTALL):
        tomllib.loads(block)


_SCALE = re.compile(r"^\| (`.*?`) \| (\d+) \| ([^|]+) \| ", re.MULTILINE)


@pytest.mark.parametrize("name", known_studies())
def test_study_readmes_agree_with_show(name: str, lanlab: Lanlab) -> None:
    """Trials and time: the README said 17 h where the plan said 42 min."""
    [readme] = [
        file
        for file in (ROOT / "src/lanlab/studies").glob("*/README.md")
        if load_study(str(file.parent)).study.id == name
    ]
    said = {
        scale.strip("`"): (int(trials), time)
        for scales, trials, time in _SCALE.findall(readme.read_text())
        for scale in scales.split(", ")
    }
    shown = lanlab("show", name, "--json").json()["estimates"]
    assert said == {
        scale: (one["trials"], format_duration(one["seconds"])) for scale, one in shown.items()
    }
    assert (
        format_duration(shown["quick"]["seconds"]) in lanlab("show", name, "--only", "scales").out
    )
