"""`lanlab listen`: what it makes of frames that others send, and how it ends."""

import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND
from programs import ran
from waiting import until

from lanlab.testbeds.namespaces import Namespace, Namespaces

A, B, GROUP, ALL = "020000000001", "020000000002", "030000000001", "ffffffffffff"
#: Sends frames given in hexadecimal, one a line.
SENDER = """
import socket, sys
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
wire.bind(("right", 0))
for line in sys.stdin:
    wire.send(bytes.fromhex(line))
"""


@pytest.fixture
def pair() -> Iterator[tuple[Namespace, Namespace]]:
    namespaces = Namespaces()
    try:
        one, other = namespaces.add(2)
        for argv in (
            ["ip", "link", "add", "left", "type", "veth", "peer", "name", "right", "netns",
             str(other.pid)],
            # Nothing of the system's own is to be heard.
            ["sysctl", "-qw", "net.ipv6.conf.left.disable_ipv6=1"],
            ["ip", "link", "set", "left", "up"],
        ):  # fmt: skip
            subprocess.run([*one.command_prefix, *argv], check=True, timeout=20)
        for argv in (
            ["sysctl", "-qw", "net.ipv6.conf.right.disable_ipv6=1"],
            ["ip", "link", "set", "right", "up"],
        ):
            subprocess.run([*other.command_prefix, *argv], check=True, timeout=20)
        yield one, other
    finally:
        namespaces.close()


def name(text: str, suffix: int) -> bytes:
    return text.encode().ljust(15) + bytes([suffix])


def framed(to: str, source: str, payload: bytes, kind: int | None = None) -> bytes:
    field = len(payload) if kind is None else kind
    return (bytes.fromhex(to + source) + struct.pack("!H", field) + payload).ljust(60, b"\0")


def named(to: str, source: str, command: int, names: list[bytes], data2: int = 0) -> bytes:
    header = struct.pack("<HHBBHHH", 44, 0xEFFF, command, 0, data2, 0, 1)
    return framed(to, source, b"\xf0\xf0\x03" + header + b"".join(names))


def sap_query(source: str, data: bytes = b"\0\3\0\4") -> bytes:
    """Which file server is nearest? Or other data to all who look for servers."""
    address = bytes(4) + b"\xff" * 6 + b"\x04\x52"
    sender = bytes(4) + bytes.fromhex(source) + b"\x40\x00"
    return struct.pack("!HHBB", 0xFFFF, 30 + len(data), 0, 4) + address + sender + data


def arp_request(source: str, wanted: int) -> bytes:
    packet = bytes.fromhex("0001080006040001") + bytes.fromhex(source)
    return framed(ALL, source, packet + bytes([10, 9, 8, 1]) + bytes(6) + bytes([10, 9, 8, wanted]),
                  0x0806)  # fmt: skip


def netbios_on_ipx(source: str, kind: int, about: bytes) -> bytes:
    """A packet about a name of NetBIOS over IPX: 1 looks for it, 2 is the answer."""
    address = bytes(4) + b"\xff" * 6 + b"\x04\x55"
    sender = bytes(4) + bytes.fromhex(source) + b"\x04\x55"
    head = struct.pack("!HHBB", 0xFFFF, 80, 0, 0x14)
    return head + address + sender + bytes(33) + bytes([kind]) + about


SERVER, CALLER = name("CNCFILES", 0x20), name("PC1", 0)
FRAMES = [
    named(GROUP, A, 0x01, [bytes(16), SERVER]),
    named(GROUP, B, 0x0A, [SERVER, CALLER], 5),
    named(B, A, 0x0E, [CALLER, SERVER], 9),
    named(GROUP, B, 0x0A, [name("NOBODY", 0x20), CALLER], 6),
    named(GROUP, B, 0x0A, [name("NOBODY", 0x20), CALLER], 6),
    framed(ALL, A, sap_query(A), 0x8137),
    framed(ALL, A, sap_query(A)),
    framed(ALL, A, b"\xe0\xe0\x03" + sap_query(A)),
    framed(ALL, A, bytes.fromhex("aaaa030000008137") + sap_query(A)),
    framed(ALL, A, b"\x80\x80\x03\x06\x00" + bytes(30)),
    arp_request(A, 77),
    framed(ALL, B, bytes(46), 0x05FF),
]


def send(host: Namespace, frames: list[bytes]) -> None:
    subprocess.run(
        [*host.command_prefix, sys.executable, "-c", SENDER],
        input="\n".join(frame.hex() for frame in frames),
        text=True,
        check=True,
        timeout=20,
    )


