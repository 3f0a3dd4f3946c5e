"""Failed trials in a run: what their record has, and what becomes of what made them fail."""

import dataclasses
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from noted_engines import NotedEngines
from small_runs import (
    Watching,
    a_store,
    alive,
    on_loopback,
    slow_study,
    small_study,
)

from lanlab.errors import (
    EngineError,
    EngineLost,
    RunError,
    UnmetNeed,
)
from lanlab.errors import TestbedDamaged as Damaged
from lanlab.run import new_run, open_testbed, resume_run
from lanlab.run import trial as trials
from lanlab.run.trial import cause_of, error_record, retry_helps
from lanlab.testbeds.loopback import LoopbackTestbed


def test_the_record_of_a_failed_trial_has_all_known_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = NotedEngines(tmp_path)
    monkeypatch.setenv("LANLAB_ENGINE", str(engines.program))
    watching = Watching()
    watching.in_mid_trial = lambda: engines.kill(1)

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(slow_study()), store, watching)
        failed, *others = store.trials(run.id)

    assert failed.error == {
        "code": "EngineLost",
        "message": "host1: the engine was ended by signal 9",
        "hint": None,
        "host": "host1",
        "end": "receiver",
        "retry_helps": True,
    }
    assert failed.parameters["time_s"] == 1.5 and failed.factors and failed.metrics == {}
    assert failed.raw["sender"]["kind"] == "stream_sent"
    assert 0 < failed.raw["sender"]["total_messages"] < 1.5 * 1e6 / 800
    assert "receiver" not in failed.raw
    assert failed.raw["progress"]["messages"] > 0
    assert failed.raw["setup"]["requests"]["receiver"]["type"] == "stream_receive"
    assert {"before", "after"} <= failed.raw["facts"].keys()
    # The other end is not waited for until its silence limit.
    assert failed.raw["sender"]["ended_by"] != "silence"
    assert failed.elapsed_s > 0.1
    assert [trial.status for trial in others] == ["done", "done"]


def test_a_hanging_engine_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanlab.performers.engine_host.CANCEL_S", 0.5)
    engines = NotedEngines(tmp_path)
    monkeypatch.setenv("LANLAB_ENGINE", str(engines.program))
    watching = Watching()
    watching.in_mid_trial = lambda: os.kill(engines.pids()[0], signal.SIGSTOP)

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(slow_study()), store, watching)
        failed, *others = store.trials(run.id)

    assert failed.error is not None
    assert failed.error["message"] == (
        "host0: the engine did not answer within 0.5 s and was ended"
    )
    assert failed.raw["receiver"]["kind"] == "stream_received"
    assert [trial.status for trial in others] == ["done", "done"]
    assert len(engines.pids()) == 3
    assert not any(alive(pid) for pid in engines.pids())


def test_a_damaged_testbed_is_rebuilt_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[LoopbackTestbed] = []

    class Fragile(LoopbackTestbed):
        def damage(self) -> str | None:
            made.append(self)
            return "host1: somebody fell over the cable" if len(made) == 3 else None

    monkeypatch.setattr(open_testbed, "testbed", lambda _, hosts, link: Fragile(hosts, link))

    with a_store(tmp_path) as store:
        run = new_run(on_loopback(small_study()), store, Watching())
        trials = store.trials(run.id)

    assert run.status == "done"
    assert trials[2].is_disturbed
    assert trials[2].raw["facts"]["after"]["damage"] == "host1: somebody fell over the cable"
    for trial in trials:
        told = trial.raw["facts"].get("testbed")
        expected = {"made": 2, "because": "host1: somebody fell over the cable"}
        assert told == (expected if trial.number > 2 else None)
    assert len(set(map(id, made))) == 2


def test_a_run_whose_testbed_cannot_be_rebuilt_ends_resumable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beds: list[LoopbackTestbed] = []

    class Broken(LoopbackTestbed):
        def __init__(self, hosts: int, link: str) -> None:
            if beds:
                raise UnmetNeed("no more namespaces", hint="free some")
            super().__init__(hosts, link)
            beds.append(self)

        def damage(self) -> str | None:
            return "host0: gone"

    with a_store(tmp_path) as store:
        with monkeypatch.context() as patched:
            patched.setattr(open_testbed, "testbed", lambda _, hosts, link: Broken(hosts, link))
            with pytest.raises(RunError) as ended:
                new_run(on_loopback(small_study()), store, Watching())
        run = store.run("last")

        assert ended.value.message == (
            "the testbed was damaged (host0: gone) and cannot be set up again: no more namespaces"
        )
        assert ended.value.hint == "free some"
        assert (run.status, len(store.trials(run.id))) == ("interrupted", 1)
        assert resume_run(run.id, store, Watching()).status == "done"


@pytest.mark.parametrize(
    ("code", "helps"),
    [
        ("peer.gone", True),
        ("peer.unreachable", True),
        ("bind.in_use", True),
        ("system.call", True),
        ("arm.late", True),
        ("engine.defect", True),
        ("request.value", False),
        ("socket.option", False),
        ("socket.congestion_control", False),
        ("system.permission", False),
    ],
)
def test_only_deterministic_refusals_are_not_retried(code: str, helps: bool) -> None:
    assert retry_helps(EngineError(code, "host0: as it says")) is helps


def test_missing_requirements_are_not_retried() -> None:
    assert not retry_helps(UnmetNeed("no such tool"))
    assert retry_helps(EngineLost("host0: gone"))


def test_the_root_cause_is_reported() -> None:
    silent = EngineError("peer.gone", "host1: the other host stopped answering", host="host1")
    lost = EngineLost("host0: the engine was ended by signal 9", host="host0")
    refused = EngineError("request.value", "host0: not allowed", host="host0")

    assert cause_of(silent, None, None) is silent
    assert cause_of(silent, lost, None) is lost
    damaged = cause_of(silent, lost, "host0: the interface eth0 is gone")
    assert isinstance(damaged, Damaged)
    assert damaged.message == (
        "host0: the interface eth0 is gone; seen as: host0: the engine was ended by signal 9"
    )
    # What is refused is refused on any testbed.
    assert cause_of(refused, None, "host0: the interface eth0 is gone") is refused
    ends = {"host0": "sender", "host1": "receiver"}
    assert (error_record(silent, ends)["host"], error_record(silent, ends)["end"]) == (
        "host1",
        "receiver",
    )
    assert error_record(RunError("somewhere"), ends)["end"] is None


@pytest.mark.parametrize(
    "intervals",
    [
        {"interval_ns": 2**62, "bytes": [1, 2, 3], "messages": [1, 2, 3]},
        {"interval_ns": 10, "bytes": [2**63], "messages": [1]},
        {"interval_ns": 10, "bytes": [1, 2], "messages": [1]},
    ],
)
def test_unstorable_numbers_fail_only_their_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, intervals: dict[str, object]
) -> None:
    real, changed = trials.run_trial, []

    def run_trial(*arguments: Any) -> Any:
        record = real(*arguments)
        if not changed:
            changed.append(record.number)
            raw = record.raw | {"receiver": record.raw["receiver"] | {"intervals": intervals}}
            record = dataclasses.replace(record, raw=raw)
        return record

    monkeypatch.setattr("lanlab.run.runner.run_trial", run_trial)
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(small_study()), store, Watching())
        failed, *others = store.trials(run.id)
        assert failed.status == "failed" and failed.error is not None
        assert failed.error["message"].startswith("invalid message from an engine: ")
        assert "series `receiver-intervals`" in failed.error["message"]
        assert "receiver" not in failed.raw and "facts" in failed.raw
        assert {trial.status for trial in others} == {"done"}
