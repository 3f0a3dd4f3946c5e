"""A virtual LAN that is no longer as it was made says so."""

import os
import signal
import subprocess

import pytest
from testbed_opening import Open

from lanlab.errors import TestbedDamaged as Damaged
from lanlab.testbeds import damage
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.damage import interruption_of
from lanlab.testbeds.virtual import VirtualTestbed


def on(bed: Bed, host: int, *command: str) -> None:
    subprocess.run([*bed.hosts[host].command_prefix, *command], check=True)


@pytest.mark.parametrize("link", ["unshaped", "10M", "10M:switch", "10M+tbf", "1G:switch"])
def test_an_untouched_testbed_stays_undamaged(open_bed: Open, link: str) -> None:
    bed = open_bed("virtual", 2, link)
    on(bed, 0, "cat", "/proc/net/dev")
    bed.counters()

    assert bed.damage() is None


def test_loopback_is_never_damaged(open_bed: Open) -> None:
    assert open_bed("loopback", 2, "unshaped").damage() is None


def test_a_down_interface_is_damage_and_so_are_the_addresses_it_lost(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M")

    on(bed, 1, "ip", "link", "set", "eth0", "down")
    assert bed.damage() == "host1: the interface eth0 is down"
    on(bed, 1, "ip", "link", "set", "eth0", "up")
    told = bed.damage()

    assert told is not None
    assert told.startswith("host1: the interface eth0 has lost ")
    assert "as when it was down" in told


def test_a_cable_that_was_out_and_is_in_again(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M:switch+tbf")
    assert isinstance(bed, VirtualTestbed)
    switch = bed._places["switch"].command_prefix
    for state in ("down", "up"):
        subprocess.run([*switch, "ip", "link", "set", "port0", state], check=True)

    told = bed.damage()

    assert told == "host0: the link of eth0 was interrupted (its carrier changed 2 times)"


def test_a_deleted_interface_is_damage_and_its_counters_cannot_be_read(open_bed: Open) -> None:
    bed = open_bed("virtual", 2, "10M")
    on(bed, 0, "ip", "link", "delete", "eth0")

    assert bed.damage() == "host0: the interface eth0 is gone"
    with pytest.raises(Damaged, match=r"host0/eth0 cannot be read|interface of a host is gone"):
        bed.counters()


def test_an_ended_holder_is_reported_before_its_consequences(open_bed: Open) -> None:
    """The cable of host0 goes with the namespace of host1."""
    bed = open_bed("virtual", 2, "10M")
    assert isinstance(bed, VirtualTestbed)
    holder = bed._places["host1"].holder
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()

    assert bed.damage() == "host1: the process that held its network has ended"


def test_an_interface_added_later_is_not_damage() -> None:
    assert interruption_of({"host0": {"eth0": 2}}, {"host0": {"eth0": 2, "eth1": 5}}) is None
    assert interruption_of({"host0": {"eth0": 2}}, {"host0": {}}) is None


@pytest.mark.parametrize("link", ["unshaped", "10M"])
def test_an_engine_that_has_ended_is_damage(open_bed: Open, link: str) -> None:
    bed = open_bed("virtual", 2, link)
    assert isinstance(bed, VirtualTestbed) and bed._engine is not None
    os.kill(bed._engine.hello["pid"], signal.SIGKILL)
    bed._engine._process.wait()
    bed._engine._reader.join()

    told = bed.damage()

    assert told is not None and "the engine was ended by signal 9" in told


def test_lost_neighbours_are_found_without_ipv6(
    open_bed: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = damage._lines
    without = "if_inet6"
    monkeypatch.setattr(damage, "_lines", lambda path: read(path) if path.name != without else [])
    bed = open_bed("virtual", 2, "10M")
    assert bed.damage() is None
    for state in ("down", "up"):
        on(bed, 1, "ip", "link", "set", "eth0", state)

    told = bed.damage()

    assert told is not None and "(neighbour 10.77.0.1 at 02:77:00:00:00:01)" in told
