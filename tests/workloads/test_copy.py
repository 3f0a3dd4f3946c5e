"""Copies between engines: what is measured, refused, found wrong, left behind and left alone."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from copying import copy, metrics_of, working_directories
from file_servers import EMBEDDED, SECRET, Served
from pydantic import ValidationError
from trial_running import Pair, opened_pair
from waiting import until

from lanlab.errors import EngineError, EngineLost, UsageError
from lanlab.workloads import Progress
from lanlab.workloads.copy import datasets as copy_datasets
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.services import server_url

pytestmark = pytest.mark.usefixtures("cache")


@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize("service", ["directory", *EMBEDDED])
def test_every_service_copies_both_ways(pair: Pair, service: str, direction: str) -> None:
    exchange = copy(pair.engines, service=service, direction=direction, parallel_files=3)
    metrics = metrics_of(exchange)

    assert (metrics["copied_files"], metrics["copied_bytes"]) == (6, 400_000)
    assert metrics["goodput_bps"] == pytest.approx(8 * 400_000 / metrics["elapsed_s"])
    assert (metrics["retries"], metrics["faults"]) == (0, 0)
    checked = exchange.setup["checked"] if direction == "upload" else exchange.results["client"]
    assert checked is not None
    assert checked["verified"] == {"how": "content", "files": 6, "bytes": 400_000}
    assert exchange.setup["emptied"]["is_gone"]
    assert exchange.results["client"]["facts"]["no_delay"] in (True, None)
    if service != "directory":
        assert exchange.results["client"]["facts"]["no_delay"]
        assert metrics["server_cpu_s"] > 0


def test_each_file_has_its_times(pair: Pair) -> None:
    exchange = copy(pair.engines, service="ftp", parallel_files=2)
    metrics = metrics_of(exchange)
    times = exchange.results["client"]["file_times"]

    assert sorted(times["number"]) == list(range(6))
    elapsed_ns = max(times["closed_ns"]) - min(times["opened_ns"])
    assert elapsed_ns == exchange.results["client"]["elapsed_ns"]
    for opened, first, closed in zip(
        times["opened_ns"], times["first_byte_ns"], times["closed_ns"], strict=True
    ):
        assert opened <= first <= closed
    assert metrics["file_time_max_s"] <= metrics["elapsed_s"]


def test_no_secret_is_kept(pair: Pair) -> None:
    told = copy(pair.engines, service="ftp").setup
    spec = told["requests"]["client"]["spec"]
    assert "credentials" not in spec["service"]
    assert spec["service"]["user"] == "lanlab"
    assert "token" not in spec


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("killed", [0, 1], ids=["client", "server"])
def test_a_killed_engine_ends_the_copy(killed: int) -> None:
    with opened_pair() as pair:
        begun = threading.Event()

        def on_progress(_: Progress) -> None:
            if not begun.is_set():
                begun.set()
                os.kill(pair.engines[killed].pid, signal.SIGKILL)

        exchange = copy(
            pair.engines, on_progress, service="ftp", dataset="20000x1kB", medium="memory"
        )
        assert begun.is_set()
        assert isinstance(exchange.error, EngineLost | EngineError), exchange.error
        if isinstance(exchange.error, EngineLost):
            assert f"host{killed}: the engine was ended by signal 9" in exchange.error.message
        assert pair.engines[killed].is_lost
        assert pair.engines[1 - killed].ask({"type": "ping"})


@pytest.mark.parametrize("medium", ["disk", "tmpfs"])
@pytest.mark.parametrize("direction", ["upload", "download"])
def test_files_of_a_medium_are_read_or_written(
    pair: Pair, medium: str, direction: str, cache: Path
) -> None:
    if medium == "tmpfs" and not Path("/dev/shm").is_dir():
        pytest.skip("no files in memory on this system")
    first = copy(pair.engines, service="webdav", medium=medium, direction=direction)
    metrics_of(first)
    again = copy(pair.engines, service="webdav", medium=medium, direction=direction)
    metrics_of(again)
    if direction == "upload":
        assert first.setup["dataset"]["written_files"] == 6
        assert "dataset" not in again.setup
    kept = [p for p in cache.rglob("*") if p.is_file() and "datasets" not in p.parts]
    assert kept == []


def test_the_users_files_stay_at_the_users_server(pair: Pair, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "lanlab-photos").mkdir(parents=True)
    (mine / "lanlab-photos/f000000.dat").write_text("precious")
    (mine / "letter").write_text("dear")
    for service in EMBEDDED:
        with Served(pair.engines[1], service, mine) as (url, trust):
            for direction in ("upload", "download"):
                metrics_of(copy(pair.engines, server=url, trust=trust, direction=direction))
    found = sorted(str(path.relative_to(mine)) for path in mine.rglob("*"))
    assert found == ["lanlab-photos", "lanlab-photos/f000000.dat", "letter"]
    assert (mine / "lanlab-photos/f000000.dat").read_text() == "precious"


def test_the_next_run_removes_leftovers_of_a_killed_run(pair: Pair, tmp_path: Path) -> None:
    with Served(pair.engines[1], "ftp", tmp_path) as (url, _):
        (note,) = (path for path in killed_in_a_copy("copy_check", {"server": url}) if path.suffix)
        (left,) = working_directories(tmp_path)
        assert note.stem == left.name
        assert (left / "files/f000000.dat").is_file()
        # Of a name like ours, but without our mark.
        (tmp_path / "lanlab-000000000000").mkdir()
        exchange = copy(pair.engines, server=url)
        metrics_of(exchange)

        (removed,) = exchange.setup["left_before"]
        assert (removed["working_name"], removed["is_gone"]) == (left.name, True)
        assert [path.name for path in working_directories(tmp_path)] == ["lanlab-000000000000"]
        assert "left_before" not in copy(pair.engines, server=url).setup


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_the_next_lanlab_removes_directories_of_a_killed_lanlab(pair: Pair, direction: str) -> None:
    made = killed_in_a_copy(
        f"copy_{'check' if direction == 'upload' else 'empty'}",
        {"service": "ftp", "medium": "disk", "direction": direction},
        with_engine=True,
    )
    assert len(made) == (1 if direction == "upload" else 2)
    assert all(len(list(path.rglob("f00000?.dat"))) == 2 for path in made)

    metrics_of(copy(pair.engines, service="directory", medium="memory"))

    locks = [path.with_suffix(".lock") for path in made]
    assert not [path for path in (*locks, *made) if path.exists()]


def test_an_engine_whose_lanlab_is_killed_removes_its_directories(pair: Pair) -> None:
    asked = {"service": "ftp", "medium": "disk", "direction": "download"}
    made = killed_in_a_copy("copy_empty", asked)
    assert len(made) == 2
    locks = [path.with_suffix(".lock") for path in made]
    until(lambda: not any(path.exists() for path in (*locks, *made)), "their removal")


def killed_in_a_copy(
    before: str, asked: dict[str, Any], *, with_engine: bool = False
) -> list[Path]:
    """Have a process copy that is killed before a request, and maybe its engine; gives the
    directories that the engine had made for the trial, and the notes of it."""
    arguments = [before, json.dumps({"dataset": "2x10kB", **asked}), SECRET]
    arguments.append("engine" if with_engine else "")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], stdout=subprocess.PIPE, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    return [Path(line) for line in killed.stdout.decode().splitlines()]


#: Copies, and is killed before it makes a request.
KILLED = """
import json, os, signal, sys
from lanlab import lock_files
from lanlab.engine import Engine, Measurement, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS
from lanlab.workloads.services import server_url
before, asked, secret = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
made = []
if "server" in asked:
    server_url.remember_password(asked["server"], secret)
