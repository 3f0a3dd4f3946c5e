"""Runs from their beginning: what is kept, and what goes wrong in their trials."""

from pathlib import Path

import pytest
from noted_engines import NotedEngines
from small_runs import (
    Watching,
    a_store,
    alive,
    on_loopback,
    order_of,
    slow_study,
    small_study,
)

from lanlab import __version__
from lanlab.errors import UsageError
from lanlab.roles import ROLES
from lanlab.run import new_run
from lanlab.run import runner as running
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study

Kept = tuple[RunRecord, list[TrialRecord], Watching]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    watching = Watching()
    folder = tmp_path_factory.mktemp("kept")
    with a_store(folder) as store:
        run = new_run(on_loopback(small_study()), store, watching)
    with a_store(folder) as store:
        assert store.run("last") == run
        return run, store.trials(run.id), watching


def test_every_trial_is_kept_in_the_order_of_the_plan(kept: Kept) -> None:
    _, trials, watching = kept

    assert trials == watching.ended
    assert [trial.number for trial in trials] == list(range(10))
    assert [trial.block for trial in trials] == 5 * [0] + 5 * [1]
    assert [t.factors for t in trials] == [dict(planned.factors) for planned in watching.planned]
    assert {trial.status for trial in trials} == {"done"}


def test_a_run_record_has_everything_to_repeat_it(kept: Kept) -> None:
    run, _, watching = kept

    assert Study.model_validate(run.study) == small_study()
    assert (run.scale, run.seed, run.status) == ("quick", 1, "done")
    assert (run.testbed["name"], run.testbed["link"]) == ("loopback", "unshaped")
    assert run.testbed["link_rate_bps"] is None
    for host in ("host0", "host1"):
        facts = run.testbed["facts"]["hosts"][host]
        assert facts["processors"] >= 1
        assert {"system", "kernel", "boot_id", "memory_bytes"} <= facts.keys()
    assert run.versions["lanlab"] == __version__
    assert {"lanlab-engine", "python"} <= run.versions.keys()
    assert run.ended_at is not None and run.started_at < run.ended_at
    assert watching.run is not None
    assert watching.run.status == "running"


def test_every_trial_has_its_parameters_requests_results_and_facts(kept: Kept) -> None:
    run, trials, _ = kept

    for trial in trials:
        assert trial.run_id == run.id
        assert run.started_at < trial.started_at
        assert trial.elapsed_s > 0
        assert trial.factors.items() <= trial.parameters.items()
        assert 50 in (trial.parameters.get("messages"), trial.parameters.get("requests"))
        for end in ROLES[trial.workload]:
            assert trial.raw[end]["kind"]
            request = trial.raw["setup"]["requests"][end]
            # Worth nothing once the trial is over, and nobody's business.
            assert request and "session" not in request
        assert trial.raw["setup"]["start_attempts"] >= 1
        for when in ("before", "after"):
            facts = trial.raw["facts"][when]
            assert facts["hosts"].keys() == {"host0", "host1"}
            assert all(
                host and "unknown" not in host and "kernel" not in host
                for host in facts["hosts"].values()
            )
            assert "counters" in facts


def test_trials_have_their_metrics(kept: Kept) -> None:
    _, trials, _ = kept

    for trial in trials:
        metric = "goodput_bps" if trial.experiment == "sizes" else "rtt_mean_ns"
        assert trial.metrics[metric] > 0


def test_without_a_seed_one_is_drawn_and_kept(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(slow_study(0.05), seed=None), store, Watching())
        again = new_run(on_loopback(slow_study(0.05), seed=run.seed), store, Watching())

        assert run.id != again.id
        assert order_of(store.trials(run.id)) == order_of(store.trials(again.id))


@pytest.mark.parametrize("host", [0, 1])
def test_an_engine_killed_in_mid_trial_costs_that_trial_only(
    host: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = NotedEngines(tmp_path)
    monkeypatch.setenv("LANLAB_ENGINE", str(engines.program))
    watching = Watching()
    watching.in_mid_trial = lambda: engines.kill(host)

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(slow_study()), store, watching)
        failed, *others = store.trials(run.id)

    assert failed.status == "failed"
    assert failed.metrics == {}
    assert failed.error is not None
    assert failed.error["code"] == "EngineLost"
    assert failed.error["message"] == f"host{host}: the engine was ended by signal 9"
    assert "unknown" in failed.raw["facts"]["after"]["hosts"][f"host{host}"]
    assert [trial.status for trial in others] == ["done", "done"]
    assert "unknown" not in others[0].raw["facts"]["before"]["hosts"][f"host{host}"]
    assert run.status == "done"
    assert len(engines.pids()) == 3
    assert not any(alive(pid) for pid in engines.pids())


def test_a_refused_condition_is_given_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the machine had had it when the run began.
    monkeypatch.setattr(running, "check_machine", lambda *_: None)
    study = small_study(transport="tcp", congestion_control="nonesuch")

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(study), store, Watching())
        trials = store.trials(run.id)

        with pytest.raises(UsageError, match="is complete"):
            running.resume_run(run.id, store, Watching())
        assert store.run(run.id).status == "failed"

    assert run.status == "failed"
    for size in (50, 100, 200):
        of_size = {"message_size_bytes": size}
        own = [t for t in trials if t.factors == of_size and t.experiment == "sizes"]
        assert [trial.status for trial in own] == ["failed"]
        error = own[0].error
        assert error is not None and "nonesuch" in error["message"]
        assert (error["code"], error["retry_helps"]) == ("socket.congestion_control", False)
    assert [t.status for t in trials if t.experiment == "round-trips"] == 4 * ["done"]


def test_a_missing_ip_version_is_refused_before_anything_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.testbeds.loopback.has_ipv6", lambda: False)

    with a_store(tmp_path) as store, pytest.raises(UsageError) as refused:
        new_run(on_loopback(small_study(ip_version=6)), store, Watching())

    assert refused.value.message == (
        "experiment `sizes` needs IPv6, which host0, host1 of testbed `loopback` does not have"
    )
    assert list(tmp_path.iterdir()) == []
