"""Parts of the answer's sentences, each by a table of what they are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from answered import sentences
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.number_text import number
from lanlab.report.answer import answers
from lanlab.report.trials.analyses import Analyses
from lanlab.store import Level, TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.machines import Prediction, Simulation
from lanlab.studies.model import Study

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
        summary(rate * flows / 10, {"rate_bps": load, "flows": flows}, limit=20e6)
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
    assert [
        text.partition(" was ")[2].partition(" (of the 125, 250 and 500 kB/s tried)")[0]
        for text in said
    ] == [f"{number(18.75 * flows, 4)} kB/s" for flows in told]
    assert said[-1].endswith(
        "; at 500 kB/s, the highest speed offered, 30.0 % of the messages arrived."
    )
    assert "highest sending speed" not in said[0]
    over_tcp = [replace(one, parameters={"transport": "tcp"}) for one in trials]
    last = answers._greatest(DATA, summaries, over_tcp)[-1]
    assert "highest sending speed" not in last


@pytest.mark.parametrize(("share", "said"), [(0.998, "at least 499.0 kB/s"), (0.98, "490.0 kB/s")])
def test_a_highest_rate_is_a_lower_bound_if_all_that_was_offered_arrived(
    share: float, said: str
) -> None:
    sweep = [summary(share * load, {"rate_bps": load}) for load in LOADS]
    [text] = answers._greatest(DATA, sweep, [])
    assert f" was {said} (of the 125, 250 and 500 kB/s tried)" in text


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


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ({128: 5e6, 256: 2e6, 512: 8e6},
         "250.0 kB/s (256 B) to 1,000 kB/s (512 B)."),
        ({128: 5e6}, "625.0 kB/s (128 B), 50.0 % of what this Ethernet can carry."),
    ],
)  # fmt: skip
def test_the_means_have_their_ends_and_their_share_of_the_link(
    means: Mapping[int, float], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [summary(m, {"message_size_bytes": level}, limit=10e6) for level, m in means.items()]
    monkeypatch.setattr(answers, "_with_mean", lambda *_: own)
    monkeypatch.setattr(answers, "_is_sweep", lambda _: False)
    assert answers._extremes(DATA, DATA.experiments[0].experiment) == [
        f"{DATA.experiments[0].experiment.title}: receiving speed: {said}"
    ]


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
    monkeypatch.setattr(answers, "missed_sentence", lambda *_: "missed")
    run = synthetic_run("milanovic-srbljic", "quick", most_trials=0).run
    stored = replace(run, status="done", study=study.model_dump(mode="json", exclude_none=True))
    said = answers.remark_sentences(RunData(stored, []), Analyses())
    assert said == (["missed"] if is_told else [])


def test_no_result_is_said_unless_an_analysis_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = replace(synthetic_run("milanovic-srbljic", "quick", most_trials=0).run, status="done")
    monkeypatch.setattr(answers, "_searches", lambda *_: [])
    assert sentences(run, []) == [answers.NO_RESULT]
    assert sentences(run, [], analyses=Analyses()) == [answers.NO_RESULT]
    ended = replace(run, status="failed")
    assert sentences(ended, [])[0] == answers.NO_RESULT

    def fail(*_: object) -> list[str]:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(answers, "_searches", fail)
    collected = Analyses()
    assert sentences(run, [], analyses=collected) == []
    assert [sentences(run, [])] == [collected.lines()]