def unread_bytes(host: Namespace) -> list[int]:
    """Of each packet socket there that is bound to something, what it has not read yet."""
    rows = [line.split() for line in Path(f"/proc/{host.pid}/net/packet").read_text().splitlines()]
    return [int(row[6]) for row in rows if row[3] == "0003"]


def listening(
    host: Namespace, *argv: str, then: Callable[[subprocess.Popen[str]], None]
) -> tuple[int, str, str]:
    """Listen on `left`, do something once frames are received, and wait for the end."""
    process = subprocess.Popen(
        [*host.command_prefix, *COMMAND, "listen", "--interface", "left", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: bool(unread_bytes(host)), "a socket that receives all frames")
        then(process)
        said, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    return process.returncode, said, errors


def test_listen_reports_stations_protocols_and_unanswered_queries(
    pair: tuple[Namespace, Namespace], tmp_path: Path
) -> None:
    here, there = pair
    file = tmp_path / "heard.pcap"
    code, said, errors = listening(
        here,
        *("--frames", str(len(FRAMES)), "--time", "30s", "--json", "--pcap", str(file)),
        then=lambda _: send(there, FRAMES),
    )
    assert code == 0, errors
    heard: dict[str, Any] = json.loads(said)
    assert (heard["interface"], heard["frames"]) == ("left", len(FRAMES))
    assert heard["unreadable_frames"] == 1
    spoken = {(each["framing"], each["protocol"]): each["frames"] for each in heard["protocols"]}
    assert spoken == {
        ("llc", "NetBEUI"): 5,
        ("ethernet_ii", "IPX"): 1,
        ("raw_802_3", "IPX"): 1,
        ("llc", "IPX"): 1,
        ("snap", "IPX"): 1,
        ("three_com", "XNS"): 1,
        ("ethernet_ii", "ARP"): 1,
    }
    signs = {each["name"]: (each["sign"], each["suffix"]) for each in heard["names"]}
    assert signs == {"CNCFILES": ("answered", 0x20), "PC1": ("used", 0)}
    assert [(each["name"], each["address"]) for each in heard["servers"]] == [
        ("CNCFILES", "02:00:00:00:00:01")
    ]
    questions = {each["asked"]: each["times"] for each in heard["unanswered"]}
    assert questions == {"10.9.8.77": 1, "NOBODY<20>": 2, "file server": 4}
    assert heard["answered_questions"] == 1
    assert heard["recorded_frames"] == len(FRAMES)
    content = file.read_bytes()
    at, frames = 24, []
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at + 8)
        frames.append(content[at + 16 : at + 16 + length])
        at += 16 + length
    assert frames == FRAMES


def test_ctrl_c_prints_the_results_and_listen_sends_nothing(
    pair: tuple[Namespace, Namespace],
) -> None:
    here, there = pair

    def stop(process: subprocess.Popen[str]) -> None:
        send(there, FRAMES[3:5])
        until(lambda: not any(unread_bytes(here)), "the frames to be read")
        child = ran(["pgrep", "-P", str(process.pid)]).stdout.split()
        # `nsenter` becomes the command itself, so that the process is lanlab's.
        assert len(child) == 1, "its engine"
        status = Path(f"/proc/{child[0]}/status").read_text()
        assert "CapEff:\t0000000000000000" in status, "what reads frames has rights"
        assert "NoNewPrivs:\t1" in status
        os.kill(process.pid, signal.SIGINT)

    before = Path(f"/proc/{there.pid}/net/dev").read_text()
    code, said, errors = listening(here, "--time", "1h", then=stop)
    assert code == 0, errors
    assert "NetBEUI  802.2  2 frames" in said
    assert "look for a NetWare server" not in said
    assert "NetBEUI: who has the name NOBODY<20>  asked by 02:00:00:00:00:02  2 times" in said
    assert "behind a switch" in said
    after = Path(f"/proc/{there.pid}/net/dev").read_text()
    received = [
        next(line.split()[2] for line in text.splitlines() if line.lstrip().startswith("right:"))
        for text in (before, after)
    ]
    assert received[0] == received[1], "it has sent something"


