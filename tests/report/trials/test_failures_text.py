"""A report tells of every trial that failed, and of every mean that lacks one."""

import csv
import io
from collections.abc import Callable
from statistics import fmean

import pytest
from answered import sentences
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.cli.results.printing import run_as_json, single_as_json
from lanlab.figures.registry import build_figure
from lanlab.plan.plan import PlannedTrial
from lanlab.report.document.fitted import fitted
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.runs.build import build_report
from lanlab.report.runs.run_text import tables
from lanlab.report.trials.analyses import Analyses
from lanlab.report.trials.failure_table import failure_table

EXPERIMENT = "throughput"


def a_run(fails: Callable[[PlannedTrial], bool]) -> SyntheticRun:
    return synthetic_run("manford-kolahi", "quick", link_rate_bps=100_000_000, fails=fails)


def of_one_condition(trial: PlannedTrial) -> bool:
    levels = {"ip_version": 4, "message_size_bytes": 384}
    return trial.experiment == EXPERIMENT and dict(trial.factors) == levels


def in_the_second_block(trial: PlannedTrial) -> bool:
    """Every trial of one condition, in one block: its place is missing."""
    return of_one_condition(trial) and trial.block == 1


@pytest.fixture(scope="module")
def lacking() -> SyntheticRun:
    return a_run(in_the_second_block)


@pytest.fixture(scope="module")
def retried() -> SyntheticRun:
    return a_run(lambda trial: of_one_condition(trial) and trial.repeats == 0)


