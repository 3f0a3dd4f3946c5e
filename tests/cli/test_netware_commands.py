"""`copy`, `stations`, `serve` and `listen` over NetWare's core protocol."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import COMMAND
from missing import missing
from netbeui_cable import cable, dissected
from served import serving
from waiting import until

from lanlab.testbeds.namespaces import Namespace

if TYPE_CHECKING:
    from conftest import Lanlab

__all__ = ["cable"]

_LINK = ("--link", "10M", "--trials", "1")


def test_a_copy_sends_only_netware_frames(lanlab: Lanlab, tmp_path: Path) -> None:
    pcap = tmp_path / "frames.pcap"
    said = lanlab("copy", "5x6kB", "--service", "ncp", *_LINK, "--pcap", str(pcap), "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (5, 30_000)
    assert (found["faults"], found["retries"], found["frames_discarded"]) == (0, 0, 0)
    parameters = found["parameters"]
    assert (parameters["service"], parameters["carrier"]) == ("ncp", "ncp")
    if shutil.which("tshark") is None:
        missing("`tshark` is not installed")
    # To tshark the end of a search is an error, too.
    assert dissected(pcap, "-Y", "_ws.malformed") == []
    assert dissected(pcap, "-Y", "ip || (ipx && !(ncp.type || ipxrip || ipxsap))") == []
    # Each file is one burst of five packets of 1431 bytes, what a packet on 802.2 holds of it;
    # the one that is written before all others is one packet. Each is read again by two requests,
    # of which the second finds its end. None is lost.
    parts = dissected(pcap, "-Y", "ncp.type == 0x7777 && ipx.src.socket != 0x0451")
    assert len(dissected(pcap, "-Y", "ncp.burst_command == 0x02000000")) == 6
    assert len(dissected(pcap, "-Y", "ncp.burst_command == 0x01000000")) == 12
    assert len(parts) == 5 * 5 + 1 + 12
    assert dissected(pcap, "-Y", "ncp.missing_fraglist_count > 0") == []


def test_stations_read_blocks(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "ncp", "--stations", "3", "--size", "750", "--read"),
        *(*_LINK, "--file-size", "15k", "--time", "500ms", "--json"),
    )
    assert said.code == 0, said.err
    trials = json.loads(said.out)["trials"]
    assert [trial["operations_per_s"] > 10 for trial in trials] == [True]
    assert {trial["frames_discarded"] for trial in trials} == {0}


def test_packet_burst_is_compared_with_one_packet_each_way(lanlab: Lanlab) -> None:
    argv = ("copy", "1x60kB", "--service", "ncp", "--packet-burst", "on,off")
    said = lanlab(*argv, *_LINK, "--json")
    assert said.code == 0, said.err
    trials = {one["factors"]["packet_burst"]: one for one in json.loads(said.out)["trials"]}
    protocols = [trials[level]["agreed"]["protocol"] for level in ("on", "off")]
    assert protocols[0] == f"{protocols[1]}, packet burst"
    # On a busy machine an answer may be late: a request is sent again, and may be answered twice.
    answers, requests = trials["off"]["frames_received"], trials["off"]["frames_sent"]
    assert answers == pytest.approx(requests, rel=0.1)
    # Ten packets of a write are answered by one, and the rest by one each.
    assert trials["on"]["frames_received"] < trials["on"]["frames_sent"] / 2


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("--service", "ncp", "--raw"), "--raw has no effect"),
        (("--service", "ncp", "--dialect", "core"), "--dialect has no effect"),
        (
            ("--service", "ncp", "--packet-burst", "of"),
            "--packet-burst: found `of`; allowed: on, off",
        ),
        (("--service", "smb1", "--packet-burst", "off"), "--packet-burst has no effect"),
        (("--service", "ncp", "--carrier", "ipx"), "--service `ncp` does not run over `ipx`"),
        (("--service", "smb1", "--carrier", "ncp"), "--service `smb1` does not run over `ncp`"),
        (("--service", "ncp", "--testbed", "loopback"), "needs an Ethernet"),
    ],
)
def test_options_unsupported_by_netware_are_refused(
    lanlab: Lanlab, argv: tuple[str, ...], expected: str
) -> None:
    said = lanlab("copy", "2x6kB", *argv)
    assert (said.code, said.out) == (2, "")
    assert expected in said.err


def test_a_directory_is_served_to_a_client_on_the_wire(
    cable: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    here, there = cable
    served = tmp_path / "served"
    served.mkdir()
    argv = ["--service", "ncp", "--interface", "right", str(served), "--name", "cncfiles"]
    with serving(*argv, "--share", "vol1", "--write", prefix=there.command_prefix) as (
        server,
        said,
    ):
        assert said["address"] == "ncp://lanlab@CNCFILES/vol1"
        environment = os.environ | {
            "LANLAB_PASSWORD": said["password"],
            "LANLAB_STORE": str(tmp_path / "store.sqlite"),
        }

        def run(*argv: str) -> dict[str, object]:
            done = subprocess.run(
                [*here.command_prefix, *COMMAND, *argv, "--json"],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            result: dict[str, object] = json.loads(done.stdout)
            return result

        interface = ("--interface", "left")
        listening = subprocess.Popen(
            [*here.command_prefix, *COMMAND, "listen", *interface, "--time", "20s", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        # The kernel lists the packet sockets that are bound to something.
        sockets = Path(f"/proc/{here.pid}/net/packet")
        until(lambda: "0003" in sockets.read_text(), "the socket that listens")
        found = run("copy", "3x6kB", said["address"], *interface, "--trials", "1")
        listening.send_signal(signal.SIGINT)
        heard = json.loads(listening.communicate(timeout=30)[0])
        assert {(one["name"], one["kind"]) for one in heard["servers"]} == {
            ("CNCFILES", "file server")
        }
        assert (found["copied_files"], found["faults"], found["frames_lost_here"]) == (3, 0, 0)
        # Without the name of the server, the same one answers.
        found = run("copy", "2x6kB", "ncp://lanlab@/vol1", *interface, "--trials", "1")
        assert (found["copied_files"], found["faults"]) == (2, 0)
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
        assert server.returncode == 0, errors
        assert "frames sent" in rest
    assert list(served.iterdir()) == [], "what was written is removed"


def test_an_absent_server_error_names_the_query(
    cable: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    argv = ["copy", "2x6kB", "ncp:///vol1", "--interface", "left", "--trials", "1", "--retries"]
    segment = ["--ipx-framing", "raw-802.3", "--ipx-network", "17"]
    done = subprocess.run(
        [*cable[0].command_prefix, *COMMAND, *argv, "0", *segment],
        env=os.environ | {"LANLAB_STORE": str(tmp_path / "store.sqlite")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    said = " ".join((done.stdout + done.stderr).split())
    assert "call the nearest server over NCP: no station answers for it" in said
    assert "asked on network 00000017 in raw-802.3" in said
    assert "`lanlab listen` shows the framings and servers of a segment" in said
