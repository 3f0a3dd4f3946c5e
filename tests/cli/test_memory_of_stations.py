"""What a server on Ethernet keeps of each session: its resident memory, with and without them."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from command_line import COMMAND
from netbeui_cable import cable
from served import serving

from lanlab.testbeds.namespaces import Namespace

__all__ = ["cable"]
pytestmark = [
    pytest.mark.long,
    # How many messages wait at once depends on what else runs.
    pytest.mark.figures,
]

_SESSIONS = 100
#: KiB a session. Messages of up to 64 kB are put together, answered and kept until they are
#: acknowledged, each in memory of its own; straight on IPX a message is one packet. NetBEUI came to
#: 173 to 191.
_MOST_KIB = {"nbf": 224, "ipx": 192, "nbipx": 192, "ncp": 192}


def _resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    own = int(status.partition("VmRSS:")[2].split()[0])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(_resident_kib(int(child)) for child in children)


@pytest.mark.parametrize("carrier", _MOST_KIB)
def test_a_session_takes_no_more_memory_than_its_messages_need(
    cable: tuple[Namespace, Namespace], tmp_path: Path, served: Path, carrier: str
) -> None:
    here, there = cable
    service = ["ncp"] if carrier == "ncp" else ["smb1", "--carrier", carrier]
    argv = ["--service", *service, "--interface", "right", str(served), "--write", "--quiet"]
    with serving(*argv, prefix=there.command_prefix) as (server, said):
        before = _resident_kib(server.pid)
        stations = [
            *("stations", said["address"], "--interface", "left", "--stations", str(_SESSIONS)),
            *("--read-ratio", "50%", "--size", "60kB", "--time", "8s", "--trials", "1"),
        ]
        environment = {
            "LANLAB_PASSWORD": said["password"],
            "LANLAB_STORE": str(tmp_path / "store.sqlite"),
        }
        most = before
        with subprocess.Popen(
            [*here.command_prefix, *COMMAND, *stations],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as measuring:
            # What is read is a state of another process, of which nothing tells.
            while measuring.poll() is None:
                most = max(most, _resident_kib(server.pid))
                time.sleep(0.1)
            output = measuring.stdout.read() if measuring.stdout else ""
        assert measuring.returncode == 0, output
    each = (most - before) / _SESSIONS
    print(f"{carrier}: {each:.0f} KiB a session")
    assert each <= _MOST_KIB[carrier]
