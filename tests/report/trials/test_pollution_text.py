"""A report tells of every trial that was disturbed, and of every mean that rests on one."""

import csv
import io
from collections.abc import Callable

import pytest
from answered import sentences
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.analysis.trials.run_data import RunData
from lanlab.cli.results.printing import run_as_json
from lanlab.plan.plan import PlannedTrial
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.trials.trial_table import trial_table

WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)
STALL = Finding("sender_stalled", "sender", 30_000_000, 10_000_000, True)
HPET = Finding("clock_source", "sender", "hpet", "tsc, kvm-clock", False)

Disturbed = Callable[[PlannedTrial], bool]


def a_run(disturbed: Disturbed, *findings: Finding, unknown: tuple[str, ...] = ()) -> SyntheticRun:
    def judged(planned: PlannedTrial) -> Judgement:
        return Judgement(findings if disturbed(planned) else (), unknown)

    return synthetic_run("manford-kolahi", link_rate_bps=100_000_000, judged=judged)


def rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def throughput(run: SyntheticRun) -> Table:
    return metric_table(
        RunData(run.run, run.trials, run.study, run.published), "throughput", "goodput_bps"
    )


def first_time(planned: PlannedTrial) -> bool:
    return planned.repeats == 0


@pytest.fixture(scope="module")
def repeated() -> SyntheticRun:
    return a_run(first_time, WORK)


@pytest.fixture(scope="module")
def always() -> SyntheticRun:
    return a_run(lambda planned: True, WORK, STALL)


def test_every_trial_is_listed_with_its_disturbances(repeated: SyntheticRun) -> None:
    found = rows(trial_table(RunData(repeated.run, repeated.trials, repeated.study)))

    assert len(found) == len(repeated.trials)
    assert {(row["polluted by"], row["counts"]) for row in found} == {
        ("other processes", "False"),
        ("", "True"),
    }
    assert sum(row["counts"] == "False" for row in found) == len(repeated.trials) / 2


def test_a_mean_of_clean_repeats_is_not_marked(repeated: SyntheticRun) -> None:
    table = throughput(repeated)

    for row in rows(table):
        assert (row["polluted"], row["left out"]) == ("0", row["n"])
    assert not any("†" in cell.text for row in table.rows for cell in row)


def test_a_mean_that_rests_on_disturbed_trials_is_marked(always: SyntheticRun) -> None:
    table = throughput(always)

    shown = {column.short: cells for column, cells in table.shown()}
    means = next(cells for heading, cells in shown.items() if heading.startswith("throughput"))
    assert all(cell.text.endswith(" †") for cell in means)
    assert all(row["polluted"] == row["n"] == row["left out"] for row in rows(table))


def test_sentences_count_disturbed_trials_by_cause(
    repeated: SyntheticRun, always: SyntheticRun
) -> None:
    total = len(repeated.trials)
    assert (
        f"{total // 2} of {total} trials were disturbed (other processes {total // 2}): "
        "they were repeated and are in no mean."
    ) in sentences(repeated.run, repeated.trials, repeated.published)

    total = len(always.trials)
    assert (
        f"{total} of {total} trials were disturbed (other processes {total}, sender stalled "
        f"{total}): {total // 2} were repeated and are in no mean, {total // 2} are in means, "
        "which are marked †."
    ) in sentences(always.run, always.trials, always.published)


def test_a_remark_appears_once_for_the_run() -> None:
    run = a_run(lambda planned: planned.number > 0, HPET)

    (said,) = (s for s in sentences(run.run, run.trials, run.published) if "hpet" in s)
    total = len(run.trials)
    assert said.startswith(f"{total - 1} of {total} trials: the kernel's clock source was")
    assert not any(trial.is_disturbed for trial in run.trials)
    assert all(row["left out"] == "0" for row in rows(throughput(run)))


def test_unjudged_trials_are_not_called_clean() -> None:
    run = a_run(lambda planned: False, unknown=("steal", "foreign_cpu"))

    total = len(run.trials)
    assert (
        f"{total} of {total} trials lack the readings that show a disturbance "
        "(other virtual machines, other processes)."
    ) in sentences(run.run, run.trials, run.published)


def test_an_undisturbed_run_has_no_remark() -> None:
    run = a_run(lambda planned: False)

    said = " ".join(sentences(run.run, run.trials, run.published))
    assert "polluted" not in said and "disturbed" not in said


def test_json_says_whether_each_trial_counts(repeated: SyntheticRun) -> None:
    found = run_as_json(repeated.run, repeated.trials)["trials"]

    assert {(trial["is_polluted"], trial["counts"]) for trial in found} == {
        (True, False),
        (False, True),
    }
    assert found[0]["pollution"]["findings"][0]["code"] == "foreign_cpu"
