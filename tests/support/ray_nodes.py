"""
A Ray cluster of several nodes on this machine, each at a loopback address of its own.

A process that carries its mark is the cluster's, or was started by it; those are ended by their ids
and no others, so that a cluster of somebody else goes on.
"""

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from missing import missing

_WITHIN_S = 60.0
#: Between two looks at `/proc`, which reports no change of a process by itself.
_POLL_S = 0.05
_MARK = "LANLAB_TEST_RAY"
#: Makes a node for each address that it reads; the first is the head.
_SCRIPT = """
import json, sys
from ray.cluster_utils import Cluster
cluster = None
for line in sys.stdin:
    node = {
        "node_ip_address": line.strip(), "num_cpus": 1, "object_store_memory": 80_000_000,
        "include_dashboard": False, "include_log_monitor": False,
    }
    if cluster is None:
        cluster = Cluster(initialize_head=True, head_node_args=node | {"gcs_server_port": 0})
        made = cluster.head_node
    else:
        made = cluster.add_node(**node)
    raylet, = made.all_processes["raylet"]
    print(json.dumps([cluster.address, raylet.process.pid]), flush=True)
"""


@dataclass
class RayCluster:
    maker: subprocess.Popen[str]
    mark: str
    folder: Path
    #: What a process needs to be let in.
    environment: dict[str, str]
    #: HOST:PORT of the head node.
    address: str = ""
    #: Address of a node to the process id of its raylet, with which the node ends.
    raylets: dict[str, int] = field(default_factory=dict)

    def add(self, address: str) -> None:
        assert self.maker.stdin is not None and self.maker.stdout is not None
        self.maker.stdin.write(f"{address}\n")
        self.maker.stdin.flush()
        while not (line := self.maker.stdout.readline()).startswith("["):
            assert line, (self.folder / "made.log").read_text()
        self.address, self.raylets[address] = json.loads(line)

    def kill(self, address: str) -> None:
        os.kill(self.raylets.pop(address), signal.SIGKILL)

    def processes(self, word: str = "") -> list[int]:
        """Process ids of the cluster's processes that have a word in their command."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0") and (
                    word.encode() in (entry / "cmdline").read_bytes()
                ):
                    found.append(int(entry.name))
        return found

    def engines(self) -> list[int]:
        return self.processes("--end-after-silence")

    def await_engines(self, number: int, other_than: Collection[int] = ()) -> list[int]:
        deadline = time.monotonic() + _WITHIN_S
        while len(found := self.engines()) != number or not set(found).isdisjoint(other_than):
            assert time.monotonic() < deadline, f"found engines {found}, not {number} others"
            time.sleep(_POLL_S)
        return found

    def await_measuring(self, other_than: Collection[int] = ()) -> int:
        """Wait until an engine, none of some, has a UDP socket: for as long as a trial. Its id."""
        deadline = time.monotonic() + _WITHIN_S
        while True:
            for pid in set(self.engines()).difference(other_than):
                if _has_udp_socket(pid):
                    return pid
            assert time.monotonic() < deadline, "no engine measures"
            time.sleep(_POLL_S)

    def _agents(self) -> list[int]:
        """Process ids of those that have files of the cluster open: Ray's agents write their title
        over their environment, and wait for the head node when their node has ended."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                files = [str(each.readlink()) for each in (entry / "fd").iterdir()]
                if any(each.startswith(f"{self.folder}/ray/") for each in files):
                    found.append(int(entry.name))
        return found

    def end(self) -> None:
        deadline = time.monotonic() + _WITHIN_S
        while left := {*self.processes(), *self._agents()}:
            assert time.monotonic() < deadline, f"processes {left} do not end"
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.maker.poll()
            time.sleep(_POLL_S)
        self.maker.communicate()


def _has_udp_socket(pid: int) -> bool:
    inodes = {line.split()[9] for line in Path("/proc/net/udp").read_text().splitlines()[1:]}
    with contextlib.suppress(OSError):
        files = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
        return any(f"socket:[{inode}]" in files for inode in inodes)
    return False


@contextlib.contextmanager
def ray_cluster(*addresses: str) -> Iterator[RayCluster]:
    """A cluster with a node of one processor at each address, for as long as the `with` block."""
    if importlib.util.find_spec("ray") is None:
        missing("need the package ray: pip install -r requirements-ray.lock")
    # Short, as sockets lie in it (unix(7)).
    folder = Path(tempfile.mkdtemp(prefix="lr-", dir="/tmp"))
    (folder / "ray").mkdir()
    mark = f"{_MARK}={secrets.token_hex(8)}"
    name, _, value = mark.partition("=")
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "LANLAB_STORE": f"{folder}/store.sqlite",
        "NO_COLOR": "1",
    }
    own = {
        name: value,
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
        # A node that is gone is noticed after 2 s, not 15 s.
        "RAY_health_check_initial_delay_ms": "1000",
        "RAY_health_check_period_ms": "500",
        "RAY_health_check_timeout_ms": "2000",
        "RAY_health_check_failure_threshold": "3",
        "XDG_CACHE_HOME": f"{folder}/cache",
    }
    with (folder / "made.log").open("w") as log:
        maker = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT],
            env=environment | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    cluster = RayCluster(maker, mark, folder, environment)
    try:
        for address in addresses:
            cluster.add(address)
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)
