"""
Programs that others wrote measure the same link and find the same.

They are skipped where they are not installed; with LANLAB_REQUIRE_PEERS=1 that is a failure.
"""

from collections.abc import Iterator

import pytest
from captures import captured, iperf3_goodput_bps
from trial_running import Pair, opened_pair


@pytest.fixture(scope="module")
def lan() -> Iterator[Pair]:
    with opened_pair("virtual", "10M") as pair:
        yield pair


def fastest(lan: Pair, size: int) -> float:
    """Goodput of UDP as fast as the link takes it, nothing of it lost."""
    trial = lan.trial("stream", message_size_bytes=size, warmup_s=0.3, time_s=0.8)
    assert trial.metrics["received_ratio"] == 1
    return trial.metrics["goodput_bps"]


@pytest.mark.parametrize("size", [18, 1408])
@pytest.mark.figures
def test_goodput_is_the_limit_of_the_ethernet(lan: Pair, size: int) -> None:
    """By arithmetic: beside the payload a datagram takes UDP 8, IPv4 20, Ethernet 38 octets."""
    limit_bps = 10e6 * size / (size + 66)
    found_bps = fastest(lan, size)
    assert found_bps == pytest.approx(limit_bps, rel=0.01), f"{found_bps:.0f}"


@pytest.mark.figures
def test_iperf3_measures_the_same_limit(lan: Pair) -> None:
    size = 500
    source, target = lan.bed.hosts
    address = target.addresses["ipv4"]
    ours_bps = fastest(lan, size)
    theirs_bps = iperf3_goodput_bps(source, target, address, size)
    near = ours_bps == pytest.approx(theirs_bps, rel=0.02)
    assert near, f"ours {ours_bps:.0f}, iperf3's {theirs_bps:.0f} bit/s"


def test_tshark_sees_every_datagram_once(lan: Pair) -> None:
    """A paced trial of 300 messages in 3 flows, on the wire: 300 datagrams of that length."""
    flows = 3
    source, target = lan.bed.hosts
    with captured([target], source, target.addresses["ipv4"], 500) as end:
        trial = lan.trial(
            "stream", message_size_bytes=500, messages=300, rate_messages_per_s=1000, flows=flows
        )
        (ports,) = end()
    assert len(ports) == trial.source["sent_messages"] == trial.target["total_messages"] == 300
    assert len(set(ports)) == flows
    assert all(ports.count(port) == 300 // flows for port in ports)


@pytest.mark.parametrize("ip_version", [4, 6])
def test_the_link_queue_counts_the_same_frames(lan: Pair, ip_version: int) -> None:
    before = lan.bed.counters()
    trial = lan.trial(
        "stream",
        ip_version=ip_version,
        message_size_bytes=500,
        messages=300,
        rate_messages_per_s=1000,
    )
    after = lan.bed.counters()
    change = {
        name: after["host0/eth0"][name] - before["host0/eth0"][name] for name in after["host0/eth0"]
    }
    assert trial.target["total_messages"] == 300
    assert change["qdisc_drops"] == change["tx_drops"] == 0
    assert change["tx_packets"] == change["qdisc_packets"]
    beside = change["tx_packets"] - 300
    assert 3 <= beside <= 40
    # Ethernet 14, IP 20 or 40, UDP 8; a word of the session has 64, the least frame fewer. A report
    # of multicast groups has up to 130: hosts that are just up send some, even where IPv4 is tried.
    frame = 14 + (20 if ip_version == 4 else 40) + 8 + 500
    rest = change["tx_bytes"] - 300 * frame
    assert 42 * beside <= rest <= 130 * beside
