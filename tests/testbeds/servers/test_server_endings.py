"""Nothing of a server is left, however it ends: no process, no port, no file."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from missing import missing
from programs import begun
from server_clients import CASES, Case, folder_for_all, require
from waiting import ENDS, await_end

from lanlab import linux
from lanlab.errors import UnmetNeed
from lanlab.testbeds import process_leftovers
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.servers import RunningServer, start

#: Runs a server, says of its processes and files, and waits.
CHILD = """
import json, sys
from pathlib import Path
from lanlab.testbeds.registry import testbed
from lanlab.testbeds.servers import Credentials, start
bed, server, service, root = sys.argv[1:]
with testbed(bed, 2) as opened:
    host = opened.hosts[1]
    who = None if service.startswith("nfs") else Credentials("lab", "Secret-1")
    running = start(host, service, Path(root), host.addresses["ipv4"], who, server=server)
    print(json.dumps([running.keeper_pid, *running.pids()]), flush=True)
    sys.stdin.readline()
    raise RuntimeError("as any error in a run")
"""


BEDS = ("loopback", "virtual")
#: A server of each program.
SERVERS = tuple(name for name in CASES if not name.endswith(("ftps", "webdavs")))


@pytest.fixture(scope="module", params=BEDS)
def bed_name(request: pytest.FixtureRequest) -> str:
    try:
        open_testbed(request.param, 2).close()
    except UnmetNeed as error:
        missing(error)
    return str(request.param)


@pytest.fixture(scope="module", params=SERVERS)
def case(request: pytest.FixtureRequest, bed_name: str) -> Case:
    chosen = CASES[request.param]
    with open_testbed(bed_name, 2) as bed:
        require(chosen, bed.hosts[1])
    return chosen


@pytest.fixture
def served() -> Iterator[Path]:
    with folder_for_all() as folder:
        yield folder


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # Other users make theirs there, too; and it needs a short path without spaces.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="servers-") as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder)


def is_listened_on(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return True
        return False


def test_close_leaves_no_process_port_or_file(
    case: Case, bed_name: str, served: Path, private: Path
) -> None:
    with open_testbed(bed_name, 2) as bed:
        host = bed.hosts[1]
        address = host.addresses["ipv4"]
        running = start(host, case.service, served, address, case.credentials, server=case.server)
        assert list(private.iterdir())
        pids = [running.keeper_pid, *running.pids()]
        if bed_name == "loopback":
            with socket.create_connection((address, running.port), 5):
                await_children(running, len(pids))
                pids += running.pids()
                running.close()
            assert not is_listened_on(address, running.port)
        running.close()
        running.close()
        await_end(pids)
        assert running.pids() == []
    assert not list(private.iterdir())
    assert served.is_dir()


def await_children(running: RunningServer, count: int, within_s: float = 1.0) -> None:
    deadline = time.monotonic() + within_s
    while len(running.pids()) < count and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("bed_name", "case", "end"),
    [
        pytest.param(
            bed,
            server,
            end,
            # On hosts of its own each server has one of the ends, each end a server.
            marks=() if bed == "loopback" or turn % 3 == place else pytest.mark.long,
        )
        for bed in BEDS
        for turn, server in enumerate(SERVERS)
        for place, end in enumerate(ENDS)
    ],
    indirect=["bed_name", "case"],
)
def test_an_ended_lanlab_leaves_nothing(
    case: Case,
    bed_name: str,
    served: Path,
    private: Path,
    end: Callable[[subprocess.Popen[str]], None],
) -> None:
    argv = [sys.executable, "-c", CHILD, bed_name, case.server, case.service, served]
    child, told = begun(argv, stderr=subprocess.PIPE)
    assert told, child.communicate()[1]
    pids = [int(word) for word in told.strip("[]\n").split(",")]
    assert len(pids) > 1
    end(child)
    child.communicate(timeout=20)
    await_end(pids)
    assert not list(private.iterdir())


def test_a_server_that_does_not_end_in_order_is_killed_by_its_keeper(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[process_leftovers.Leftover] = []
    end = process_leftovers.end

    def noted(found: list[process_leftovers.Leftover]) -> object:
        left.extend(found)
        return end(found)

    monkeypatch.setattr(process_leftovers, "end", noted)
    case = CASES["nginx-webdav"]
    with open_testbed("loopback", 2) as bed:
        host = bed.hosts[1]
        require(case, host)
        running = start(host, case.service, served, host.addresses["ipv4"], case.credentials)
        pids = running.pids()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        running.close()
        await_end(pids)
        assert linux.tree(running.keeper_pid) == []
    assert left == []


def test_a_killed_keeper_does_not_leave_the_server(served: Path) -> None:
    case = CASES["nginx-webdav"]
    with open_testbed("loopback", 2) as bed:
        host = bed.hosts[1]
        require(case, host)
        with start(host, case.service, served, host.addresses["ipv4"], case.credentials) as running:
            pids = running.pids()
            os.kill(running.keeper_pid, signal.SIGKILL)
            await_end(pids[:1])
        await_end(pids)
