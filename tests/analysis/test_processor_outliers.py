"""Trials whose server took far more processor time per byte than the others of their condition."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import pytest
from planned_runs import planned_run

from lanlab.analysis.disturbances.processor_outliers import ProcessorOutlier, processor_outliers
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.trials.failure_table import pollution_sentences
from lanlab.store import TrialRecord


def trial(number: int, s_per_gb: float | None, **changes: Any) -> TrialRecord:
    values: dict[str, Any] = {
        "run_id": "r",
        "number": number,
        "experiment": "copy",
        "workload": "copy",
        "factors": {"service": "ftp"},
        "parameters": {},
        "block": number,
        "purpose": "trial",
        "status": "done",
        "started_at": "2026-11-26T00:00:00.000000Z",
        "elapsed_s": 1.0,
        "metrics": {} if s_per_gb is None else {"server_cpu_s_per_gb": s_per_gb},
        "raw": {},
    }
    return TrialRecord(**(values | changes))


def numbered(values: Sequence[float | None]) -> list[TrialRecord]:
    return [trial(number, value) for number, value in enumerate(values)]


def test_a_first_trial_with_twice_the_processor_time_is_named() -> None:
    trials = numbered([0.9, 0.3, 0.29, 0.31])
    assert processor_outliers(trials) == (ProcessorOutlier(0, "server", 0.9, 0.3),)
    data = RunData(planned_run("manford-kolahi").run, trials)
    (sentence,) = pollution_sentences(data)
    assert sentence.startswith(
        "Trial no. 0 took 3.0 \N{MULTIPLICATION SIGN} the server's CPU time per byte"
    )


@pytest.mark.parametrize(
    "values",
    [
        [0.59, 0.3, 0.3, 0.3],
        # Two others say little.
        [0.9, 0.3, 0.3],
        [0.9, 0.3, 0.3, None],
        [0.9, 0.0, 0.0, 0.0],
    ],
)
def test_values_below_twice_the_others_or_with_too_few_others_are_not_outliers(
    values: list[float | None],
) -> None:
    assert processor_outliers(numbered(values)) == ()


def test_each_condition_has_its_own_median() -> None:
    small = [trial(4 + n, 3.0, factors={"service": "sftp"}) for n in range(4)]
    assert processor_outliers([*numbered([0.3, 0.3, 0.3, 0.3]), *small]) == ()


def test_a_trial_that_was_repeated_is_not_judged() -> None:
    raw = {"pollution": {"findings": [{"repeat_helps": True}]}}
    disturbed = trial(0, 0.9, block=1, raw=raw)
    assert (
        processor_outliers(counting([disturbed, *numbered([None, 0.3, 0.3, 0.3, 0.3])[1:]])) == ()
    )


@pytest.mark.parametrize("values", [[1.0, 3.0, 1.0, 1.2], [4.0, 1.0, 1.0, 1.0, 2.5]], ids=str)
def test_a_trial_is_compared_with_the_median_of_the_others(values: list[float]) -> None:
    others = {at: values[:at] + values[at + 1 :] for at in range(len(values))}
    expected = [
        ProcessorOutlier(at, "server", values[at], median(rest))
        for at, rest in others.items()
        if values[at] >= 2 * median(rest)
    ]
    assert expected
    assert processor_outliers(numbered(values)) == tuple(expected)


def test_50_000_trials_of_a_condition_are_compared() -> None:
    """It would take an hour if each trial read all others."""
    trials = numbered([0.9, *[0.3] * 49_999])
    assert processor_outliers(trials) == (ProcessorOutlier(0, "server", 0.9, 0.3),)
