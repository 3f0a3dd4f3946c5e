"""Parts of the answer's sentences, each by a table of what they are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.run_data import RunData
from lanlab.analysis.summary import Summary
from lanlab.report.answer import answers
from lanlab.report.trials.analyses import Analyses
from lanlab.store import Level, TrialRecord
from lanlab.studies import Study, load_study
from lanlab.studies.machines import Prediction, Simulation

LOADED = load_study("milanovic-srbljic")
STUDY = LOADED.study.model_copy(update={"simulation": None})


def summary(mean: float, factors: Mapping[str, Level], **changes: Any) -> Summary:
    plain: dict[str, Any] = {
        "experiment": "udp-500",
        "workload": "stream",
        "factors": factors,
        "parameters": {"transport": "udp", "message_size_bytes": 500, **factors},
        "metric": "goodput_bps",
        "values": (mean,),
        "failed": 0,
        "mean": mean,
        "sd": None,
        "ci_low": None,
        "ci_high": None,
        "limit": None,
    }
    return Summary(**{**plain, **changes})


def trial(
    factors: Mapping[str, Level], metrics: Mapping[str, float], **changes: Any
) -> TrialRecord:
    return replace(TEMPLATE, factors=dict(factors), metrics=dict(metrics), **changes)


ONE_TRIAL = synthetic_run("milanovic-srbljic", "quick", most_trials=1)
TEMPLATE = ONE_TRIAL.trials[0]
DATA = RunData(ONE_TRIAL.run, (), STUDY, LOADED.published)


LOADS = (1e6, 2e6, 4e6)


@pytest.mark.parametrize(("count", "told"), [(6, (6, 5, 4, 3, 2, 1)), (7, (7, 1))])
def test_of_many_sweeps_the_best_and_the_worst_are_told(count: int, told: Sequence[int]) -> None:
    """Each by its highest rate, which is not that of the last load."""
    sweep = {1e6: 1e6, 2e6: 1.5e6, 4e6: 1.2e6}
    summaries = [
        summary(rate * flows, {"rate_bps": load, "flows": flows}, limit=20e6)
        for flows in (3, 1, 2, *range(4, count + 1))
        for load, rate in sweep.items()
    ]
    top = {"rate_bps": 4e6, "flows": 1}
    trials = [
        trial(top, {"received_ratio": share, "offered_messages": 100, "sent_messages": 100})
        for share in (0.25, 0.35)
    ]
    trials.append(trial({**top, "rate_bps": 2e6}, {"received_ratio": 1.0}))
    trials.append(trial(top, {}))
    said = answers._greatest(DATA, summaries, trials)
    assert [text.partition(" was ")[2].partition(",")[0] for text in said] == [
        f"{187.5 * flows:.1f} kB/s" if flows < 6 else f"{187.5 * flows:,.0f} kB/s".split(",")[0]
        for flows in told
    ]
    assert said[-1].endswith(
        "; at 500 kB/s, the highest speed measured, 30.0 % of the messages arrived."
    )
    assert "highest sending speed" not in said[0]
    over_tcp = [replace(one, parameters={"transport": "tcp"}) for one in trials]
    last = answers._greatest(DATA, summaries, over_tcp)[-1]
    assert "highest sending speed" not in last


@pytest.mark.parametrize(
    ("offered", "sent", "said"),
    [
        (1000, 1000, "arrived"),
        (1000, 995.1, "arrived"),
        (1000, 995, "offered arrived, and 0.50 % were not sent"),
        (1000, 900, "offered arrived, and 10.0 % were not sent"),
        (0, 900, "arrived"),
        (1000, 0, "arrived"),
    ],
)
def test_a_sender_that_fell_behind_is_told(offered: float, sent: float, said: str) -> None:
    top = summary(1e6, {"rate_bps": 4e6})
    own = [
        trial(top.factors, {"offered_messages": offered / 2, "sent_messages": sent / 2}),
        trial(top.factors, {"offered_messages": offered / 2, "sent_messages": sent / 2}),
    ]
    others = [trial({"rate_bps": 1e6}, {"offered_messages": 9e9, "sent_messages": 1.0})]
    assert answers._arrived(top, [*own, *others]).replace("10.00 %", "10.0 %") == said


def test_the_peak_of_a_simulated_sweep_lies_between_its_loads() -> None:
    """Where what is sent meets the line beyond saturation: at 250, 258 and 254."""
    loads = {
        100.0: (100.0, 100.0, 100.0),
        200.0: (200.0, 200.0, 200.0),
        300.0: (240.0, 250.0, 245.0),
        400.0: (220.0, 230.0, 225.0),
    }
    sweep = [
        summary(sum(own) / 3, {"rate_bps": load}, values=own, ci_low=1.0, ci_high=2.0)
        for load, own in loads.items()
    ]
    best = sweep[2]

    found = answers._peak(best, sweep)
    assert found.mean == pytest.approx((300 + 310 + 305) / 3 / 1.2)
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_low < 250 < found.mean < 258 < found.ci_high
    # Not known: of another metric, without loads, or of one trial only.
    other = [replace(one, metric="received_messages_per_s") for one in sweep]
    assert answers._peak(other[2], other) is other[2]
    alone = replace(best, factors={"flows": 1})
    assert answers._peak(alone, sweep) is alone
    lacking = [replace(sweep[0], values=(100.0, 50.0, 100.0)), *sweep[1:]]
    lacking[1] = replace(lacking[1], values=(200.0, 100.0, 200.0))
    assert answers._peak(best, lacking) is best
    single = [replace(one, values=one.values[:1]) for one in sweep]
    once = answers._peak(best, single)
    assert (once.mean, once.ci_low, once.ci_high) == (pytest.approx(250.0), None, None)


@pytest.mark.parametrize(
    ("means", "along", "said"),
    [
        ({128: 5e6, 256: 2e6, 512: 8e6}, "message_size_bytes",
         " was between 250.0 kB/s (256 B) and 1,000 kB/s (512 B), from 20.0 % to 80.0 % of what "
         "this Ethernet can carry at that size."),
        ({1: 5e6, 2: 2e6, 3: 0.0}, "flows",
         " was between 0 kB/s (flows 3) and 625.0 kB/s (flows 1), from 0.00 % to 50.0 % of what "
         "this Ethernet can carry."),
        ({128: 5e6}, "message_size_bytes",
         " was 625.0 kB/s (128 B), 50.0 % of what this Ethernet can carry."),
    ],
)  # fmt: skip
def test_a_range_has_its_ends_and_their_share_of_the_link(
    means: Mapping[int, float], along: str, said: str
) -> None:
    summaries = [summary(mean, {along: level}, limit=10e6) for level, mean in means.items()]
    [text] = answers._ranges(DATA, summaries, along)
    assert text.endswith(said)
    unlimited = [replace(one, limit=None) for one in summaries]
    [text] = answers._ranges(DATA, unlimited, along)
    assert "Ethernet" not in text


def with_simulation(**changes: Any) -> Study:
    simulation = Simulation().model_copy(update=changes)
    study = LOADED.study.model_copy(update={"simulation": simulation})
    experiments = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    return study.model_copy(update={"experiment": experiments})


PREDICTED = (Prediction(value="t2.cel_pen", simulated=2.0),)


@pytest.mark.parametrize(
    ("study", "is_told"),
    [
        (with_simulation(held_out=("t2.cel_pen",)), True),
        (with_simulation(prediction=PREDICTED), True),
        (with_simulation(), False),
        (LOADED.study, False),
        (STUDY, False),
    ],
)
def test_a_simulated_run_says_what_its_model_missed(
    study: Study, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "missed_in", lambda run, trials: f"missed of {run.id}")
    run = synthetic_run("milanovic-srbljic", "quick", most_trials=0).run
    stored = replace(run, status="done", study=study.model_dump(mode="json", exclude_none=True))
    said = answers.remark_sentences(RunData(stored, []), Analyses())
    assert said == ([f"missed of {run.id}"] if is_told else [])


def test_no_result_is_said_unless_an_analysis_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = replace(synthetic_run("milanovic-srbljic", "quick", most_trials=0).run, status="done")
    monkeypatch.setattr(answers, "_searches", lambda *_: [])
    assert answers.sentences(run, []) == [answers.NO_RESULT]
    assert answers.sentences(run, [], analyses=Analyses()) == [answers.NO_RESULT]

    def fail(*_: object) -> list[str]:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(answers, "_searches", fail)
    collected = Analyses()
    assert answers.sentences(run, [], analyses=collected) == []
    assert [answers.sentences(run, [])] == [collected.lines()]


def test_a_metric_that_counts_by_the_second_needs_no_unit() -> None:
    metric, factors = "files_created_and_removed_per_s", {"service": "ftp"}
    one = summary(512.8, factors, metric=metric, workload="metadata")
    assert answers._ranges(DATA, [one], "files") == [
        "Files created and removed a second over FTP were 512.8."
    ]
