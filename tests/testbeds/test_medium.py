"""lanlab's own medium below a virtual LAN: what it counts, what it loses, and how it ends."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import begun
from testbed_opening import Open
from testbed_peers import marked_by, reaches
from waiting import until

from lanlab.errors import TestbedDamaged as Damaged
from lanlab.errors import UsageError
from lanlab.testbeds import medium
from lanlab.testbeds.base import Counters
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.needs import needs
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.tools import tool
from lanlab.testbeds.virtual import VirtualTestbed

#: Of a capture with nanoseconds, as its machine writes it (draft-ietf-opsawg-pcap).
PCAP_MAGIC = 0xA1B23C4D
#: How the copies of a host's frames ended.
ENDS = ("delivered_copies", "lost_chance", "lost_excessive_collisions", "lost_switch_queue")


def medium_pid(bed: VirtualTestbed) -> int:
    """The engine that carries the frames: the testbed's only one before anybody measures."""
    own = {each.holder.pid for each in bed._places.values()}
    (found,) = (each.pid for each in marked_by(os.getpid()) if each.pid not in own)
    return found


def settled(bed: Bed) -> Counters:
    """The counters once nothing is under way: kernel and medium are not read at one instant."""
    before, after = bed.counters(), bed.counters()
    while before != after:
        time.sleep(0.02)
        before, after = after, bed.counters()
    return after


@pytest.fixture(params=["tap", "packet_socket"])
def interfaces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What hosts' interfaces are: each test that asks is run on both."""
    if request.param == "tap" and medium.usable_interfaces() != "tap":
        pytest.skip(f"{medium.TUN_DEVICE}, which cannot be opened by this user")
    if request.param == "packet_socket":
        monkeypatch.setattr(medium, "TUN_DEVICE", Path("/dev/no-such-device"))
    return str(request.param)


@pytest.mark.usefixtures("interfaces")
@pytest.mark.parametrize("link", ["10M", "10M:hub", "10M:switch", "10M,loss=20%", "10M:bus"])
def test_every_copy_of_a_frame_is_delivered_or_one_loss(open_bed: Open, link: str) -> None:
    bed = open_bed("virtual", 2, link)
    for _ in range(3):
        # What is lost is not waited for: it is counted all the same.
        reaches(bed, 0, 1, patience_s=0.3)
    after = settled(bed)
    for name in ("host0/eth0", "host1/eth0"):
        counts = after[name]
        ended = sum(counts[f"medium_{end}"] for end in ENDS) + counts["medium_in_flight_copies"]
        assert counts["medium_offered_copies"] == ended > 0
        assert counts["medium_lost_adapter_queue_frames"] == 0
        assert counts["medium_frames"] == counts["tx_packets"]
        other = after["host1/eth0" if name == "host0/eth0" else "host0/eth0"]
        # A host that is not up yet takes nothing of what others say as they come up.
        taken = counts["medium_delivered_copies"] - other["medium_refused_copies"]
        assert other["rx_packets"] == taken
    lost = sum(after[name]["medium_lost_chance"] for name in ("host0/eth0", "host1/eth0"))
    assert (lost > 0) == ("loss" in link)


