"""Studies by name or by path."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import BaseModel, ValidationError

from lanlab.errors import BadStudy, UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.outside import BadValue, toml_of
from lanlab.studies.checks import problems
from lanlab.studies.model import Study, StudyTestbed
from lanlab.studies.problems import Problem, bad_study
from lanlab.user_files import read_user_file

# Files next to a study are read on demand, so their models are imported then.
if TYPE_CHECKING:
    from lanlab.studies.findings import Finding, Findings
    from lanlab.studies.machines import Simulation
    from lanlab.studies.published import Published
    from lanlab.studies.vocabulary import Vocabulary

_FILE = "study.toml"
_ID = re.compile(r'^id = "(.*)"$', re.MULTILINE)
_PUBLISHED_FILE = "published.toml"
_FINDINGS_FILE = "findings.toml"
_MACHINES_FILE = "machines.toml"
_MAX_FILE_BYTES = 2**20
#: Maximum number of problems to look for: one more than the hint shows.
_ENOUGH_PROBLEMS = 50

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class LoadedStudy:
    study: Study
    #: The published values; empty for a user's own study.
    published: Published
    #: Findings of `findings.toml`, then those of the study file.
    findings: tuple[Finding, ...]
    path: Path
    sha256: str


def known_studies() -> tuple[str, ...]:
    return tuple(sorted(_built_in()))


def load_study(name_or_path: str) -> LoadedStudy:
    """One of lanlab's own studies by its id, or a user's by its path.

    Args:
        name_or_path: An id from `known_studies`, else the path of a folder with a `study.toml`, or
            of a `.toml` file. Files next to a `study.toml` are read, too: published values from
            `published.toml` and `findings.toml`, machines to simulate from `machines.toml`. A
            user's study may have its published values in a table `[published]` instead.

    Raises:
        UnknownName: The study is unknown, and the text does not look like a path.
        UsageError: It looks like a path without a study; or the file cannot be read.
        BadStudy: The file is not TOML, or contains something that is not allowed.
    """
    path = _find(name_or_path)
    return _built_in_study(path) if path in _built_in().values() else _loaded(path)


@functools.cache
def _built_in_study(path: Path) -> LoadedStudy:
    """Cached, because a report reads it three times, and the live page for each table update."""
    return _loaded(path)


def _loaded(path: Path) -> LoadedStudy:
    from lanlab.studies.machine_checks import published_problems_of
    from lanlab.studies.published import Published
    from lanlab.studies.vocabulary import of_published, of_study

    content = _read(path)
    data = _toml(content, str(path))
    published = Published(schema=1)
    has_folder = path.name == _FILE
    file = path.with_name(_PUBLISHED_FILE)
    if has_folder and _is_file(file):
        said = _toml(_read(file), str(file))
        published = parse_published(said, str(file))
        if path not in _built_in().values():
            # Stored with the run, which is compared later, when the file may have been moved.
            data = {**data, "published": said}
    elif isinstance(data.get("published"), dict):
        published = parse_published(cast("dict[str, object]", data["published"]), str(path))
    machines = path.with_name(_MACHINES_FILE)
    if has_folder and _is_file(machines):
        simulation = read_machines(machines)
        data = {**data, "simulation": simulation.model_dump(exclude_none=True)}
        # Parse before the study's conditions look up their places.
        words = of_published(published) | of_study(_parse(Study, data, str(path)))
        _refuse(str(machines), published_problems_of(simulation, published, words))
    study = parse_study(data, str(path))
    if study.commands is not None:
        allowed = "none: who runs a study gives commands, by --setup, --prepare and --cleanup"
        raise bad_study(str(path), [Problem("commands", "a table", allowed)])
    findings = study.finding
    file = path.with_name(_FINDINGS_FILE)
    if has_folder and _is_file(file):
        words = of_published(published) | of_study(study)
        own = parse_findings(_toml(_read(file), str(file)), str(file), words, published.numbers())
        findings = (*own.finding, *findings)
    chosen_for = study.simulation.chosen_for if study.simulation is not None else frozenset()
    if unknown := sorted(chosen_for - {one.id for one in findings}):
        allowed = "ids of the study's findings"
        raise bad_study(str(machines), [Problem("chosen_for", ", ".join(unknown), allowed)])
    return LoadedStudy(study, published, findings, path, hashlib.sha256(content).hexdigest())


def parse_study(data: dict[str, object], file: str) -> Study:
    """A study from its parsed TOML file; `file` is its name in messages.

    Raises:
        BadStudy: It contains something that is not allowed.
    """
    study = _parse(Study, data, file)
    _refuse(file, problems(study))
    return study


def read_machines(path: Path) -> Simulation:
    """The machines of a file.

    Raises:
        UsageError: The file cannot be read.
        BadStudy: It is not TOML, or contains something that is not allowed.
    """
    return parse_machines(_toml(_read(path), str(path)), str(path))


def built_in_machines() -> list[tuple[Simulation, str]]:
    """The machines of lanlab's own studies, in the order of ids, with the link of each testbed. The
    conditions of the studies are not read.
    """
    found = []
    for _, file in sorted(_built_in().items()):
        machines = file.with_name(_MACHINES_FILE)
        if _is_file(machines):
            testbed = _toml(_read(file), str(file)).get("testbed", {})
            found.append((read_machines(machines), StudyTestbed.model_validate(testbed).link))
    return found


def parse_machines(data: dict[str, object], file: str) -> Simulation:
    """The machines of a study from their parsed TOML file; `file` is its name in messages.

    Raises:
        BadStudy: It contains something that is not allowed.
    """
    from lanlab.studies.machine_checks import machine_problems
    from lanlab.studies.machines import Simulation

    simulation = _parse(Simulation, data, file)
    _refuse(file, machine_problems(simulation))
    return simulation


def parse_published(data: dict[str, object], file: str) -> Published:
    """Published values from their parsed TOML file; `file` is its name in messages.

    Raises:
        BadStudy: It contains something that is not allowed, or repeats an id.
    """
    from lanlab.studies.finding_checks import published_problems
    from lanlab.studies.published import Published

    published = _parse(Published, data, file)
    _refuse(file, published_problems(published))
    return published


def parse_findings(
    data: dict[str, object], file: str, words: Vocabulary, numbers: Mapping[str, float]
) -> Findings:
    """Findings from their parsed TOML file; `file` is its name in messages.

    Args:
        words: The metrics, factors and levels that they may name.
        numbers: The published numbers by id, in their published units.

    Raises:
        BadStudy: It contains something that is not allowed.
    """
    from lanlab.studies.finding_checks import finding_problems
    from lanlab.studies.findings import Findings

    findings = _parse(Findings, data, file)
    _refuse(file, finding_problems(findings.finding, words, numbers))
    return findings


def _parse(model: type[_Model], data: dict[str, object], file: str) -> _Model:
    try:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            from lanlab.studies.schema_problems import schema_problems

            raise bad_study(file, schema_problems(error, data, model)) from None
    except RecursionError:
        raise BadStudy(file, "the file", "tables within tables without end", "a few") from None


def _refuse(file: str, problems_found: Iterable[Problem]) -> None:
    found = list(itertools.islice(problems_found, _ENOUGH_PROBLEMS))
    if found:
        raise bad_study(file, found)


@functools.cache
def _built_in() -> Mapping[str, Path]:
    here = Path(__file__).parent
    files = sorted(folder / _FILE for folder in here.iterdir() if (folder / _FILE).is_file())
    # The id is at the top. Parsing whole files would take a tenth of the time of `lanlab show`.
    return {_ID.findall(file.read_text(encoding="utf-8"))[0]: file for file in files}


def _find(name_or_path: str) -> Path:
    built_in = _built_in()
    if name_or_path in built_in:
        return built_in[name_or_path]
    path = Path(name_or_path)
    if _is_file(path / _FILE):
        return path / _FILE
    if _is_file(path) and path.suffix == ".toml":
        return path
    if "/" in name_or_path or "\\" in name_or_path or path.suffix == ".toml":
        raise UsageError(
            f"no study at `{name_or_path}`: no such .toml file, and no folder with a {_FILE}",
            hint=f"studies that come with lanlab: {', '.join(sorted(built_in))}",
        )
    here = [one for one in [f"{path.stem}.toml"] if _is_file(Path(one))]
    raise UnknownName("study", name_or_path, [*built_in, *here])


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an invalid file name, or an inaccessible folder
        return False


def _read(path: Path) -> bytes:
    return read_user_file(path, "study file", _MAX_FILE_BYTES)


def _toml(content: bytes, file: str) -> dict[str, object]:
    try:
        return toml_of(content)
    except UnicodeDecodeError as error:
        found = "UTF-16" if "UTF-16" in error.reason else "what is not UTF-8"
        raise BadStudy(file, f"byte {error.start}", found, "UTF-8 text") from None
    except BadValue as error:
        raise BadStudy(file, "the file", str(error), "a few") from None
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
        found = str(error).removesuffix(place[0] if place else "").strip()
        raise BadStudy(file, place[1] if place else "the file", found, "TOML") from None
