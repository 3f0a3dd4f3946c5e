"""A run whose trials are simulated: from the plan to the report without any process."""

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made_up_ends import exchange_of, stream_received, stream_sent
from small_runs import Watching, a_store

from lanlab import performers
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import RunError
from lanlab.performers import OnProgress, SimulatedTrial
from lanlab.report.runs.build import build_report
from lanlab.run import RunRequest, new_run
from lanlab.studies.load import parse_study
from lanlab.studies.machine_numbers import NUMBERS, REQUIRED
from lanlab.testbeds import registry
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.loopback import LoopbackTestbed
from lanlab.workloads import CounterChanges, Progress, TrialOutcome, Workload

#: A message takes a host this long, and this long for each of its bytes.
MESSAGE_NS, BYTE_NS = 50_000, 800
SIZES = (64, 512, 1408)
_MADE = {"assumed": "made up for this test"}
#: The least that a machine must have; this simulator looks at none of it.
MACHINE = {
    "id": "made-up",
    "title": "a machine that is nowhere",
    "numbers": {name: {"value": NUMBERS[name].least, **_MADE} for name in REQUIRED},
}
STUDY: dict[str, Any] = {
    "schema": 1,
    "id": "simulated-sizes",
    "title": "Goodput against message size",
    "testbed": {"hosts": 2, "link": "100M"},
    "experiment": [
        {
            "id": "sizes",
            "title": "Goodput against message size",
            "workload": "stream",
            "on": ["simulated"],
            "metrics": ["goodput_bps"],
            "factors": {"message_size_bytes": list(SIZES)},
        }
    ],
    "simulation": {"machine": [MACHINE], "place": [{"machines": ["made-up", "made-up"]}]},
    "scale": {
        "quick": {
            "parameters": {"time_s": 1000, "warmup_s": 0},
            "trials": {"min": 3, "max": 3, "retry_failed": 1},
        }
    },
}


class VirtualBed(LoopbackTestbed):
    name = "virtual-time"

    def __init__(self, hosts: int, link: str) -> None:
        super().__init__(hosts, "unshaped")

    def counters(self) -> dict[str, dict[str, int]]:
        return {}


class Costs:
    """Sends as fast as the costs of a message allow, 0.1 % more or less."""

    def __init__(self, bed: Bed, trial: SimulatedTrial) -> None:
        self._random = random.Random(7)

    def perform(
        self, kind: Workload, parameters: Any, on_progress: OnProgress | None
    ) -> TrialOutcome:
        size = parameters.message_size_bytes
        if size == 512 and parameters.time_s == 13:
            return TrialOutcome(error=RunError("the world can go no further: both hosts wait"))
        time_ns = round(1e9 * parameters.time_s)
        each_ns = (MESSAGE_NS + BYTE_NS * size) * (1 + self._random.uniform(-0.001, 0.001))
        count = int(time_ns / each_ns)
        if on_progress is not None:
            on_progress(Progress(parameters.time_s, count, count * size, count))
        sent = stream_sent(
            elapsed_ns=time_ns, offered_messages=count, sent_messages=count, total_messages=count
        )
        received = stream_received(
            window_ns=time_ns,
            window_messages=count,
            window_bytes=count * size,
            measured_messages=count,
            total_messages=count,
            total_bytes=count * size,
        )
        return exchange_of(sent, received)

    def metrics(
        self, kind: Workload, parameters: Any, outcome: TrialOutcome, changes: CounterChanges
    ) -> dict[str, float | int]:
        return kind.summarise(parameters, outcome, changes)


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch) -> str:
    """A testbed of simulated hosts, on a machine that can start no process."""
    opened = {**registry.TESTBEDS, VirtualBed.name: VirtualBed}
    monkeypatch.setattr(registry, "TESTBEDS", opened)
    monkeypatch.setitem(performers.SIMULATORS, VirtualBed.name, Costs)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a simulated run started a process")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    # With one processor a report draws its figures itself.
    monkeypatch.setattr("lanlab.figures.drawing.usable_processors", lambda: 1)
    return VirtualBed.name


def request(bed: str, time_s: float = 1000) -> RunRequest:
    quick = {**STUDY["scale"]["quick"], "parameters": {"time_s": time_s, "warmup_s": 0}}
    study = parse_study({**STUDY, "scale": {"quick": quick}}, "simulated.toml")
    return RunRequest(study, "quick", bed, None, seed=1)


def test_a_simulated_run_goes_from_plan_to_report(bed: str, tmp_path: Path) -> None:
    watching = Watching()
    with a_store(tmp_path) as store:
        run = new_run(request(bed), store, watching)
        trials = store.trials(run.id)
    assert (run.status, len(trials)) == ("done", 9)
    for trial in trials:
        assert trial.raw["sender"]["kind"] == "stream_sent"
        assert trial.raw["receiver"]["kind"] == "stream_received"
        assert "pollution" not in trial.raw
        assert trial.elapsed_s < 10
    rows = RunData(run, trials).summaries("sizes", "goodput_bps")
    found = {row.factors["message_size_bytes"]: row.mean for row in rows}
    for size in SIZES:
        wanted = 8e9 * size / (MESSAGE_NS + BYTE_NS * size)
        assert found[size] == pytest.approx(wanted, rel=2e-3)
    paths = build_report([(run, trials)], tmp_path / "report")
    assert "Goodput against message size" in paths.html.read_text()


def test_a_simulation_that_fails_is_a_failed_trial(bed: str, tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(request(bed, time_s=13), store, Watching())
        failed = [trial for trial in store.trials(run.id) if trial.status == "failed"]
    assert run.status == "failed" and failed
    assert {trial.factors["message_size_bytes"] for trial in failed} == {512}
    assert failed[0].error is not None
    assert failed[0].error["message"] == "the world can go no further: both hosts wait"
