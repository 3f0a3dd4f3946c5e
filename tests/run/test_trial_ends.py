"""One trial: what is of the sending host stays apart from what is of the receiving one."""

from types import SimpleNamespace
from typing import Any

import pytest

from lanlab.plan.plan import PlannedTrial
from lanlab.run.open_testbed import LostServers
from lanlab.run.trial import run_trial
from lanlab.store import RunRecord, TrialRecord
from lanlab.workloads import TrialOutcome
from lanlab.workloads.stream.parameters import StreamParameters

PLANNED = PlannedTrial(
    "e",
    "stream",
    {"b": 1},
    StreamParameters(time_s=1.0),
    1.0,
    number=7,
    block=3,
    purpose="curve",
    repeats=2,
)


class TwoHosts:
    def __init__(self) -> None:
        self._drops = iter([(10, 20), (13, 27)])

    def revive(self) -> None:
        """All are there."""

    def passing_facts(self) -> dict[str, Any]:
        first, second = next(self._drops)
        return {
            "hosts": {},
            "counters": {"host0/eth0": {"drops": first}, "host1/eth0": {"drops": second}},
        }

    def lasting_facts(self) -> dict[str, dict[str, Any]]:
        return {"host1": {"cpus": 2}, "host0": {"cpus": 1}}


def trial_between_two(monkeypatch: pytest.MonkeyPatch, judged: list[Any]) -> TrialRecord:
    class Performer:
        def perform(self, kind: Any, parameters: Any, on_progress: Any) -> TrialOutcome:
            return TrialOutcome({"receiver": {"received": 8}, "sender": {"sent": 9}}, {"how": "so"})

        def metrics(self, *given: Any) -> dict[str, int]:
            changes = given[-1]
            return {role: changes.of(role)["drops"] for role in ("sender", "receiver")}

    def judge(raw: Any, metrics: Any, hosts: Any, others: Any) -> Any:
        judged.append(hosts)
        return SimpleNamespace(to_json=dict)

    kind = SimpleNamespace(Parameters=StreamParameters, roles=("sender", "receiver"))
    monkeypatch.setattr("lanlab.run.trial.workload", lambda name: kind)
    monkeypatch.setattr("lanlab.run.trial.judge", judge)
    hosts = [
        SimpleNamespace(name=f"host{index}", label=f"host{index}", raw_link=None)
        for index in range(2)
    ]
    bed = SimpleNamespace(hosts=hosts, start_lead_s=0.1, damage=lambda: None)
    site: Any = SimpleNamespace(
        bed=bed,
        hosts=TwoHosts(),
        made_because=None,
        lost=LostServers(),
        is_simulated=False,
        performer=lambda parameters: Performer(),
    )
    run_record = RunRecord("r", "s", {}, "quick", 1, {}, {}, "running", "now")
    return run_trial(run_record, PLANNED, site, lambda progress: None)


def test_sender_and_receiver_have_their_own_results(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Any] = []
    trial = trial_between_two(monkeypatch, judged)

    assert trial.metrics == {"sender": 13 - 10, "receiver": 27 - 20}
    assert trial.raw["setup"] == {"how": "so"}
    assert (trial.raw["sender"], trial.raw["receiver"]) == ({"sent": 9}, {"received": 8})
    first, second = {"cpus": 1, "name": "host0"}, {"cpus": 2, "name": "host1"}
    assert judged == [{"sender": first, "receiver": second}]
    assert list(judged[0]) == ["sender", "receiver"]
    counted = [trial.raw["facts"][when]["counters"] for when in ("before", "after")]
    assert [one["host0/eth0"]["drops"] for one in counted] == [10, 13]


def test_a_record_names_its_planned_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_between_two(monkeypatch, [])

    assert (trial.number, trial.block, trial.purpose) == (7, 3, "curve")
    assert (trial.experiment, trial.workload, trial.run_id) == ("e", "stream", "r")
    assert (trial.factors, trial.parameters) == (
        {"b": 1},
        StreamParameters(time_s=1.0).model_dump(exclude_none=True),
    )