def test_hints_name_how_to_serve_and_how_to_use_netware(
    pair: tuple[Namespace, Namespace],
) -> None:
    here, there = pair
    asked = framed(ALL, A, sap_query(A))
    entry = b"\0\4" + b"FS1".ljust(48, b"\0") + b"\0\0\0\x17" + bytes.fromhex(B) + b"\4\x51\0\1"
    # Who asks for the nearest is not answered by an announcement.
    said_of = framed(ALL, B, sap_query(B, b"\0\2" + entry))
    code, said, errors = listening(
        here, "--frames", "2", "--time", "30s", then=lambda _: send(there, [asked, said_of])
    )
    assert code == 0, errors
    assert "files of a NetWare server are at ncp://USER@FS1/VOLUME" in said
    assert "`lanlab serve DIRECTORY --service ncp --interface left` is one." in " ".join(
        said.split()
    )


def test_listen_ends_after_its_time(pair: tuple[Namespace, Namespace]) -> None:
    code, said, _ = listening(pair[0], "--time", "300ms", then=lambda _: None)
    assert code == 0
    assert "nothing was heard" in said


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--interface", "lefd"], "no Ethernet interface named `lefd`\nhint: interfaces: left"),
        (["--interface", "left", "--time", "0s"], "--time: "),
        (["--interface", "left", "--time", "25h"], "allowed: 1 ms to 24 h"),
    ],
)
def test_invalid_options_are_refused(
    pair: tuple[Namespace, Namespace], argv: list[str], expected: str
) -> None:
    run = ran([*pair[0].command_prefix, *COMMAND, "listen", *argv])
    assert (run.returncode, run.stdout) == (2, "")
    assert expected in run.stderr


def test_the_default_route_interface_needs_permission(
    pair: tuple[Namespace, Namespace],
) -> None:
    here = pair[0]
    for argv in (["addr", "add", "10.9.8.1/24", "dev", "left"],
                 ["route", "add", "default", "via", "10.9.8.2"]):  # fmt: skip
        subprocess.run([*here.command_prefix, "ip", *argv], check=True, timeout=20)
    argv = [*here.command_prefix, *COMMAND, "listen", "--interface", "left", "--time", "10ms"]
    refused = ran(argv)
    assert refused.returncode == 2
    assert "has the default route" in refused.stderr
    assert "--allow-default-route" in refused.stderr
    allowed = ran([*argv, "--allow-default-route"])
    assert allowed.returncode == 0, allowed.stderr


def test_interfaces_without_full_frames_are_refused_for_sending(
    pair: tuple[Namespace, Namespace],
) -> None:
    here = pair[0].command_prefix
    subprocess.run(
        [*here, "ip", "link", "set", "dev", "left", "mtu", "1400"], check=True, timeout=20
    )
    for argv, code in (
        (["copy", "1x1kB", "smb1+nbf://PC/DATA"], 2),
        (["serve", "--service", "smb1+nbf", "."], 2),
        (["listen", "--time", "10ms"], 0),
    ):
        run = ran([*here, *COMMAND, *argv, "--interface", "left"])
        assert run.returncode == code, run.stderr
        if code:
            assert "has an MTU of 1400; full frames need 1500" in run.stderr
            assert "ip link set dev left mtu 1500" in run.stderr


def test_without_the_right_it_gives_a_hint(pair: tuple[Namespace, Namespace]) -> None:
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups"]
    if subprocess.run([*drop, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no rights that could be given up")
    code = "from lanlab.testbeds.raw_links import raw_link\nwith raw_link('left'): pass"
    run = ran([*pair[0].command_prefix, *drop, sys.executable, "-c", code])
    assert "needs root" in run.stderr


def test_stations_that_use_ipx_in_different_framings_are_named(
    pair: tuple[Namespace, Namespace],
) -> None:
    here, there = pair
    frames = [
        framed(ALL, A, netbios_on_ipx(A, 2, SERVER)),
        framed(ALL, B, b"\xe0\xe0\x03" + netbios_on_ipx(B, 1, SERVER)),
        framed(ALL, B, sap_query(B)),
    ]
    code, said, errors = listening(
        here,
        *("--frames", str(len(frames)), "--time", "30s"),
        then=lambda _: send(there, frames),
    )
    assert code == 0, errors
    assert (
        "note: these stations use IPX in different framings, and do not hear each other:\n"
        "  802.2: 02:00:00:00:00:02\n"
        "  raw 802.3: 02:00:00:00:00:01 (CNCFILES)\n"
    ) in said
    assert "CNCFILES<20>  unique  02:00:00:00:00:01  NetBIOS over IPX  answered for it" in said
