"""Stations between engines: what is measured at every service, found wrong, left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copying import working_directories
from file_servers import EMBEDDED, SECRET, Relay, Served
from pydantic import ValidationError
from trial_running import LEAD_S, OnProgress, Pair

from lanlab.engine import Engine, engine_path
from lanlab.errors import EngineError, RunError, UnmetNeed
from lanlab.performers import EngineHost
from lanlab.performers.engines import conduct
from lanlab.store import TrialRecord, take_intervals
from lanlab.workloads import WORKLOADS, CounterChanges, Progress, TrialOutcome
from lanlab.workloads.services import server_url
from lanlab.workloads.stations.parameters import StationsParameters

pytestmark = pytest.mark.usefixtures("cache")


def run(
    pair: Pair,
    others: tuple[EngineHost, ...] = (),
    on_progress: OnProgress | None = None,
    **parameters: Any,
) -> TrialOutcome:
    kind = WORKLOADS["stations"]
    asked = {"message_size_bytes": 750, "file_size_bytes": 7500, "readings_per_station": 40}
    condition = kind.Parameters.model_validate({**asked, **parameters})
    hosts = {"client": [pair.end(0), *others], "server": [pair.end(1)]}
    return conduct(kind.steps(condition), hosts, LEAD_S, on_progress)


def once_after(operations: int, act: Callable[[], None]) -> OnProgress:
    is_done = False

    def on_progress(progress: Progress) -> None:
        nonlocal is_done
        if progress.messages >= operations and not is_done:
            is_done = True
            act()

    return on_progress


def metrics_of(exchange: TrialOutcome) -> dict[str, float | int]:
    if exchange.error is not None:
        raise exchange.error
    kind = WORKLOADS["stations"]
    return kind.summarise(StationsParameters(), exchange, CounterChanges())


def told(exchange: TrialOutcome) -> dict[str, Any]:
    return exchange.results["client"]


@pytest.mark.parametrize("service", ["directory", "memory", *EMBEDDED])
@pytest.mark.parametrize("operation", ["read", "write", "mix"])
def test_every_service_serves_stations(pair: Pair, service: str, operation: str) -> None:
    exchange = run(pair, service=service, operation=operation, stations=3, access="random")
    metrics = metrics_of(exchange)
    readings = told(exchange)["readings"]

    assert len(readings["station"]) == 120
    assert np.bincount(readings["station"]).tolist() == [40, 40, 40]
    assert (np.diff(readings["start_ns"]) >= 0).all()
    assert (readings["end_ns"] > readings["start_ns"]).all()
    assert (readings["outcome"] == 0).all(), told(exchange)["errors"]
    assert (readings["bytes"] == 750).all()
    assert readings["offset_bytes"].max() < 7500
    kinds = set(readings["operation"].tolist())
    assert kinds == {"read": {0}, "write": {1}, "mix": {0, 1}}[operation]
    assert metrics["stations"] == 3
    assert (metrics["errors"], metrics["wrong_data"], metrics["ended_stations"]) == (0, 0, 0)
    assert metrics["response_mean_ns"] > 0
    assert metrics["operations_per_s"] > 0
    reads = int((readings["operation"] == 0).sum())
    # Each station's last writes, of which some were of one block.
    checked = told(exchange)["checked"]
    back = checked["read_back"]
    assert checked["blocks"] == reads + back
    assert (3 <= back <= 12) if operation != "read" else back == 0
    assert checked["read_back_wrong"] == 0
    assert exchange.setup["emptied"]["is_gone"]
    whole = service not in ("directory", "memory", "sftp", "nfs", "smb")
    assert told(exchange)["whole_files"] == whole
    assert exchange.setup["emptied"]["removed_files"] == 3 * (8 if whole else 1)


@pytest.mark.parametrize("size", [1, 31, 32, 16_383, 16_384, 300_000])
@pytest.mark.parametrize("service", ["directory", "memory"])
def test_written_series_of_any_size_are_read_back(pair: Pair, service: str, size: int) -> None:
    exchange = run(
        pair,
        service=service,
        operation="mix",
        stations=2,
        access="random",
        message_size_bytes=size,
        file_size_bytes=4 * size,
    )
    metrics, checked = metrics_of(exchange), told(exchange)["checked"]
    assert (metrics["errors"], metrics["wrong_data"]) == (0, 0)
    assert checked["blocks"] > checked["read_back"] > 0 == checked["read_back_wrong"]


@pytest.mark.parametrize(
    ("wrong", "said"), [(1, "corruption in 1 block"), (1200, "corruption in 1,200 blocks")]
)
def test_wrong_data_fail_the_trial(pair: Pair, wrong: int, said: str) -> None:
    exchange = run(pair, service="memory", operation="mix", stations=2)
    assert metrics_of(exchange)["wrong_data"] == 0
    told(exchange)["checked"]["read_back_wrong"] = wrong
    with pytest.raises(RunError, match=said) as failed:
        metrics_of(exchange)
    assert "discard these results" in (failed.value.hint or "")


def test_stations_are_spread_over_all_hosts(pair: Pair) -> None:
    with Engine("host2", [engine_path()]) as third:
        other = EngineHost(third, "127.0.0.1", pair.end(0).boot_id)
        exchange = run(pair, (other,), service="nfs", stations=5, operation="mix")
        metrics = metrics_of(exchange)
    assert metrics["stations"] == 5
    result = told(exchange)
    assert np.bincount(result["readings"]["station"]).tolist() == [40] * 5
    assert [host["stations"] for host in result["hosts"]] == [3, 2]
    assert [host["name"] for host in result["hosts"]] == [pair.end(0).engine.label, "host2"]
    # Between any two stations, also of two hosts.
    first = [
        result["readings"]["start_ns"][result["readings"]["station"] == n][0] for n in range(5)
    ]
    assert metrics["start_skew_ns"] == max(first) - min(first)
    assert (result["stations"], result["readings_count"]) == (5, 200)
    assert metrics["errors"] == 0
    assert metrics["start_skew_ns"] < 5_000_000_000


def test_an_open_loop_takes_latency_from_the_time_that_was_intended(pair: Pair) -> None:
    exchange = run(
        pair,
        service="nfs",
        stations=4,
        loop="open",
        arrivals="fixed",
        rate_operations_per_s=400,
        readings_per_station=None,
        time_s=0.5,
    )
    metrics_of(exchange)
    readings, result = told(exchange)["readings"], told(exchange)
    assert result["ended_by"] == "time"
    assert len(readings["station"]) + result["unstarted"] == 200
    due = np.sort(readings["intended_ns"])
    # Where stations were held up, one of them lacks its last.
    assert set(due.tolist()) <= {2_500_000 * n for n in range(200)}
    assert (np.diff(due) > 0).all()
    assert (readings["start_ns"] >= readings["intended_ns"]).all()


def test_readings_of_a_trial_are_stored_as_a_series(pair: Pair) -> None:
    exchange = run(pair, service="memory", stations=2)
    metrics = metrics_of(exchange)
    trial = TrialRecord(
        run_id="r",
        number=0,
        experiment="e",
        workload="stations",
        factors={},
        parameters={},
        block=0,
        purpose="trial",
        status="done",
        started_at="",
        elapsed_s=1.0,
        metrics=metrics,
        raw=dict(exchange.results),
        error=None,
    )
    kept, series = take_intervals(trial)
    (readings,) = (each for each in series if each.name == "client-readings")
    assert readings.rows == 80
    assert readings.facts["outcomes"].startswith('["ok", "timed_out", "reset"')
    assert readings.columns["outcome"].dtype == np.uint8
    assert readings.columns["station"].dtype == np.uint32
    # Polars sums 32-bit columns modulo 4 GiB.
    assert readings.columns["bytes"].dtype == np.int64
    assert kept.raw["client"]["readings"] == {"series": "client-readings"}
    # The sums are of what was done while both were active, whichever began first.
    begin, end = metrics["steady_start_ns"], metrics["steady_end_ns"]
    ends = readings.columns["end_ns"]
    counted = readings.columns["station"][(ends > begin) & (ends <= end)]
    of_each = np.bincount(counted, minlength=2).tolist()
    assert kept.raw["client"]["station_sums"]["table"]["readings"] == of_each
    assert sum(of_each) == metrics["readings"] > 0


def test_measurements_survive_the_death_of_the_server(pair: Pair, tmp_path: Path) -> None:
    served = tmp_path / "served"
    served.mkdir()
    with (
        Engine("doomed", [engine_path()]) as doomed,
        Served(doomed, "smb", served) as (url, _),
    ):
        server_url.remember_password(url, SECRET)
        exchange = run(
            pair,
            on_progress=once_after(60, lambda: os.kill(doomed.pid, signal.SIGKILL)),
            server=url,
            stations=3,
            think_time_s=0.005,
            readings_per_station=None,
            time_s=30,
            retries=1,
            timeout_s=2,
        )
    assert isinstance(exchange.error, EngineError)
    assert exchange.error.code == "stations.none_left"
    result = told(exchange)
    readings = result["readings"]
    assert (readings["outcome"] == 0).sum() > 30
    assert result["ended_stations"] == 3
    assert {ended["station"] for ended in result["ended"]} == {0, 1, 2}
    assert set(result["errors"]) <= {"reset", "timed_out", "refused"}
    assert result["station_sums"]["table"]["readings"]


def test_a_cut_connection_is_counted_and_the_others_continue(pair: Pair, tmp_path: Path) -> None:
    with Served(pair.engines[1], "sftp", tmp_path) as (url, trust), Relay(url) as relay:
        server_url.remember_password(relay.url, SECRET)
        exchange = run(
            pair,
            on_progress=once_after(30, lambda: relay.cut_once(0, "back")),
            server=relay.url,
            trust=trust,
            stations=3,
            think_time_s=0.01,
            readings_per_station=None,
            time_s=2.0,
        )
        metrics = metrics_of(exchange)
    assert metrics["errors"] == 1
    assert metrics["retries"] == 1
    assert metrics["reconnects"] == 1
    result = told(exchange)
    assert result["errors"] == {"reset": 1}
    failed = int(np.flatnonzero(result["readings"]["outcome"])[0])
    station = result["readings"]["station"][failed]
    own = result["readings"]["station"] == station
    assert (result["readings"]["outcome"][own][-1]) == 0


@pytest.mark.parametrize(
    ("narrow_end", "needed", "whose"),
    [(0, 114, "50 stations"), (1, 164, "50 connections of an embedded server")],
)
def test_too_few_descriptors_are_refused_before_the_start(
    pair: Pair, narrow_end: int, needed: int, whose: str
) -> None:
    # Whoever may raise a hard limit would: even root may not without this capability.
    bound = ["setpriv", "--bounding-set", "-sys_resource"] if os.geteuid() == 0 else []
    command = [*bound, "sh", "-c", f"ulimit -n 100 && exec {engine_path()}"]
    with Engine("narrow", command) as engine:
        engines = (engine, pair.engines[1]) if narrow_end == 0 else (pair.engines[0], engine)
        error = run(Pair(pair.bed, engines), service="nfs", stations=50).error
    assert isinstance(error, EngineError)
    assert error.code == "stations.descriptors"
    assert f"{whose} take {needed} descriptors; this process may have 100" in error.message
    assert f"ulimit -n {needed}" in (error.hint or "")


def test_files_that_do_not_fit_are_refused_before_they_are_written(pair: Pair) -> None:
    error = run(pair, stations=1000, file_size_bytes=2**39).error
    assert isinstance(error, UnmetNeed)
    assert "file_size_bytes" in (error.hint or "")


def test_the_next_run_removes_leftovers_of_a_killed_run(pair: Pair, tmp_path: Path) -> None:
    root = tmp_path / "served"
    root.mkdir()
    with Served(pair.engines[1], "webdav", root) as (url, _):
        server_url.remember_password(url, SECRET)
        script = KILLED.format(url=url, secret=SECRET)
        killed = subprocess.run([sys.executable, "-c", script], check=False, timeout=120)
        assert killed.returncode == -signal.SIGKILL
        (left,) = working_directories(root)
        (root / "lanlab-000000000000").mkdir()
        exchange = run(pair, server=url)
        metrics_of(exchange)
        (removed,) = exchange.setup["left_before"]
        assert (removed["working_name"], removed["is_gone"]) == (left.name, True)
        assert [path.name for path in working_directories(root)] == ["lanlab-000000000000"]


#: Prepares stations at a server, and is killed before it could empty it.
KILLED = """
import os, signal
from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.performers.engines import conduct
from lanlab.workloads import WORKLOADS
from lanlab.workloads.services import server_url
server_url.remember_password({url!r}, {secret!r})
start = Engine.start
def dying(self, request, **options):
    if request["type"] == "stations":
        os.kill(os.getpid(), signal.SIGKILL)
    return start(self, request, **options)
