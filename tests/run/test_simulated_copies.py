"""Copies between modelled machines: repeated exactly, over every carrier, and refused in time."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from modelled_studies import modelled_study
from small_runs import Watching, a_store
from test_simulated_worlds import record_of

from lanlab.analysis.simulation.limiting import limiting
from lanlab.errors import UsageError
from lanlab.run import RunRequest, new_run
from lanlab.store import TrialRecord
from lanlab.testbeds import worlds

#: Of a PC with a disk of 4 ms a turn, at both ends.
FILES = {
    "send_call_us": 50,
    "jitter_ratio": 0.2,
    "file_open_us": 500,
    "cache_blocks": 64,
    "read_ahead_blocks": 4,
    "write_behind_blocks": 8,
    "disk_turn_ms": 4,
    "disk_seek_ms": 1,
    "disk_cylinders": 1000,
    "disk_heads": 4,
    "disk_sectors_per_track": 32,
}
SERVICES = ["ftp", "smb1", "smb1+nbf"]


def study(**parameters: Any) -> Any:
    parameters = {"dataset": "3x20kB", "depth": 1, **parameters}
    factors = {"service": SERVICES, "direction": ["upload", "download"]}
    return modelled_study("copy", "goodput_bps", FILES, parameters, factors)


def trials_of(tmp_path: Path, asked: RunRequest) -> list[TrialRecord]:
    with a_store(tmp_path) as store:
        run = new_run(asked, store, Watching())
        trials = store.trials(run.id)
        assert run.status == "done", [trial.error for trial in trials]
        return trials


def test_a_simulated_copy_moves_every_byte_reproducibly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for processors in (1, 3):
        monkeypatch.setattr(worlds, "usable_processors", lambda n=processors: n)
        trials = trials_of(tmp_path, RunRequest(study(), "quick", "simulated", None, 7))
        found.append(json.dumps([record_of(trial) for trial in trials], sort_keys=True))
        for trial in trials:
            assert trial.metrics["copied_bytes"] == 60_000
            client = trial.raw["client"]
            assert client["verified"] == {"how": "content", "files": 3, "bytes": 60_000}
            assert client["file_times"] == {"series": "client-files"}
            hosts = trial.raw["setup"]["world"]["hosts"]
            assert all(host["store"]["disk_accesses"] > 0 for host in hosts)
            assert trial.metrics["server_cpu_s"] > 0
    assert found[0] == found[1]
    assert len(trials) == 2 * 6
    # Replications have seeds of their own.
    assert len({trial.metrics["elapsed_ns"] for trial in trials}) == 12


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"dataset": "dir:HERE"}, "dataset: found `dir:HERE`; allowed on testbed `simulated`"),
        ({"service": "sftp"}, "service: found `sftp`; allowed on testbed `simulated`: ftp, smb1"),
    ],
)
def test_unsupported_simulations_are_refused_before_anything_is_stored(
    tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    changes = {key: value.replace("HERE", str(tmp_path)) for key, value in changes.items()}
    asked = study(**{key: value for key, value in changes.items() if key != "service"})
    if "service" in changes:
        (experiment,) = asked.experiment
        factors = {**experiment.factors, "service": ("smb1", changes["service"])}
        asked = asked.model_copy(
            update={"experiment": (experiment.model_copy(update={"factors": factors}),)}
        )
    with a_store(tmp_path) as store, pytest.raises(UsageError, match="allowed on testbed") as found:
        new_run(RunRequest(asked, "quick", "simulated", None, 1), store, Watching())
    assert found.value.message.startswith(expected.replace("HERE", str(tmp_path)))
    assert not (tmp_path / "store.sqlite").exists()


def test_the_busiest_part_limits_a_copy(tmp_path: Path) -> None:
    asked = study()
    (experiment,) = asked.experiment
    factors = {"service": ("smb1",), "direction": ("download",)}
    one = asked.model_copy(
        update={"experiment": (experiment.model_copy(update={"factors": factors}),)}
    )
    trial = trials_of(tmp_path, RunRequest(one, "quick", "simulated", None, 1))[0]
    found = limiting(trial)
    assert found == "mostly wire"

    def cause(**changed: int) -> str:
        world = json.loads(json.dumps(trial.raw["setup"]["world"]))
        client, server = world["hosts"]
        for name, value in changed.items():
            if name == "bus_busy_ns":
                world[name] = value
            else:
                place, _, key = name.partition("__")
                host = {"client": client, "server": server}[place]
                (host["store"] if key in host["store"] else host)[key] = value
        raw = {**trial.raw, "setup": {**trial.raw["setup"], "world": world}}
        limit = limiting(replace(trial, raw=raw))
        assert limit is not None
        return limit

    whole_ns = trial.raw["setup"]["world"]["virtual_ns"]
    assert cause(server__program_ns=whole_ns) == "server's processor"
    assert cause(client__interrupt_ns=whole_ns) == "client's processor"
    assert cause(bus_busy_ns=whole_ns) == "wire"
    assert cause(server__disk_busy_ns=whole_ns, server__cache_misses=0) == "server's disk"
    misses = trial.raw["setup"]["world"]["hosts"][1]["store"]["disk_accesses"]
    assert cause(server__disk_busy_ns=whole_ns, server__cache_misses=misses) == "cache misses"
