"""Records that somebody else wrote say what they say in every output, and do nothing."""

import copy
import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_runs import synthetic_run
from undrawn import nothing_drawn

from lanlab.errors import LabError, StoreError
from lanlab.report.document.table import Cell, Column, Table
from lanlab.report.runs.build import ReportPaths, build_report
from lanlab.report.runs.stored import trials_for_page
from lanlab.store import RunRecord, Series, TrialRecord, open_store
from lanlab.store.series import Numbers

Run = tuple[RunRecord, list[TrialRecord]]

SCRIPT = "</title></svg><script>alert(1)</script>"
ATTRIBUTE = "\"' onmouseover='alert(1)' x=\""
FORMULA = "=cmd|'/c calc'!A0"
MATHS = "$\\frac{1}{"
HOSTILE = {
    "markup": f"<img src=x onerror=y>{SCRIPT}{ATTRIBUTE}]]><!--{{{{ 7 * 7 }}}}",
    "formula": FORMULA,
    "mathematics": MATHS,
}
#: In one figure what a drawing could take for its own language.
DRAWN = f"{MATHS}{HOSTILE['markup']}"


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag in ("iframe", "object", "embed", "form", "base", "img"):
            self.acting.append(tag)
        for name, value in attrs:
            outward = name in ("href", "src", "xlink:href") and not (value or "").startswith(
                (
                    "#",
                    "figures/",
                    "tables/",
                    "data:",
                    "https://doi.org/",
                    "references.bib",
                    "files.html",
                )
            )
            if name.startswith("on") or outward:
                self.acting.append(f"{tag} {name}={value}")


def hostile_run(text: str) -> Run:
    fails = {"fails": lambda planned: planned.block > 0}
    run, trials = synthetic_run("manford-kolahi", most_trials=30, **fails).pair()
    study = copy.deepcopy(run.study)
    study["title"] = study["question"] = text
    study["source"] = {"authors": [text], "year": 1999, "citation": text, "doi": text}
    study["testbed"]["published"] = text
    for experiment in study["experiment"]:
        experiment["title"] = text
    del study["figure"][2:]
    for figure in study["figure"]:
        figure["title"] = figure["published"] = text
    for unit in study.get("units", {}).values():
        unit["unit"], unit["name"] = text[:20], text
    facts = {"hosts": {text: {text: text}}, text: [text, {text: text}]}
    run = replace(
        run,
        study=study,
        testbed={**run.testbed, "name": text, "link": text, "facts": facts},
        versions={**run.versions, text: text},
    )
    failed = {"code": text, "message": text, "hint": text}
    trials = [
        replace(
            trial,
            error=failed if trial.status == "failed" else None,
            raw={**trial.raw, "requests": text, text: text},
        )
        for trial in trials
    ]
    return run, trials


@pytest.fixture(scope="module")
def plain_scripts(tmp_path_factory: pytest.TempPathFactory) -> int:
    page = Page()
    with nothing_drawn():
        folder = tmp_path_factory.mktemp("plain")
        page.feed(build_report([hostile_run("plain")], folder).html.read_text())
    assert not page.acting
    return page.scripts


@pytest.mark.parametrize("name", HOSTILE)
def test_texts_of_records_are_escaped_in_reports(
    tmp_path: Path, name: str, plain_scripts: int
) -> None:
    assert_nothing_acts(build_report([hostile_run(HOSTILE[name])], tmp_path), plain_scripts)
    html = (tmp_path / "report.html").read_text()
    assert "{{ 7 * 7 }}" in html or name != "markup"


def test_texts_of_records_are_escaped_in_drawings(
    tmp_path: Path, plain_scripts: int, drawn: None
) -> None:
    paths = build_report([hostile_run(DRAWN)], tmp_path)
    assert len(paths.figures) >= 4
    assert_nothing_acts(paths, plain_scripts)


