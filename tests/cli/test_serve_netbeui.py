"""`lanlab serve` over NetBEUI: a client on another host, frames of both, and what is refused."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command_line import COMMAND
from missing import missing
from netbeui_cable import cable, dissected
from programs import ran
from served import run_at, serving

from lanlab.testbeds.namespaces import Namespace

__all__ = ["cable"]

_SERVE = ("serve", "--service", "smb1", "--carrier", "nbf", "--interface", "right")


@contextmanager
def serving_at(
    host: Namespace, directory: Path, *argv: str
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    with serving(*_SERVE[1:], str(directory), *argv, prefix=host.command_prefix) as begun:
        yield begun


def test_a_client_on_the_wire_writes_if_permitted_and_its_frames_are_captured(
    cable: tuple[Namespace, Namespace], tmp_path: Path, served: Path
) -> None:
    here, there = cable
    pcap = tmp_path / "frames.pcap"
    with serving_at(there, served, "--name", "cncfiles", "--write") as (server, said):
        assert said["address"] == "smb1+nbf://lanlab@CNCFILES/lanlab"
        # NetBIOS names have no case.
        url = said["address"].replace("CNCFILES", "cncfiles")
        argv = ["copy", "20x6kB", url, "--interface", "left", "--trials", "1"]
        argv += ["--pcap", str(pcap), "--json"]
        password, store = said["password"], tmp_path / "store.sqlite"
        copied = run_at(here, *argv, password=password, store=store)
        assert copied.returncode == 0, copied.stderr
        found = json.loads(copied.stdout)
        assert (found["copied_files"], found["faults"], found["frames_lost_here"]) == (20, 0, 0)
        assert found["testbed"] == "this machine to cncfiles"
        assert found["frames_sent"] > 100
        assert "frames_sent_again" in found
        assert list(served.iterdir()) == [], "what was written is removed"
        # What is there is not replaced, and nothing is measured.
        before = pcap.read_bytes()
        refused = run_at(here, *argv, password=password, store=store)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "already exists and is not replaced" in refused.stderr
        assert pcap.read_bytes() == before
        # Another server by that name is refused: the first one objects.
        other = run_at(here, *_SERVE[:-1], "left", str(served), "--name", "CNCFILES",
                    password=password, store=store)  # fmt: skip
        assert other.returncode == 1, other.stderr
        assert "another station has our name" in other.stderr
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
        assert server.returncode == 0, errors
        assert "served" in rest
        told = dict(line.split(maxsplit=1) for line in rest.splitlines())
        # What the server's station received, the client's sent, and the other that wanted its name.
        received = int(told["frames"].split(" frames sent, ")[1].split(" received")[0])
        assert received > found["frames_sent"]
    wrong = "_ws.malformed || _ws.expert.severity == error || (!netbios && !(llc.dsap == 0xf0))"
    assert dissected(pcap, "-Y", wrong) == []
    # Frames of both directions, and messages in them.
    fields = ("-T", "fields", "-e", "eth.src", "-e", "smb.cmd")
    frames = [line.split() for line in dissected(pcap, *fields)]
    assert len({sender for sender, *_ in frames}) == 2
    assert sum(len(cells) > 1 for cells in frames) > 100


def test_what_is_served_is_read_only_by_default(
    cable: tuple[Namespace, Namespace], tmp_path: Path, served: Path
) -> None:
    here, there = cable
    with serving_at(there, served) as (_, said):
        assert said["serving"].endswith("(read-only)")
        assert said["address"] == "smb1+nbf://lanlab@LANLAB/lanlab"
        argv = ["copy", "2x6kB", said["address"], "--interface", "left", "--trials", "1"]
        copied = run_at(here, *argv, password=said["password"], store=tmp_path / "store.sqlite")
        assert copied.returncode == 1
        assert "denied" in copied.stderr, copied.stderr
    assert list(served.iterdir()) == []


def test_serving_without_root_states_what_is_needed(
    cable: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    dropped = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
    if shutil.which("setpriv") is None:
        missing("`setpriv` is not installed")
    said = ran([*cable[1].command_prefix, *dropped, *COMMAND, *_SERVE, str(tmp_path)])
    assert (said.returncode, said.stdout) == (2, ""), said.stderr
    assert "needs root" in said.stderr