def read(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def throughput(found: SyntheticRun) -> Table:
    return metric_table(
        RunData(found.run, found.trials, found.study, found.published), EXPERIMENT, "goodput_bps"
    )


def row_of_384(table: Table) -> dict[str, str]:
    (row,) = [
        row for row in read(table) if (row["ip_version"], row["message_size_bytes"]) == ("4", "384")
    ]
    return row


def terminal(found: SyntheticRun) -> str:
    shown = tables(RunData(found.run, found.trials), Analyses())
    return "\n".join(line for table in shown for line, _ in fitted(table, None))


def test_a_mean_states_good_and_missing_trials(lacking: SyntheticRun) -> None:
    levels = {"ip_version": 4, "message_size_bytes": 384}
    own = [t for t in lacking.trials if t.experiment == EXPERIMENT and t.factors == levels]
    done = [t.metrics["goodput_bps"] for t in own if t.status == "done"]
    blocks = {trial.block for trial in own}
    (summary,) = [
        s
        for s in RunData(lacking.run, lacking.trials).summaries(EXPERIMENT, "goodput_bps")
        if s.factors == levels
    ]

    assert [t.block for t in own if t.status == "failed"] == [1, 1, 1]
    assert (summary.n, summary.failed, summary.missing) == (len(blocks) - 1, 3, 1)
    assert summary.mean == pytest.approx(fmean(done), rel=1e-12)
    assert summary.n_text == f"{len(done)} of {len(done) + 1}"

    row = row_of_384(throughput(lacking))
    assert (row["n"], row["failed"], row["missing"]) == (str(len(done)), "3", "1")
    assert float(row["mean (bit/s)"]) == pytest.approx(fmean(done), rel=1e-12)


def test_a_retried_trial_leaves_nothing_missing(retried: SyntheticRun) -> None:
    row = row_of_384(throughput(retried))

    assert row["missing"] == "0" and int(row["failed"]) == int(row["n"]) >= 2
    said = sentences(retried.run, retried.trials)
    failed, trials = row["failed"], len(retried.trials)
    assert f"{failed} of {trials} trials failed and are in no mean." in said
    assert "Each was retried with success." in said


def test_sentences_name_conditions_with_missing_trials(lacking: SyntheticRun) -> None:
    said = sentences(lacking.run, lacking.trials)

    lacks = "UDP throughput, IPv4, 384 B (1)."
    assert f"1 trial is missing, so these conditions have fewer: {lacks}" in said


def test_abandoned_conditions_are_reported_with_the_answer() -> None:
    found = a_run(of_one_condition)
    (told,) = [s for s in sentences(found.run, found.trials) if s.startswith("Stopped after")]

    assert told == "Stopped after repeated failures: UDP throughput, IPv4, 384 B."


def test_every_failed_trial_is_listed_with_its_cause(lacking: SyntheticRun) -> None:
    rows = read(failure_table(RunData(lacking.run, lacking.trials, lacking.study)))
    numbers = [t.number for t in lacking.trials if t.status == "failed"]

    assert [int(row["number"]) for row in rows] == numbers
    assert {row["code"] for row in rows} == {"peer.silent"}
    assert {row["cause"] for row in rows} == {"nothing heard for 3 s"}
    assert [row["fate"] for row in rows] == ["retried", "retried", "missing"]
    assert [row["retried as"] for row in rows] == [str(numbers[1]), str(numbers[2]), ""]


def test_no_failures_means_no_remark() -> None:
    found = a_run(lambda trial: False)

    assert failure_table(RunData(found.run, found.trials, found.study)).rows == ()
    assert "failed" not in " ".join(sentences(found.run, found.trials))
    assert "Failed trials" not in terminal(found)
    shown = tables(RunData(found.run, found.trials), Analyses())
    assert all("n" not in [*fitted(table, None)][1][0].split() for table in shown)


def test_the_terminal_counts_trials_if_some_are_missing(
    lacking: SyntheticRun,
) -> None:
    shown = terminal(lacking)

    line = next(line for line in shown.splitlines() if line.startswith("IPv4, 384 B"))
    there = row_of_384(throughput(lacking))["n"]
    assert f" {there} of {int(there) + 1} " in line
    assert "Failed trials" in shown and "missing" in shown


def test_a_figure_marks_means_with_missing_trials(lacking: SyntheticRun) -> None:
    there = row_of_384(throughput(lacking))["n"]
    expected = f"Failed trials are missing: IPv4, 384 B (n = {there} of {int(there) + 1})."
    whole = a_run(lambda trial: False)
    for figure in lacking.study.figure:
        chart = build_figure(
            RunData(lacking.run, lacking.trials, lacking.study, lacking.published), figure
        )
        assert (expected in chart.caption) == (EXPERIMENT in figure.experiments)
        clean = build_figure(RunData(whole.run, whole.trials, whole.study, whole.published), figure)
        assert "missing" not in clean.caption


def test_json_has_failed_trials_and_missing_places(lacking: SyntheticRun) -> None:
    told = run_as_json(lacking.run, lacking.trials)

    assert told["failed_trials"] == 3
    (missing,) = told["missing"]
    assert missing == {
        "experiment": EXPERIMENT,
        "factors": {"ip_version": 4, "message_size_bytes": 384},
        "block": 1,
        "purpose": "trial",
    }
    fates = [t["failure"]["fate"] for t in told["trials"] if t["failure"] is not None]
    assert fates == ["retried", "retried", "missing"]
    assert all((t["failure"] is None) == (t["status"] == "done") for t in told["trials"])


def test_one_condition_counts_its_own_trials(lacking: SyntheticRun) -> None:
    levels = {"ip_version": 4, "message_size_bytes": 384}
    own = [t for t in lacking.trials if t.experiment == EXPERIMENT and t.factors == levels]
    told = single_as_json(lacking.run, own)

    done = [t.metrics["goodput_bps"] for t in own if t.status == "done"]
    assert (told["n"], told["failed_trials"]) == (len(done), 3)
    assert told["goodput_bps"] == pytest.approx(fmean(done), rel=1e-12)


def test_the_page_and_its_files_have_the_failed_trials(
    lacking: SyntheticRun, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("report")
    paths = build_report([lacking.pair()], folder)

    page = paths.html.read_text(encoding="utf-8")
    assert 'id="manford-kolahi-failures"' in page and ">missing<" in page
    (table,) = [path for path in paths.tables if path.name.endswith("failures.csv")]
    assert len(list(csv.DictReader(io.StringIO(table.read_text())))) == 3