start = Engine.start
def dying(self, request, **options):
    if request["type"] == before:
        print(*made, *lock_files._own, sep="\\n", flush=True)
        if sys.argv[4]:
            os.kill(self.hello["pid"], signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return start(self, request, **options)
Engine.start = dying
wait_ready = Measurement.wait_ready
def noting(self, within_s):
    line = wait_ready(self, within_s)
    if line["directory"] is not None:
        made.append(line["directory"])
    return line
Measurement.wait_ready = noting
kind = WORKLOADS["copy"]
host = EngineHost(Engine("host0", [engine_path()]), "127.0.0.1", None)
perform_between(kind, kind.Parameters.model_validate(asked), host, host, 0.05)
"""


def test_inconsistent_parameters_are_refused() -> None:
    for wrong, said in [
        ({"dataset": "nothing-known"}, "no dataset named"),
        ({"dataset": "dir:relative"}, "absolute"),
        ({"dataset": "0x6kB"}, "allowed: 1 to 100000"),
        ({"server": "gopher://host/"}, "no such file service"),
        ({"server": "smb://host/"}, "no share"),
        ({"driver": "iperf3"}, "allowed: lanlab"),
        ({"trust": "sha256:00"}, "it needs a URL"),
        ({"server": "ftps://h/", "trust": "sha256:00"}, "64 hexadecimal digits"),
    ]:
        with pytest.raises(ValidationError, match=said):
            CopyParameters.model_validate(wrong)


def test_a_password_file_that_is_empty_or_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("\n")
    path.chmod(0o600)
    with pytest.raises(UsageError, match="is empty"):
        server_url.read_password_file(path)
    path.write_text(SECRET + "\n")
    assert server_url.read_password_file(path) == SECRET
    path.chmod(0o644)
    with pytest.raises(UsageError, match="readable by other users"):
        server_url.read_password_file(path)


def test_named_datasets_equal_the_published_ones() -> None:
    """Schomer and Claason: 1 file of 623 MB, 198 files of 472 MB; Brutman's three."""
    assert copy_datasets.mean_bytes("schomer-large") == 623_000_000
    (many,) = copy_datasets.groups("schomer-many")
    assert (many["count"], many["total_bytes"]) == (198, 472_000_000)
    sizes = [copy_datasets.mean_bytes(f"brutman-{size}") for size in ("small", "medium", "large")]
    assert sizes == [260_163, 1_376_275, 3_239_589]
    assert copy_datasets.key(copy_datasets.spec("mixed", 1, 0.0)) != copy_datasets.key(
        copy_datasets.spec("mixed", 2, 0.0)
    )