Engine.start = dying
kind = WORKLOADS["stations"]
asked = kind.Parameters.model_validate(dict(server={url!r}, file_size_bytes=12000))
host = EngineHost(Engine("host0", [engine_path()]), "127.0.0.1", None)
perform_between(kind, asked, host, host, 0.05)
"""


def test_invalid_parameters_of_stations_are_refused() -> None:
    for wrong, said in [
        ({"stations": 0}, "greater than or equal to 1"),
        ({"stations": 10_001}, "less than or equal to 10000"),
        ({"stations": 10_000, "readings_per_station": 2000}, "allowed: 16777216"),
        ({"loop": "open"}, "an open loop needs rate_operations_per_s"),
        ({"rate_operations_per_s": 5}, "needs loop `open`"),
        ({"loop": "open", "rate_operations_per_s": 5, "think_time_s": 1}, "needs a closed loop"),
        ({"file_size_bytes": 100, "message_size_bytes": 750}, "at least one message"),
        ({"message_size_bytes": "65MiB"}, "less than or equal to 67108864"),
        ({"server": "gopher://host/"}, "no such file service"),
        ({"driver": "iperf3"}, "allowed: lanlab"),
        ({"trust": "sha256:00"}, "it needs a URL"),
    ]:
        with pytest.raises(ValidationError, match=said):
            StationsParameters.model_validate(wrong)


def test_a_trial_ends_as_published_by_default() -> None:
    """After 800 readings of each station, of which there are not more than 800,000 in all."""
    ends = StationsParameters.model_validate
    assert ends({}).readings_each == 800
    assert ends({"stations": 1_000}).readings_each == 800
    assert ends({"stations": 10_000}).readings_each == 80
    assert ends({"time_s": 1}).readings_each is None
    assert ends({"interval_ratio": 0.1}).readings_each is None
    assert ends({"time_s": 1, "readings_per_station": 5}).readings_each == 5
