"""`copy`, `stations`, `serve` and `listen` over carriers without IP: on a virtual LAN, and by an
interface."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command_line import COMMAND
from netbeui_cable import cable, dissected
from served import run_at, serving
from waiting import until

from lanlab.store import open_store
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


@pytest.mark.parametrize("way", [(), ("--download",)], ids=["upload", "download"])
def test_a_copy_sends_only_netbeui_frames(
    lanlab: Lanlab, tmp_path: Path, way: tuple[str, ...]
) -> None:
    pcap = tmp_path / "frames.pcap"
    service = ("--service", "smb1", "--carrier", "nbf") if way else ("--service", "smb1+nbf")
    said = lanlab("copy", "30x6kB", *service, *_LINK, "--pcap", str(pcap), "--json", *way)
    assert said.code == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (30, 180_000)
    assert (found["faults"], found["retries"]) == (0, 0)
    assert found["parameters"]["service"] == "smb1+nbf"
    assert found["parameters"]["carrier"] == "nbf"
    broken = dissected(pcap, "-Y", "_ws.malformed || _ws.expert.severity == error")
    assert broken == []
    # Neighbour discovery of IPv6 and the like is the system's own.
    assert dissected(pcap, "-Y", "ip || (llc && !netbios && !(llc.dsap == 0xf0))") == []
    assert len(dissected(pcap, "-Y", "smb")) > 200


@_CARRIERS
def test_a_copy_sends_only_frames_of_its_carrier(
    lanlab: Lanlab, tmp_path: Path, carrier: str
) -> None:
    pcap = tmp_path / "frames.pcap"
    argv = ("--service", "smb1", "--carrier", carrier, *_LINK, "--pcap", str(pcap), "--json")
    is_xns = carrier == "spp"
    # In XNS, tshark takes each part of a message for a whole one: here each is one packet.
    files, size_bytes = (4, 400) if is_xns else (10, 6_000)
    system = ("--profile", "three-plus") if is_xns else ()
    said = lanlab("copy", f"{files}x{size_bytes}B", *argv, *system)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (files, files * size_bytes)
    assert (found["faults"], found["retries"], found["frames_discarded"]) == (0, 0, 0)
    parameters = found["parameters"]
    assert (parameters["service"], parameters["carrier"]) == (f"smb1+{carrier}", carrier)
    # tshark does not reassemble messages: it dissects the first part as a whole message.
    whole = "!(nmpi.conn_control.end_msg == 0)"
    wrong = f"(_ws.malformed || _ws.expert.severity == error) && {whole}"
    assert dissected(pcap, "-Y", wrong) == []
    protocol = "idp" if is_xns else "ipx"
    assert dissected(pcap, "-Y", f"ip || ({protocol} && !({_KNOWN_BY[carrier]}))") == []
    # Straight on IPX a block of 6 kB takes six packets and their answers; on XNS one of 400 B one.
    expected = {"ipx": 120, "nbipx": 40, "spp": 80}[carrier]
    assert len(dissected(pcap, "-Y", f"{protocol} && smb")) > expected


def test_a_copy_sends_only_netware_frames(lanlab: Lanlab, tmp_path: Path) -> None:
    pcap = tmp_path / "frames.pcap"
    said = lanlab("copy", "5x6kB", "--service", "ncp", *_LINK, "--pcap", str(pcap), "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["copied_files"], found["copied_bytes"]) == (5, 30_000)
    assert (found["faults"], found["retries"], found["frames_discarded"]) == (0, 0, 0)
    parameters = found["parameters"]
    assert (parameters["service"], parameters["carrier"]) == ("ncp", "ncp")
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
    # The burst of a write is answered by one packet, and the rest by one each.
    assert trials["on"]["frames_received"] < trials["on"]["frames_sent"] / 2


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
    assert len(dissected(pcap, "-Y", f"ipx && {known_by} && ipx.net == 0x1a2b")) > 20
    assert dissected(pcap, "-Y", f"ipx && !({known_by} && ipx.net == 0x1a2b)") == []


def test_blocks_beyond_the_buffer_of_the_pc_lan_program_are_split(
    lanlab: Lanlab, tmp_path: Path
) -> None:
    """As a redirector of the time does: whole sectors in as many reads as it takes, one dialect,
    and a share without a login."""
    pcap = tmp_path / "frames.pcap"
    said = lanlab(
        *("stations", "--service", "smb1+nbf", "--profile", "pc-lan-program", "--stations", "2"),
        *("--link", "2M:broadband", "--trials", "1", "--size", "6000", "--read"),
        *("--readings", "10", "--file-size", "60k", "--pcap", str(pcap), "--json"),
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert [trial["errors"] for trial in found["trials"]] == [0]
    assert dissected(pcap, "-Y", "_ws.malformed || _ws.expert.severity == error") == []

    def told(asked: str, field: str) -> set[str]:
        return set(dissected(pcap, "-Y", asked, "-T", "fields", "-e", field))

    asked = "smb.flags.response == 0"
    assert told(f"{asked} && smb.cmd == 0x72", "smb.dialect.name") == {"PC NETWORK PROGRAM 1.0"}
    assert told("smb.cmd == 0x73", "frame.number") == set()
    assert told("smb.cmd == 0x70 && smb.flags.response == 1", "smb.max_buf") == {"2112"}
    assert told(f"{asked} && smb.cmd == 0x0a", "smb.count") == {"2048", "1904"}


@pytest.mark.parametrize("service", ["smb1+nbf", "smb1+ipx", "smb1+nbipx", "smb1+spp", "ncp"])
def test_stations_read_blocks(lanlab: Lanlab, service: str) -> None:
    # Without these options, each station takes a second to detect the segment.
    has_ipx = service not in ("smb1+nbf", "smb1+spp")
    segment = ("--ipx-framing", "802.2", "--ipx-network", "7") if has_ipx else ()
    said = lanlab(
        *("stations", "--service", service, "--stations", "1,3", "--size", "750", "--read"),
        *(*_LINK, *segment, "--file-size", "15k", "--time", "500ms", "--json"),
    )
    assert said.code == 0, said.err
    trials = json.loads(said.out)["trials"]
    assert [trial["operations_per_s"] > 0 for trial in trials] == [True, True]
    for trial in trials:
        # The rate is of the steady part: each of its operations sends a request.
        steady_s = (trial["steady_end_ns"] - trial["steady_start_ns"]) / 1e9
        assert trial["frames_sent"] > trial["operations_per_s"] * steady_s > 0
        assert trial["frames_lost_here"] == 0
        # On a busy machine the client resends a request, and discards the second reply.
        assert trial["frames_discarded"] <= trial["frames_sent_again"]
    # Both ends of each trial are in the record.
    with open_store() as store:
        (run,) = store.runs()
        for record in store.trials(run.id):
            client, server = (record.raw[role]["carrier"] for role in ("client", "server"))
            assert client["sent_frames"] == record.metrics["frames_sent"]
            assert server["received_frames"] >= client["sent_frames"]


@pytest.mark.parametrize(
    "line", ["copy 1x1kB smb1+nbf://SERVER/DATA", "serve . --service smb1+nbf"]
)
def test_an_unknown_interface_is_refused(lanlab: Lanlab, line: str) -> None:
    said = lanlab(*line.split(), "--interface", "none")
    assert (said.code, said.out) == (2, "")
    assert "no Ethernet interface named `none`" in said.err


@_CARRIERS
def test_a_directory_is_served_to_a_client_on_the_wire(
    cable: tuple[Namespace, Namespace], tmp_path: Path, served: Path, carrier: str
) -> None:
    here, there = cable
    argv = ["--service", "smb1", "--carrier", carrier, "--interface", "right"]
    # The client finds what the server was given.
    argv += [] if carrier == "spp" else ["--ipx-framing", "snap", "--ipx-network", "7"]
    with serving(
        *argv, str(served), "--name", "cncfiles", "--write", prefix=there.command_prefix
    ) as (server, said):
        assert said["address"] == f"smb1+{carrier}://lanlab@CNCFILES/lanlab"
        copy = ["copy", "5x6kB", said["address"], "--interface", "left", "--trials", "1", "--json"]
        store = tmp_path / "store.sqlite"
        copied = run_at(here, *copy, password=said["password"], store=store)
        assert copied.returncode == 0, copied.stderr
        found = json.loads(copied.stdout)
        assert (found["copied_files"], found["faults"], found["frames_lost_here"]) == (5, 0, 0)
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
        assert server.returncode == 0, errors
        assert "frames sent" in rest
    assert list(served.iterdir()) == [], "what was written is removed"


def test_a_netware_server_is_listed_and_found_by_name_or_as_the_nearest(
    cable: tuple[Namespace, Namespace], tmp_path: Path, served: Path
) -> None:
    here, there = cable
    argv = ["--service", "ncp", "--interface", "right", str(served), "--name", "cncfiles"]
    with serving(*argv, "--share", "vol1", "--write", prefix=there.command_prefix) as (
        server,
        said,
    ):
        assert said["address"] == "ncp://lanlab@CNCFILES/vol1"

        def run(*argv: str) -> dict[str, object]:
            store = tmp_path / "store.sqlite"
            done = run_at(here, *argv, "--json", password=said["password"], store=store)
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
    done = run_at(cable[0], *argv, "0", *segment, store=tmp_path / "store.sqlite")
    assert done.returncode == 1, done.stdout
    said = " ".join((done.stdout + done.stderr).split())
    assert "call the nearest server over NCP: no station answers for it" in said
    assert "asked on network 00000017 in raw-802.3" in said
    assert "`lanlab listen` shows the framings and servers of a segment" in said
