"""How each condition of a run ended: a fixed number, its goal, or short of it."""

import itertools
import json
from collections.abc import Sequence

import pytest
from planned_records import a_trial
from planned_runs import a_run

from lanlab.analysis.trials.endings import Ending
from lanlab.analysis.trials.run_data import RunData
from lanlab.plan.plan import Plan
from lanlab.report.metrics.order_text import ending_sentences
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study

#: Two conditions.
STUDY = {
    "schema": 1,
    "id": "s",
    "title": "S",
    "experiment": [
        {
            "id": "sweep",
            "title": "Sweep",
            "workload": "stream",
            "metrics": ["goodput_bps"],
            "factors": {"message_size_bytes": [1000, 2000]},
            "parameters": {"time_s": 1},
        }
    ],
}
GOAL = {"min": 3, "max": 20, "relative_ci": 0.02}
STEADY, WILD = [100.0, 100.1, 99.9], [50.0, 100.0, 200.0]
#: Alike at first, by chance.
DECEPTIVE = [100.0, 100.0, 100.0, 70.0, 130.0]


def ran(
    policy: dict[str, float], first: Sequence[float | None], cut: int | None = None
) -> tuple[RunRecord, list[TrialRecord], Study]:
    """A run whose condition of 1000 bytes has these values over and over (`None`: it fails), the
    other one steady ones; it is interrupted after `cut` trials."""
    study = Study.model_validate({**STUDY, "scale": {"quick": {"trials": policy}}})
    run, plan = a_run(study, "quick", None), Plan(study, "quick", 7)
    values = {1000: itertools.cycle(first), 2000: itertools.cycle(STEADY)}
    trials: list[TrialRecord] = []
    while (planned := plan.next_trial()) is not None and len(trials) != cut:
        value = next(values[int(planned.factors["message_size_bytes"])])
        trials.append(a_trial(run, planned, None if value is None else {"goodput_bps": value}))
        plan.record(trials[-1])
    return run, trials, study


def first_of(found: Sequence[Ending]) -> tuple[str, int, int]:
    return found[0].how, found[0].trials, found[0].missing


@pytest.mark.parametrize(
    ("policy", "values", "expected"),
    [
        ({"min": 4, "max": 4}, STEADY, ("fixed", 4, 0)),
        (GOAL, STEADY, ("reached", 12, 0)),
        (GOAL, WILD, ("most", 20, 0)),
        (GOAL, DECEPTIVE, ("short", 12, 0)),
        ({**GOAL, "retry_failed": 0}, [None], ("given_up", 0, 3)),
        # The seventh place is missing: a thirteenth is measured for it.
        ({**GOAL, "retry_failed": 0}, [*STEADY, *STEADY, None, *STEADY], ("reached", 12, 1)),
    ],
)
def test_a_condition_reports_its_ending(
    policy: dict[str, float], values: list[float | None], expected: tuple[str, int, int]
) -> None:
    run, trials, _ = ran(policy, values)
    found = RunData(run, trials).endings
    assert first_of(found) == expected
    assert [dict(one.factors) for one in found] == [
        {"message_size_bytes": 1000},
        {"message_size_bytes": 2000},
    ]


def test_a_reached_goal_is_met_by_the_displayed_interval() -> None:
    for values in (STEADY, WILD, DECEPTIVE):
        run, trials, _ = ran(GOAL, values)
        for one in RunData(run, trials).endings:
            assert one.half_width_ratio is not None
            assert (one.how == "reached") == (one.half_width_ratio <= 0.02)


def test_an_interrupted_run_has_not_reached_a_goal_before_its_trials_are_done() -> None:
    run, trials, _ = ran(GOAL, STEADY, cut=16)
    interrupted = RunRecord(**{**vars(run), "status": "interrupted"})
    assert [one.how for one in RunData(interrupted, trials).endings] == ["unfinished"] * 2


def test_the_sentence_names_conditions_that_missed_the_goal() -> None:
    run, trials, study = ran(GOAL, WILD)
    (said,) = ending_sentences(RunData(run, trials, study))
    assert said == (
        "Sweep: 1 of 2 means are known within 2.00 % (95 %), after 12 trials; not after the most "
        "trials allowed (20): 1,000 B (33.6 %, 20 trials)."
    )
    run, trials, study = ran(GOAL, DECEPTIVE)
    assert (
        "not after the number planned from the first 3 trials: 1,000 B (12.8 %, 12 trials)"
        in (ending_sentences(RunData(run, trials, study))[0])
    )
    run, trials, study = ran({"min": 4, "max": 4}, WILD)
    assert ending_sentences(RunData(run, trials, study)) == []


def test_endings_in_json_have_no_infinities() -> None:
    run, trials, _ = ran(GOAL, [0.0])
    (zero, _) = RunData(run, trials).endings
    assert zero.half_width_ratio == 0.0
    json.dumps([one.to_json() for one in RunData(run, trials).endings], allow_nan=False)
