"""An analysis that fails hides no trial: every face of a run shows these, and says what failed."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from answered import sentences
from command_line import Lanlab
from kept_runs import keep
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.web.run_state import RunState
from lanlab.web.tables import results_so_far

#: Of the logarithm of a negative number.
MESSAGE = "math domain error"
#: What the study calls goodput.
SPEED = "receiving speed"


@dataclass(frozen=True)
class Broken:
    target: str
    name: str
    #: Part of what is shown by others.
    other: str


ANSWERS = "lanlab.report.answer.answers"

BROKEN = {
    "search": Broken("lanlab.analysis.saturation.search.capacity", "saturation", SPEED),
    "means": Broken("lanlab.analysis.trials.summary.interval_of_mean", "order of trials", "no."),
    "endings": Broken(f"{ANSWERS}.ending_sentences", "how conditions ended", SPEED),
    "disturbances": Broken(f"{ANSWERS}.pollution_sentences", "disturbances", SPEED),
    "failures": Broken(f"{ANSWERS}.failure_sentences", "failed trials", SPEED),
}


def fails(*_: Any, **__: Any) -> NoReturn:
    raise ValueError(MESSAGE)


@pytest.fixture(scope="module")
def made() -> SyntheticRun:
    return synthetic_run("milanovic-srbljic")


@pytest.fixture
def store(made: SyntheticRun, folder: Path) -> str:
    where = folder / "kept.sqlite"
    keep(where, [made.pair()])
    return str(where)


def break_(monkeypatch: pytest.MonkeyPatch, broken: Broken) -> None:
    monkeypatch.setattr(broken.target, fails)


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_show_prints_trials_and_failed_analyses(
    broken: Broken, lanlab: Lanlab, store: str, made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch, broken)

    said = lanlab("show", "last", "--store", store)

    assert said.code == 0
    warned = [line for line in said.err.splitlines() if line.startswith("warning: Analysis failed")]
    assert len(warned) == 1, said.err
    assert broken.name in warned[0]
    assert f"(ValueError: {MESSAGE})" in warned[0]
    assert "Every trial" in said.out
    assert broken.other in said.out
    lines = [line.rstrip() for line in said.out.splitlines()]
    numbers = {line.split()[0] for line in lines[lines.index("Every trial") :] if line.split()}
    assert {str(trial.number) for trial in made.trials} <= numbers


def test_show_of_a_sound_run_reports_no_failed_analysis(lanlab: Lanlab, store: str) -> None:
    said = lanlab("show", "last", "--store", store)

    assert (said.code, said.err) == (0, "")
    assert "Every trial" not in said.out


def test_json_has_trials_and_failed_analyses(
    lanlab: Lanlab, store: str, made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch, BROKEN["search"])

    said = lanlab("show", "last", "--store", store, "--json")

    found = said.json()
    assert [one["number"] for one in found["trials"]] == [one.number for one in made.trials]
    assert found["searches"] == []
    assert found["failed_analyses"] == [
        {"analysis": "saturation", "kind": "ValueError", "message": MESSAGE}
    ]
    assert found["conditions"]


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_report_has_trials_and_failed_analyses(
    broken: Broken, lanlab: Lanlab, store: str, made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch, broken)

    said = lanlab("report", "last", "--store", store, "--out", "page")

    assert said.code == 0, said.err
    page = Path("page", "report.html").read_text()
    assert page.count("Analysis failed") == 1
    assert f"(ValueError: {MESSAGE})" in page
    assert f"{len(made.trials)} trials in order of execution" in page
    [table] = Path("page", "tables").glob("*-trials.csv")
    with table.open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(made.trials)


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_the_live_page_has_other_results_and_failed_analyses(
    broken: Broken, made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch, broken)

    found = results_so_far(made.run, made.trials, made.study)

    assert found.trials == len(made.trials)
    failed = [line for line in found.answer if line.startswith("Analysis failed")]
    assert len(failed) == 1
    assert broken.name in failed[0]
    assert len(found.experiments) == len({trial.experiment for trial in made.trials})


def test_live_page_rows_need_no_plan(made: SyntheticRun, monkeypatch: pytest.MonkeyPatch) -> None:
    state = RunState(made.run)
    monkeypatch.setattr("lanlab.plan.plan.Plan.estimate", fails)
    state.take(made.trials)

    assert state.progress().left is None
    assert len(state.rows) == len(made.trials)


def test_a_failed_export_keeps_the_answer(
    lanlab: Lanlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.report.exports.condition_values.metric_values", fails)
    stream = ("stream", "--testbed", "loopback", "--time", "50ms", "--size", "64")

    said = lanlab(*stream, "--transport", "tcp", "--export-csv", "means.csv")

    assert said.code == 1
    assert "\ngoodput  " in said.out
    assert f"(ValueError: {MESSAGE})" in said.err
    assert "error: means.csv was not written" in said.err
    assert not Path("means.csv").exists()


def test_sentences_name_failed_analyses(
    made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misread(*_: object) -> NoReturn:
        raise KeyError("a" * 1_000)

    monkeypatch.setattr(f"{ANSWERS}.saturations", misread)
    monkeypatch.setattr(f"{ANSWERS}.pollution_sentences", lambda trials: misread(made.run, trials))

    said = sentences(made.run, made.trials)

    assert sum(line.startswith("Analysis failed: saturation, disturbances") for line in said) == 1
    assert max(map(len, said)) < 400
    assert len(said) > 2


#: What of a comparison fails: what computes it, and what says it.
UNCOMPARED = {
    "pairs": "lanlab.report.comparison.compared.pair_levels",
    "sentences": "lanlab.report.comparison.compared.comparison_sentences",
}


@pytest.mark.parametrize("target", UNCOMPARED.values(), ids=UNCOMPARED)
def test_a_failed_comparison_keeps_the_trials(
    target: str, lanlab: Lanlab, store: str, made: SyntheticRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = ("compare", "last", "--by", "message_size_bytes", "--store", store)
    sound = lanlab(*compared)
    assert sound.code == 0, sound.err
    monkeypatch.setattr(target, fails)

    said, as_json = lanlab(*compared), lanlab(*compared, "--json")

    assert (said.code, as_json.code) == (1, 1)
    assert f"warning: Analysis failed: comparison (ValueError: {MESSAGE})" in said.err
    numbers = {line.split()[0] for line in said.out.splitlines() if line.split()}
    assert {str(trial.number) for trial in made.trials} <= numbers
    found = as_json.json()
    assert [one["analysis"] for one in found["failed_analyses"]] == ["comparison"]
    assert len(found["runs"][0]["trials"]) == len(made.trials)
