"""The command line over a store of either kind, and what `lanlab doctor` says of it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from held import Held
from postgres_server import PostgresServer
from store_samples import a_run
from waiting import until

from lanlab.store import open_store

MAIN = "from lanlab.cli import main; main()"
STUDY = """
schema = 1
id = "small"
title = "Small messages"

[[experiment]]
id = "sizes"
title = "Goodput"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { rate_bps = "1M", message_size_bytes = 100, interval_s = 0.01 }
factors = { transport = ["udp", "tcp"] }

[scale.quick]
trials = { min = 2, max = 2, repeat_polluted = 0 }
parameters = { time_s = 0.3, warmup_s = 0 }

[scale.slow]
trials = { min = 4, max = 4, repeat_polluted = 0 }
parameters = { time_s = 0.3, warmup_s = 0 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path


def start(
    folder: Path, *args: str, trials: Held | None = None, **changes: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", (trials.code if trials else "") + MAIN, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **changes},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lanlab(folder: Path, *args: str, **changes: str) -> tuple[int, str, str]:
    process = start(folder, *args, **changes)
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def answer(folder: Path, *args: str, **changes: str) -> Any:
    code, out, err = lanlab(folder, *args, "--json", **changes)
    assert code == 0, err
    return json.loads(out)


def check_whole(run: Any) -> None:
    trials = run["trials"]
    assert [trial["number"] for trial in trials] == list(range(len(trials)))
    assert sum(trial["status"] == "done" for trial in trials) == 8


def test_a_run_is_made_listed_and_reported(where: str, folder: Path) -> None:
    run = answer(folder, "run", "small.toml", "--testbed", "loopback", "--store", where)
    (row,) = answer(folder, "runs", LANLAB_STORE=where)["runs"]
    report = answer(folder, "report", "last", "--store", where)

    # On a machine that stands still for a while a trial may fail.
    assert (row["run"], row["status"], row["trials"] >= 4) == (run["run"], "done", True)
    page = folder / report["html"]
    assert page.is_file()
    if where.startswith("postgresql:"):
        assert page.parent == folder / "lanlab-results" / run["run"]
    with open_store(where) as store:
        done = [trial for trial in store.trials("last") if trial.status == "done"]
        assert {trial.parameters["transport"] for trial in done} == {"udp", "tcp"}
        for trial in done:
            name = "receiver-intervals"
            series = store.series("last", trial.number, [name])[name]
            intervals = trial.raw["receiver"]["intervals"]
            assert intervals == {"interval_ns": 10_000_000, "series": "receiver-intervals"}
            octets = series.columns["bytes"]
            assert sum(octets.tolist()) == trial.raw["receiver"]["total_bytes"]
            messages = series.columns["messages"]
            is_tcp = trial.parameters["transport"] == "tcp"
            assert {count is None for count in messages.tolist()} == {is_tcp}


def test_a_run_that_was_killed_is_resumed(where: str, folder: Path) -> None:
    args = ("run", "small.toml", "--scale", "slow", "--testbed", "loopback", "--store", where)
    trials = Held(folder / "held")
    process = start(folder, *args, trials=trials)
    trials.reach(after=2)
    process.kill()
    process.communicate()

    def row() -> Any:
        return answer(folder, "runs", "--store", where)["runs"][0]

    until(lambda: row()["status"] != "running", "the end of its lease")
    assert (row()["status"], row()["trials"]) == ("interrupted", 2)
    check_whole(answer(folder, "run", "--resume", "last", "--store", where))


def test_a_stopped_server_ends_the_run_with_a_hint_and_the_run_can_be_resumed(
    server: PostgresServer, postgresql_url: str, folder: Path
) -> None:
    args = ("run", "small.toml", "--scale", "slow", "--testbed", "loopback")
    trials = Held(folder / "held")
    process = start(folder, *args, "--store", postgresql_url, trials=trials)
    trials.reach(after=2)
    server.stop(signal.SIGINT)
    trials.let_go()
    try:
        out, err = process.communicate(timeout=240)
    finally:
        server.start()

    assert (process.returncode, out) == (1, "")
    assert "the connection with the server was lost" in err
    assert (
        "hint: check that it runs and is reachable, then continue with `lanlab run --resume`" in err
    )
    assert server.password not in err
    check_whole(answer(folder, "run", "--resume", "last", "--store", postgresql_url))


def test_the_doctor_reports_the_state_of_a_database(
    server: PostgresServer, postgresql_url: str, folder: Path
) -> None:
    found = json.loads(lanlab(folder, "doctor", "--json", "--store", postgresql_url)[1])["store"]
    assert (found["kind"], found["is_usable"]) == ("postgresql", True)
    assert "no TLS, tables made by the first run" in found["detail"]
    with open_store(postgresql_url) as store:
        store.start_run(a_run()).release()
    found = json.loads(lanlab(folder, "doctor", "--json", LANLAB_STORE=postgresql_url)[1])["store"]
    assert found["detail"].startswith("PostgreSQL ")
    assert found["detail"].endswith("tables there")

    code, out, _ = lanlab(folder, "doctor", "--store", postgresql_url, PGPASSWORD="wrong")
    assert code == 1
    assert "not usable" in out and "login failed" in out and "PGPASSWORD" in out
    code, out, _ = lanlab(folder, "doctor", "--store", "postgresql://ada:s3cret@db/lab")
    assert code == 1
    assert "has a password in it" in out and "s3cret" not in out


def test_the_doctor_reports_the_state_of_a_store_file(folder: Path) -> None:
    def told(name: str) -> Any:
        said = lanlab(folder, "doctor", "--json", "--store", str(folder / name))
        return json.loads(said[1])["store"]

    assert told("new/s")["detail"] == "made by the first run"
    assert not (folder / "new").exists()
    with open_store(str(folder / "s")) as store:
        store.start_run(a_run()).release()
    assert (told("s")["detail"], told("s")["is_usable"]) == ("there", True)
    wrong = told("small.toml")
    assert (wrong["kind"], wrong["is_usable"]) == ("sqlite", False)
    assert "is not a store" in wrong["detail"] and wrong["how_to_get"]
