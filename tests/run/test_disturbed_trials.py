"""Disturbed trials in a run: kept, flagged, repeated, and the same after an interruption."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_runs import Interrupting, Watching, a_store, on_loopback, order_of, repeating_study

from lanlab.analysis.disturbances.detect import Finding, Judgement, judge, judgement_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import RunInterrupted
from lanlab.roles import ROLES
from lanlab.run import new_run, resume_run
from lanlab.run import trial as running

WORK = Finding("foreign_cpu", "sender", 0.9, 0.12, True)


class Judging:
    """In place of what this machine is really up to: trials are disturbed by their number."""

    def __init__(self, disturbed: set[int]) -> None:
        self._disturbed = disturbed
        self._judged = 0
        #: What it was asked with.
        self.hosts: list[Mapping[str, Mapping[str, Any]]] = []

    def __call__(
        self,
        raw: Mapping[str, Any],
        metrics: Mapping[str, float],
        hosts: Mapping[str, Mapping[str, Any]],
        others: Mapping[str, Mapping[str, Any]],
    ) -> Judgement:
        self.hosts.append(hosts)
        number, self._judged = self._judged, self._judged + 1
        return Judgement((WORK,) if number in self._disturbed else (), ())


def test_a_disturbed_trial_is_kept_and_repeated_at_the_end_of_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "judge", Judging({1, 5}))

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(repeating_study(1)), store, Watching())
        trials = store.trials(run.id)

    assert run.status == "done"
    assert [trial.block for trial in trials] == 6 * [0] + 5 * [1]
    assert [trial.number for trial in trials if trial.is_disturbed] == [1, 5]
    assert trials[5].factors == trials[1].factors
    repeated = trials[1].experiment
    metric = "goodput_bps" if repeated == "sizes" else "rtt_mean_ns"
    found = [s for s in RunData(run, trials).summaries(repeated, metric) if s.left_out]
    assert [(s.n, s.disturbed, s.left_out) for s in found] == [(2, 1, 1)]


DISTURBED = {0, 2, 5, 8}


@pytest.fixture(scope="module")
def whole_order(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch, a_store(tmp_path_factory.mktemp("whole")) as store:
        patch.setattr(running, "judge", Judging(DISTURBED))
        whole = new_run(on_loopback(repeating_study(2)), store, Watching())
        assert len(store.trials(whole.id)) == 10 + len(DISTURBED)
        return order_of(store.trials(whole.id))


@pytest.mark.parametrize("after", [1, 4, 6, 8])
def test_a_resumed_run_makes_the_outstanding_repeats(
    after: int, whole_order: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_store(tmp_path) as store:
        monkeypatch.setattr(running, "judge", Judging(DISTURBED))
        with pytest.raises(RunInterrupted):
            new_run(on_loopback(repeating_study(2)), store, Interrupting(after))
        resumed = resume_run(store.run("last").id, store, Watching())

        assert order_of(store.trials(resumed.id)) == whole_order


def test_a_trial_is_judged_only_by_its_record(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(repeating_study(0)), store, Watching())
        trials = store.trials(run.id)

    facts = run.testbed["facts"]["hosts"]
    hosts = [facts[name] | {"name": name} for name in ("host0", "host1")]
    assert all(host["processors_online"] >= 1 for host in hosts)
    by_role = {name: dict(zip(roles, hosts, strict=True)) for name, roles in ROLES.items()}
    for trial in trials:
        assert judgement_of(trial.raw) == judge(trial.raw, trial.metrics, by_role[trial.workload])


def test_records_hold_facts_that_reveal_disturbances(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(repeating_study(0)), store, Watching())
        trial = store.trials(run.id)[0]

    for moment in ("before", "after"):
        facts = trial.raw["facts"][moment]["hosts"]["host0"]
        assert facts["load_average"] >= 0
        assert facts["threads_running"] >= 1
        assert facts["memory_available_bytes"] > 0
        assert "tcp-segmentation-offload" in facts["offloads"]["lo"]
        assert {"clock_source", "governor", "congestion_control", "cpu_pressure_ratio"} <= set(
            facts
        )
