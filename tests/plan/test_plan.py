"""The plan: order, end, resume."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.errors import UsageError
from lanlab.plan.conditions import expand
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.studies.base import Level
from lanlab.studies.load import known_studies, load_study, parse_study
from lanlab.studies.model import Study

EXAMPLE = Path(__file__).parents[2] / "examples" / "my-network"
#: Studies of which this version can run something.
RUNNABLE = [name for name in known_studies() if load_study(name).study.experiment]
#: Set-up, arming and tail of a trial; what the time budgets of scales are made with.
OVERHEAD_S = 0.2


@dataclass(frozen=True)
class Ran:
    experiment: str
    factors: Mapping[str, Level]
    block: int
    purpose: str
    parameters: Mapping[str, Level] = field(default_factory=dict)
    status: str = "done"
    is_disturbed: bool = False
    error: Mapping[str, Any] | None = None
    elapsed_s: float = 0.5
    metrics: Mapping[str, float | int] = field(default_factory=dict)


def ran(trial: PlannedTrial, **changes: Any) -> Ran:
    names = ("experiment", "factors", "parameters", "block", "purpose")
    return Ran(**{**{name: getattr(trial, name) for name in names}, **changes})


def run_out(plan: Plan, run: Callable[[PlannedTrial], Ran]) -> list[Ran]:
    history = []
    while (trial := plan.next_trial()) is not None:
        history.append(run(trial))
        plan.record(history[-1])
    return history


def study(**trials: float) -> Study:
    return parse_study(
        {
            "schema": 1,
            "id": "s",
            "title": "S",
            "experiment": [
                {
                    "id": "sweep",
                    "title": "",
                    "workload": "stream",
                    "metrics": ["goodput_bps"],
                    "factors": {"message_size_bytes": ["1kB", 2, 3], "transport": ["udp", "tcp"]},
                },
                {
                    "id": "limit",
                    "title": "",
                    "workload": "stream",
                    "metrics": ["goodput_bps"],
                    "search": {
                        "factor": "rate_bps",
                        "low": "1M",
                        "high": "9M",
                        "loss_goals": [0, 0.1],
                        "width_ratio": 0.02,
                        "trials": 1,
                        "curve": 4,
                        "curve_trials": 1,
                    },
                },
                {"id": "rtt", "title": "", "workload": "echo", "metrics": ["rtt_mean_ns"]},
            ],
            "scale": {"quick": {"trials": trials, "parameters": {"time_s": 1, "warmup_s": 0}}},
        },
        "study.toml",
    )


def noisy(seed: int) -> Callable[[PlannedTrial], Ran]:
    """A laboratory whose results are random, but the same for the same trial; some trials fail."""

    def run(trial: PlannedTrial) -> Ran:
        chance = random.Random(f"{seed}:{trial.number}:{sorted(trial.factors.items())}")
        return ran(
            trial,
            status="failed" if chance.random() < 0.2 else "done",
            elapsed_s=1 + chance.random(),
            metrics={
                "goodput_bps": chance.gauss(100, 5),
                "rtt_mean_ns": chance.gauss(100, 20),
                "goodput_ratio": chance.random(),
            },
        )

    return run


def test_conditions_are_all_combinations_in_lanlabs_units() -> None:
    conditions = expand(study(), "quick")

    assert [dict(c.factors) for c in conditions] == [
        {"message_size_bytes": 1000, "transport": "udp"},
        {"message_size_bytes": 1000, "transport": "tcp"},
        {"message_size_bytes": 2, "transport": "udp"},
        {"message_size_bytes": 2, "transport": "tcp"},
        {"message_size_bytes": 3, "transport": "udp"},
        {"message_size_bytes": 3, "transport": "tcp"},
        {},
    ]
    assert [c.experiment for c in conditions] == ["sweep"] * 6 + ["rtt"]
    assert conditions[0].expected_time_s == 1.0


def test_conditions_have_all_parameters_that_are_set() -> None:
    parameters = expand(study(), "quick")[-1].parameters

    assert parameters == {
        "driver": "lanlab",
        "transport": "udp", "ip_version": 4, "message_size_bytes": 1408, "warmup_s": 0.0,
        "nodelay": False, "dscp": 0, "silence_s": 3.0, "time_s": 1.0,
        "receive": "auto", "timestamps": "program",
    }  # fmt: skip


@given(st.integers(), st.integers())
def test_every_block_holds_each_active_condition_once(seed: int, noise: int) -> None:
    plan = Plan(study(min=2, max=15, relative_ci=0.05, retry_failed=0), "quick", seed)

    history = [r for r in run_out(plan, noisy(noise)) if r.purpose == "trial"]

    blocks = [list(b) for _, b in itertools.groupby(history, key=lambda r: r.block)]
    assert [b[0].block for b in blocks] == list(range(len(blocks)))
    earlier = {(c.experiment, *c.factors.values()) for c in expand(study(), "quick")}
    for block in blocks:
        ran_here = [(r.experiment, *r.factors.values()) for r in block]
        assert len(set(ran_here)) == len(ran_here)
        # A condition that has stopped does not come back.
        assert set(ran_here) <= earlier
        earlier = set(ran_here)
    assert all(len(b) == 7 for b in blocks[:2])


def test_order_differs_between_blocks_and_between_seeds() -> None:
    orders = set()
    for seed in range(3):
        history = run_out(Plan(study(), "quick", seed), ran)
        for _, block in itertools.groupby(history[:21], key=lambda r: r.block):
            orders.add(tuple(str(r.factors) for r in block))

    assert len(orders) == 9


def test_next_trial_is_the_same_until_it_is_recorded() -> None:
    plan = Plan(study(), "quick", 1)
    first = plan.next_trial()
    assert first is not None and first is plan.next_trial()

    plan.record(ran(first))

    second = plan.next_trial()
    assert second is not None and (first.number, second.number) == (0, 1)


def test_searches_come_last_with_the_tried_level() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)

    def link(trial: PlannedTrial) -> Ran:
        rate = trial.parameters.get("rate_bps", 0)
        assert isinstance(rate, int)
        return ran(trial, metrics={"goodput_ratio": min(1.0, 5e6 / (rate or 1))})

    history = run_out(plan, link)

    purposes = [r.purpose for r in history]
    assert list(dict.fromkeys(purposes)) == ["trial", "search", "confirm", "curve"]
    assert purposes.count("trial") == 7 and purposes.count("curve") == 4
    searching = history[7:]
    assert [r.block for r in searching] == list(range(len(searching)))
    assert [r.factors["rate_bps"] for r in searching[:2]] == [9_000_000, 5_000_000]
    # The level is what a search varies; how long its trials are goes with their purpose.
    assert {tuple(r.factors) for r in searching} == {("rate_bps",)}
    times = {(r.purpose, r.parameters["time_s"]) for r in searching}
    assert times == {("search", 0.25), ("confirm", 1.0), ("curve", 1.0)}
    result = plan.search_results()["limit"]
    for goal, limit in zip(result.goals, (5e6, 5e6 / 0.9), strict=True):
        assert goal.kind == "found" and goal.lower is not None
        assert 0.98 * limit <= goal.lower <= limit


def test_outcomes_of_another_plan_are_refused() -> None:
    plan = Plan(study(), "quick", 1)
    first = plan.next_trial()
    assert first is not None

    with pytest.raises(UsageError, match="trial 0: block is 5; the plan has 0"):
        plan.record(ran(first, block=5))
    with pytest.raises(UsageError, match="trial 0: factors is"):
        plan.record(ran(first, factors={"message_size_bytes": 77}))
    history = run_out(plan, ran)
    with pytest.raises(UsageError, match=f"trial {len(history)} is beyond the end of the plan"):
        Plan(study(), "quick", 1, history=[*history, history[-1]])


def test_a_search_trial_of_another_length_is_refused() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)
    while (trial := plan.next_trial()) is not None and trial.purpose == "trial":
        plan.record(ran(trial))
    assert trial is not None

    with pytest.raises(UsageError, match=r"trial 7: time_s is 1\.0; the plan has 0\.25"):
        plan.record(ran(trial, parameters={**trial.parameters, "time_s": 1.0}))


def test_the_estimate_uses_measured_times_when_available() -> None:
    plan = Plan(study(min=2, max=2), "quick", 1)
    # Of a search about so many: high end, guess and one beside it for each goal; their
    # confirmation; the curve; one trial far below the bounds, and two around them.
    short, full = 4, 3 + 4 + 3
    search_s = short * 0.25 + full * 1.0 + (short + full) * 0.5
    assert plan.estimate(overhead_s=0.5) == (14 + short + full, 14 * 1.5 + search_s)

    for _ in range(7):
        trial = plan.next_trial()
        assert trial is not None
        plan.record(ran(trial, elapsed_s=10))

    assert plan.estimate(overhead_s=0.5) == (7 + short + full, 7 * 10 + search_s)


def test_the_estimate_of_a_search_includes_measured_overhead() -> None:
    plan = Plan(study(min=1, max=1), "quick", 1)
    while (trial := plan.next_trial()) is not None and trial.purpose == "trial":
        plan.record(ran(trial))
    before = plan.estimate(overhead_s=0.0)
    assert trial is not None
    plan.record(ran(trial, elapsed_s=2.25, metrics={"goodput_ratio": 0.5}))
    after = plan.estimate(overhead_s=0.0)

    assert before == (14, 11.0)
    # A short trial of 0.25 s took 2 s longer.
    assert after == (13, 11.0 - 0.25 + 13 * 2.0)


@given(st.integers())
def test_the_estimate_of_conditions_is_never_too_low_while_nothing_fails(noise: int) -> None:
    def steady(trial: PlannedTrial) -> Ran:
        outcome = noisy(noise)(trial)
        return ran(trial, metrics=outcome.metrics)

    plan = Plan(study(min=2, max=15, relative_ci=0.05), "quick", 1)
    searching = plan.estimate().trials - 7 * 15
    said = []
    while (trial := plan.next_trial()) is not None and trial.purpose == "trial":
        said.append(plan.estimate().trials - searching)
        plan.record(steady(trial))

    assert all(most >= left for most, left in zip(said, range(len(said), 0, -1), strict=True))
    assert plan.estimate().trials == searching


@pytest.mark.parametrize(
    ("name", "scale", "budget_s"),
    [
        *((name, "quick", 55.0) for name in RUNNABLE if name != "schomer-claason"),
        # Nine services with five trials each.
        ("schomer-claason", "quick", 90.0),
        *((name, "tiny", 12.0) for name in RUNNABLE),
        (str(EXAMPLE), "quick", 15.0),
    ],
)
def test_scales_stay_within_their_stated_time(name: str, scale: str, budget_s: float) -> None:
    plan = Plan(load_study(name).study, scale, 1)

    assert plan.estimate(OVERHEAD_S).seconds < budget_s


@pytest.mark.parametrize("name", [*RUNNABLE, str(EXAMPLE)])
def test_every_scale_of_every_study_can_be_planned_to_its_end(name: str) -> None:
    loaded = load_study(name).study
    for scale, policy in ((s, loaded.scale[s].trials) for s in loaded.scale):
        history = run_out(Plan(loaded, scale, 1), ran)
        trials = [r for r in history if r.purpose == "trial"]
        # Nothing was measured, so that no interval stops a condition.
        assert len(trials) == policy.max * len(expand(loaded, scale))


def test_ten_thousand_conditions_are_planned_in_reasonable_time() -> None:
    large = study(min=1, max=1).model_copy(deep=True)
    sweep = large.experiment[0].model_copy(
        update={"factors": {"message_size_bytes": tuple(range(1, 10_001))}}
    )
    plan = Plan(large.model_copy(update={"experiment": (sweep,)}), "quick", 1)

    assert len(run_out(plan, ran)) == 10_000


@pytest.mark.parametrize("name", RUNNABLE)
def test_upcoming_trials_assume_no_failures(name: str) -> None:
    """Of conditions; of a search the next trial alone is known. The last blocks are no more than
    guessed where conditions end early."""
    plan = Plan(load_study(name).study, "tiny", 3)
    while (trial := plan.next_trial()) is not None:
        first, *others = plan.upcoming(5)
        assert first == trial
        numbers = [each.number for each in (first, *others)]
        assert numbers == list(range(trial.number, trial.number + len(numbers)))
        assert not others or trial.purpose == "trial"
        guessed = others[0] if others else None
        plan.record(ran(trial, metrics={"goodput_bps": 1.0}))
        following = plan.next_trial()
        if guessed is not None:
            assert following is not None
            assert (following.factors, following.block) == (guessed.factors, guessed.block)


def test_upcoming_trials_do_not_exceed_those_left() -> None:
    plan = Plan(study(min=3, max=3), "quick", 1)
    found = plan.upcoming(1000)
    conditions = {(each.experiment, str(each.factors)) for each in found}
    assert Counter(each.block for each in found) == dict.fromkeys(range(3), len(conditions))
    assert [each.number for each in found] == list(range(3 * len(conditions)))