def test_lateness_counts_since_the_previous_reading(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M")
    assert isinstance(bed, VirtualTestbed)
    assert reaches(bed, 0, 1)
    bed.counters()
    first = bed.medium_read()
    bed.counters()
    second = bed.medium_read()
    assert first is not None and second is not None
    assert first["lateness"]["deliveries"] > 0
    assert second["lateness"]["deliveries"] == 0
    assert open_bed("virtual", 2, "unshaped").medium_read() is None  # type: ignore[attr-defined]


@pytest.mark.usefixtures("interfaces")
@pytest.mark.parametrize("as_user", [False, True])
def test_a_killed_medium_is_damage(
    open_bed: Open, monkeypatch: pytest.MonkeyPatch, as_user: bool
) -> None:
    if as_user:
        monkeypatch.setattr("lanlab.testbeds.namespaces.os.geteuid", lambda: 1000)
    bed = open_bed("virtual", 3, "10M:hub")
    assert isinstance(bed, VirtualTestbed)
    assert bed.damage() is None
    os.kill(medium_pid(bed), signal.SIGKILL)
    until(lambda: bed.damage() is not None, "the damage")
    told = bed.damage()
    assert told is not None and "medium: the engine was ended by signal 9" in told
    with pytest.raises(Damaged, match="the engine was ended by signal 9"):
        bed.counters()
    bed.close()
    assert marked_by(os.getpid()) == []


@pytest.mark.usefixtures("interfaces")
def test_deleting_an_interface_ends_the_medium(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M")
    assert isinstance(bed, VirtualTestbed)
    delete = [*bed.hosts[0].command_prefix, tool("ip"), "link", "delete", "eth0"]
    subprocess.run(delete, check=True)
    told = bed.damage()
    assert told is not None and "eth0 is gone" in told


def test_the_record_says_what_carried_the_frames(open_bed: Open, interfaces: str) -> None:
    found = open_bed("virtual", 2, "10M:bus,precise").facts()
    assert found["link"]["shape"] == "medium"
    assert found["link"]["propagation_ns"] == 25_600
    assert found["link"]["precise"] is True
    assert found["medium"]["interfaces"] == interfaces
    assert found["medium"]["engine_version"]
    assert found["medium"]["seed"] >= 0


def test_doctor_names_the_medium_mechanism(open_bed: Open, interfaces: str) -> None:
    open_bed("virtual", 2, "10M").close()
    (need,) = (need for need in needs("virtual") if need.name.startswith("medium"))
    assert need.found, need.detail
    assert ("packet sockets" in need.detail) == (interfaces == "packet_socket")


@pytest.mark.parametrize("code", [errno.EAFNOSUPPORT, errno.EPERM])
def test_a_kernel_without_a_medium_mechanism_gets_a_hint(
    code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(medium, "TUN_DEVICE", Path("/dev/no-such-device"))
    refused = tmp_path / "python"
    refused.write_text(f"#!/bin/sh\necho 'OSError: [Errno {code}] refused' >&2\nexit 1\n")
    refused.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(refused))
    (need,) = (need for need in needs("virtual") if need.name.startswith("medium"))
    assert not need.found and not need.required
    assert ("CONFIG_PACKET" in need.how_to_get) == (code == errno.EAFNOSUPPORT)


def test_packet_sockets_carry_a_vlan_tag_and_hear_nothing_of_their_own(
    open_bed: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medium, "TUN_DEVICE", Path("/dev/no-such-device"))
    bed = open_bed("virtual", 2, "10M")
    listen = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
s.bind(("eth0", 3))
s.setsockopt(263, 8, 1)
print("there", flush=True)
s.settimeout(10)
while True:
    data, about, _, _ = s.recvmsg(2000, 100)
    if b"in a VLAN" in data:
        tci = int.from_bytes(about[0][2][16:18], sys.byteorder)
        print(len(data), tci)
        break
"""
    send = """
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
to, own = bytes.fromhex("027700000002"), bytes.fromhex("027700000001")
s.send(to + own + b"\\x81\\x00\\x00\\x07\\x88\\xb5" + b"in a VLAN" + bytes(60))
"""
    listener, said = begun([*bed.hosts[1].command_prefix, sys.executable, "-c", listen])
    assert said == "there\n"
    subprocess.run([*bed.hosts[0].command_prefix, sys.executable, "-c", send], check=True)
    said, _ = listener.communicate(timeout=20)
    assert said == "83 7\n"
    # IPv6 may have said something of its own.
    counts = settled(bed)["host1/eth0"]
    assert counts["medium_frames"] == counts["tx_packets"]


# Frames in a file


def test_frames_are_written_to_a_new_file(open_bed: Open, tmp_path: Path) -> None:
    open_bed("virtual", 2, "10M").close()
    path = tmp_path / "frames.pcap"
    with open_testbed("virtual", 2, "10M", path) as bed:
        assert reaches(bed, 0, 1)
        assert isinstance(bed, VirtualTestbed)
        counts = settled(bed)
        read = bed.medium_read()
    assert read is not None and read["unrecorded_frames"] == 0
    content = path.read_bytes()
    assert int.from_bytes(content[:4], sys.byteorder) == PCAP_MAGIC
    frames, at = 0, 24
    while at < len(content):
        at += 16 + int.from_bytes(content[at + 8 : at + 12], sys.byteorder)
        frames += 1
    assert at == len(content)
    sent = sum(counts[f"host{i}/eth0"]["medium_frames"] for i in (0, 1))
    assert frames == sent


@pytest.mark.parametrize(
    ("name", "link", "message"),
    [
        ("virtual", "unshaped", "cannot capture frames on link `unshaped`"),
        ("virtual", "1G", "cannot capture frames on link `1G`"),
        ("virtual", "10M+tbf", "cannot capture frames on link `10M+tbf`"),
        ("loopback", "unshaped", "cannot capture frames on testbed `loopback`"),
    ],
)
def test_a_capture_is_refused_without_a_medium(
    tmp_path: Path, name: str, link: str, message: str
) -> None:
    with pytest.raises(UsageError, match=f"--pcap: {message.replace('+', '[+]')}"):
        open_testbed(name, 2, link, tmp_path / "frames.pcap")
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_users_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.pcap"
    path.write_text("mine")
    with pytest.raises(UsageError, match="already exists and is not replaced"):
        open_testbed("virtual", 2, "10M", path)
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="is not a folder"):
        open_testbed("virtual", 2, "10M", tmp_path / "none" / "frames.pcap")
    assert marked_by(os.getpid()) == []