def assert_nothing_acts(paths: ReportPaths, plain_scripts: int) -> None:
    folder = paths.html.parent
    html = paths.html.read_text()
    page = Page()
    page.feed(html)
    assert (page.scripts, page.acting) == (plain_scripts, [])
    assert "<script>alert" not in html
    assert "Content-Security-Policy" in html
    for path in paths.figures:
        assert path.resolve().is_relative_to(folder.resolve())
        if path.suffix == ".svg":
            for element in ElementTree.parse(path).iter():
                assert not str(element.tag).endswith("script")
                assert not any(name.lower().startswith("on") for name in element.attrib)
    for path in paths.tables:
        assert path.resolve().is_relative_to(folder.resolve())
        for row in csv.reader(path.open(newline="")):
            for cell in row:
                is_number = re.fullmatch(r"-?[0-9.e+-]+", cell) is not None
                assert is_number or cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1+1", "=cmd|' /C calc'!A0"]
)
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    rows = ((Cell(text, text), Cell(-1.5, "-1.5")),)
    table = Table("t", "t", (Column("a"), Column("b")), rows)
    cells = next(iter(list(csv.reader(io.StringIO(table.to_csv(), newline="")))[1:]))
    assert cells == [f"'{text}", "-1.5"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2)
    ),
    max_leaves=4,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return [path]
    return [path] + [found for key, item in inner for found in _places(item, (*path, key))]


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_changed_record_is_reported_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=6).pair()
    whole = {
        "study": copy.deepcopy(run.study),
        "testbed": copy.deepcopy(run.testbed),
        "factors": copy.deepcopy(trials[0].factors),
        "metrics": copy.deepcopy(trials[0].metrics),
        "raw": copy.deepcopy(trials[0].raw),
    }
    *way, last = data.draw(st.sampled_from([place for place in _places(whole) if len(place) > 1]))
    place: Any = whole
    for key in way:
        place = place[key]
    place[last] = data.draw(_JSON)
    run = replace(run, study=whole["study"], testbed=whole["testbed"])
    changed = {key: whole[key] for key in ("factors", "metrics", "raw")}
    trials[0] = replace(trials[0], **changed)
    try:
        build_report([(run, trials)], tmp_path / "report")
    except LabError as error:
        assert isinstance(error, StoreError)
        assert len(error.message) < 400


def test_an_unknown_scale_is_a_defect_of_the_record(tmp_path: Path) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=6).pair()
    run = replace(run, study={**run.study, "scale": {"other": run.study["scale"]["tiny"]}})
    with pytest.raises(StoreError, match="are malformed: UnknownName"):
        build_report([(run, trials)], tmp_path / "report")


@pytest.mark.parametrize("series", ["no-such", "receiver-intervals"])
def test_a_report_omits_a_series_that_cannot_be_read(tmp_path: Path, series: str) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=1).pair()
    part = {"series": series, "interval_ns": "soon"}
    trial = replace(trials[0], raw={**trials[0].raw, "receiver": {"intervals": part}})
    kept = Series("receiver-intervals", {"bytes": Numbers([1, 2])})
    with open_store(str(tmp_path / "store.sqlite")) as store:
        store.start_run(run).release()
        store.commit_trial(trial, [kept])
        assert trials_for_page(store, run.id) == [trial]


def test_a_record_of_too_many_conditions_is_refused(tmp_path: Path) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=6).pair()
    study = copy.deepcopy(run.study)
    levels = {key: list(range(1, 26)) for key in ("dscp", "flows", "threads")}
    for one in study["experiment"]:
        one["factors"] = levels
    with pytest.raises(StoreError, match="are malformed: ValueError"):
        build_report([(replace(run, study=study), trials)], tmp_path / "report")


def test_a_defect_is_reported_with_its_cause(tmp_path: Path) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=6).pair()
    run = replace(run, study={"schema": 1})
    with pytest.raises(StoreError, match="are malformed: ValidationError") as caught:
        build_report([(run, trials)], tmp_path / "report")
    assert caught.value.__cause__ is not None
    assert json.dumps(run.study) == '{"schema": 1}'


def test_a_record_of_a_study_without_experiments_is_named(tmp_path: Path) -> None:
    run, trials = synthetic_run("manford-kolahi", most_trials=6).pair()
    run = replace(run, study={**run.study, "experiment": []})
    with pytest.raises(StoreError, match="are malformed"):
        build_report([(run, trials)], tmp_path / "report")
