"""Stations on modelled machines, each on its own: all is compared, and seeds decide all."""

import json
from pathlib import Path
from typing import Any

import pytest
from modelled_studies import WHY, modelled_study
from small_runs import Watching, a_store
from test_simulated_copies import FILES, trials_of
from test_simulated_worlds import record_of

from lanlab.errors import UsageError
from lanlab.performers.simulated import simulate_request
from lanlab.plan.plan import Plan
from lanlab.run import RunRequest, new_run
from lanlab.run.simulated import check_worlds, trial_on
from lanlab.studies.machines import Simulation, known_machine
from lanlab.studies.model import Study
from lanlab.testbeds import worlds
from lanlab.workloads import workload

BLOCK_BYTES = 750
READINGS = 12


def study(**parameters: Any) -> Any:
    """One and three stations that read or write at a server with a disk."""
    parameters = {
        "service": "smb1+nbf",
        "message_size_bytes": BLOCK_BYTES,
        "file_size_bytes": 10 * BLOCK_BYTES,
        "readings_per_station": READINGS,
        **parameters,
    }
    factors = {"stations": [1, 3], "operation": ["read", "write"]}
    return modelled_study("stations", "response_mean_ns", FILES, parameters, factors)


def test_each_station_has_its_machine_and_a_repeated_trial_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for processors in (1, 3):
        monkeypatch.setattr(worlds, "usable_processors", lambda n=processors: n)
        trials = trials_of(tmp_path, RunRequest(study(), "quick", "simulated", None, 7))
        found.append(json.dumps([record_of(trial) for trial in trials], sort_keys=True))
    assert found[0] == found[1]
    assert len(trials) == 2 * 4
    for trial in trials:
        stations = int(trial.factors["stations"])
        client, world = trial.raw["client"], trial.raw["setup"]["world"]
        assert client["readings_count"] == stations * READINGS
        assert client["bytes"] == stations * READINGS * BLOCK_BYTES
        is_read = trial.factors["operation"] == "read"
        compared = READINGS if is_read else min(READINGS, 4)
        assert client["checked"]["blocks"] == stations * compared
        assert trial.metrics["wrong_data"] == 0 and client["errors"] == {}
        # Each station's machine has sent requests, and the server's answered all of them.
        assert len(world["hosts"]) == stations + 1
        assert all(host["sent_frames"] > READINGS for host in world["hosts"])
        # What is written may lie in the cache still.
        assert (world["hosts"][-1]["store"]["disk_accesses"] > 0) or not is_read
    # Of a server with one disk and a bus, three stations each wait longer than one does.
    means = {
        stations: min(
            trial.metrics["response_mean_ns"]
            for trial in trials
            if (trial.factors["stations"], trial.factors["operation"]) == (stations, "read")
        )
        for stations in (1, 3)
    }
    assert means[3] > means[1]


def test_more_stations_than_fit_64_kib_of_request_are_simulated(tmp_path: Path) -> None:
    asked = study(readings_per_station=1, service="smb1")
    (experiment,) = asked.experiment
    factors = {"stations": (255,), "operation": ("read",)}
    one = asked.model_copy(
        update={"experiment": (experiment.model_copy(update={"factors": factors}),)}
    )

    trial = trials_of(tmp_path, RunRequest(one, "quick", "simulated", None, 1))[0]
    assert trial.status == "done", trial.raw
    assert len(trial.raw["setup"]["world"]["hosts"]) == 256


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"service": "memory"},
            "service: found `memory`; allowed on testbed `simulated`: ftp, smb1",
        ),
        ({"levels": 256}, "stations: found 256; allowed on testbed `simulated`: 1 to 255, each on"),
        ({"link": "10M"}, "link `10M` is a cable, which joins 2 machines; found 3"),
    ],
)
def test_unsupported_simulations_are_refused_before_anything_is_stored(
    tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    levels, link = changes.pop("levels", None), changes.pop("link", None)
    asked = study(**changes)
    if levels is not None:
        (experiment,) = asked.experiment
        factors = {**experiment.factors, "stations": (levels,)}
        asked = asked.model_copy(
            update={"experiment": (experiment.model_copy(update={"factors": factors}),)}
        )
    with a_store(tmp_path) as store, pytest.raises(UsageError) as found:
        new_run(RunRequest(asked, "quick", "simulated", link, 1), store, Watching())
    assert found.value.message.startswith(expected)
    assert not (tmp_path / "store.sqlite").exists()


def test_stations_beyond_the_sessions_of_the_server_are_refused() -> None:
    asked = study()
    assert asked.simulation is not None
    given = asked.simulation.model_dump(exclude_none=True)

    def limited(most: int) -> Study:
        given["machine"][0]["numbers"]["sessions"] = {"value": most, **WHY}
        changed: Study = asked.model_copy(update={"simulation": Simulation.model_validate(given)})
        return changed

    enough = limited(3)
    check_worlds(enough, Plan(enough, "quick", 1).conditions(), "10M:bus")
    few = limited(2)
    with pytest.raises(UsageError) as found:
        check_worlds(few, Plan(few, "quick", 1).conditions(), "10M:bus")
    assert found.value.message == "stations: found 3; allowed: 1 to 2, the sessions of `pc`"


def test_stations_retry_like_their_machine() -> None:
    asked = study(timeout_s=7.0, retries=1)

    def spec_of(numbers: dict[str, float]) -> dict[str, Any]:
        given = asked.simulation.model_dump(exclude_none=True)
        given["machine"][0]["numbers"] |= {n: {"value": v, **WHY} for n, v in numbers.items()}
        simulation = Simulation.model_validate(given)
        machines = [known_machine(simulation, "pc")] * 2
        kind = workload("stations")
        values = Plan(asked, "quick", 1).conditions()[0].values
        work = simulate_request(kind, values, trial_on(machines, "10M:bus", 1))["work"]
        spec: dict[str, Any] = work["spec"]
        return spec

    usual = spec_of({})
    assert (usual["service"]["timeout_ns"], usual["retries"]) == (7_000_000_000, 1)
    impatient = spec_of({"patience_ms": 250, "retries": 4})
    assert (impatient["service"]["timeout_ns"], impatient["retries"]) == (250_000_000, 4)
    assert impatient["until"] == usual["until"]
    assert "options" not in impatient["service"]
    waiting = spec_of({"patience_ms": 250, "waits_on": 1})["service"]
    assert waiting["options"] == {waiting["service"]: {"waits_on": True}}
