"""`copy`, `stations` and `serve` over IPX and XNS: on a virtual LAN, and by an interface."""

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

from lanlab.testbeds.namespaces import Namespace

if TYPE_CHECKING:
    from conftest import Lanlab

__all__ = ["cable"]

_LINK = ("--link", "10M", "--trials", "1")


#: What tshark knows packets by that are not of the system's IP, by carrier. The name of a server
#: of 3+ is asked for by a packet exchange, which it does not read further.
_KNOWN_BY = {
    "ipx": "smb || nmpi || ipxrip",
    "nbipx": "nmpi.packettype || ipxrip",
    "spp": "spp || idp.packet_type == 4",
}
_CARRIERS = pytest.mark.parametrize("carrier", _KNOWN_BY)


@_CARRIERS
def test_a_copy_sends_only_frames_of_its_carrier(
    lanlab: Lanlab, tmp_path: Path, carrier: str
) -> None:
    pcap = tmp_path / "frames.pcap"
    argv = ("--service", "smb1", "--carrier", carrier, *_LINK, "--pcap", str(pcap), "--json")
    is_xns = carrier == "spp"
    # In XNS, tshark takes each part of a message for a whole one: here each is one packet.
    files, size_bytes = (4, 400) if is_xns else (10, 6_000)
    said = lanlab("copy", f"{files}x{size_bytes}B", *argv)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (files, files * size_bytes)
    assert (found["faults"], found["retries"], found["frames_discarded"]) == (0, 0, 0)
    parameters = found["parameters"]
    assert (parameters["service"], parameters["carrier"]) == (f"smb1+{carrier}", carrier)
    if shutil.which("tshark") is None:
        missing("`tshark` is not installed")
    # tshark does not put the parts of a message together: it reads the first one as the whole.
    whole = "!(nmpi.conn_control.end_msg == 0)"
    wrong = f"(_ws.malformed || _ws.expert.severity == error) && {whole}"
    assert dissected(pcap, "-Y", wrong) == []
    protocol = "idp" if is_xns else "ipx"
    assert dissected(pcap, "-Y", f"ip || ({protocol} && !({_KNOWN_BY[carrier]}))") == []
    # Straight on IPX a block of 6 kB takes six packets and their answers; on XNS one of 400 B one.
    expected = {"ipx": 120, "nbipx": 40, "spp": 80}[carrier]
    assert len(dissected(pcap, "-Y", f"{protocol} && smb")) > expected


@pytest.mark.parametrize(
    ("service", "framing", "known_by"),
    [
        ("smb1+ipx", "ethernet-ii", "eth.type == 0x8137"),
        ("smb1+nbipx", "raw-802.3", "eth.len && !llc"),
        ("ncp", "snap", "llc.type == 0x8137"),
    ],
)
def test_frames_have_the_requested_framing_and_network(
    lanlab: Lanlab, tmp_path: Path, service: str, framing: str, known_by: str
) -> None:
    """All of them: nothing is asked for in another framing either. A server of NetWare is on a
    network of its own, inside the machine."""
    pcap = tmp_path / "frames.pcap"
    segment = ("--ipx-framing", framing, "--ipx-network", "1a2b")
    said = lanlab(
        *("copy", "2x400B", "--service", service, *segment),
        *(*_LINK, "--pcap", str(pcap), "--json"),
    )
    assert said.code == 0, said.err
    parameters = json.loads(said.out)["parameters"]
    assert (parameters["ipx_framing"], parameters["ipx_network"]) == (framing, "00001A2B")
    if shutil.which("tshark") is None:
        missing("`tshark` is not installed")
    assert len(dissected(pcap, "-Y", f"ipx && {known_by} && ipx.net == 0x1a2b")) > 20
    assert dissected(pcap, "-Y", f"ipx && !({known_by} && ipx.net == 0x1a2b)") == []


@_CARRIERS
def test_stations_read_blocks(lanlab: Lanlab, carrier: str) -> None:
    # What is given need not be found out, which takes a second for each station.
    segment = () if carrier == "spp" else ("--ipx-framing", "802.2", "--ipx-network", "7")
    said = lanlab(
        *("stations", "--service", f"smb1+{carrier}", "--stations", "3", "--size", "750", "--read"),
        *(*_LINK, *segment, "--file-size", "15k", "--time", "500ms", "--json"),
    )
    assert said.code == 0, said.err
    trials = json.loads(said.out)["trials"]
    assert [trial["operations_per_s"] > 10 for trial in trials] == [True]
    assert {trial["frames_discarded"] for trial in trials} == {0}


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("--signing", "required"), "--signing has no effect"),
        (("--raw",), "--raw has no effect"),
        (("--ip", "6"), "--ip has no effect"),
        (("--testbed", "loopback"), "needs an Ethernet"),
        (
            ("--ipx-framing", "802.3"),
            "allowed: 'auto', 'ethernet-ii', 'raw-802.3', '802.2' or",
        ),
        (("--ipx-network", "0"), "--ipx-network: found `0`; allowed: a hexadecimal number, 1 to"),
        (("--ipx-network", "FFFFFFFF"), "allowed: a hexadecimal number, 1 to FFFFFFFE"),
    ],
)
def test_options_unsupported_over_ipx_are_refused(
    lanlab: Lanlab, argv: tuple[str, ...], expected: str
) -> None:
    said = lanlab("copy", "2x6kB", "--service", "smb1+ipx", *argv)
    assert (said.code, said.out) == (2, "")
    assert expected in said.err


@_CARRIERS
def test_a_directory_is_served_to_a_client_on_the_wire(
    cable: tuple[Namespace, Namespace], tmp_path: Path, carrier: str
) -> None:
    here, there = cable
    served = tmp_path / "served"
    served.mkdir()
    argv = ["--service", "smb1", "--carrier", carrier, "--interface", "right"]
    # The client finds what the server was given.
    argv += [] if carrier == "spp" else ["--ipx-framing", "snap", "--ipx-network", "7"]
    with serving(
        *argv, str(served), "--name", "cncfiles", "--write", prefix=there.command_prefix
    ) as (server, said):
        assert said["address"] == f"smb1+{carrier}://lanlab@CNCFILES/lanlab"
        copy = ["copy", "5x6kB", said["address"], "--interface", "left", "--trials", "1", "--json"]
        store = str(tmp_path / "store.sqlite")
        copied = subprocess.run(
            [*here.command_prefix, *COMMAND, *copy],
            env=os.environ | {"LANLAB_PASSWORD": said["password"], "LANLAB_STORE": store},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert copied.returncode == 0, copied.stderr
        found = json.loads(copied.stdout)
        assert (found["copied_files"], found["faults"], found["frames_lost_here"]) == (5, 0, 0)
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
        assert server.returncode == 0, errors
        assert "frames sent" in rest
    assert list(served.iterdir()) == [], "what was written is removed"
