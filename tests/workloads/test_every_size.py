"""On a link that loses nothing nothing is lost: every workload, transport, version, io and size."""

from collections.abc import Iterator
from itertools import product

import pytest
from captures import captured
from trial_running import Pair, Trial, opened_pair
from waiting import until

from lanlab.testbeds.base import Counters

SIZES = (1, 2, 3, 4, 12, 24, 64, 500, 1472, 65_507)
#: So many messages fit a socket's buffer by default whatever their size: none is lost even if the
#: receiver does not run meanwhile.
MESSAGES = 40
LARGE_MESSAGES = 2


@pytest.fixture(scope="module")
def loopback() -> Iterator[Pair]:
    with opened_pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def lan() -> Iterator[Pair]:
    # Time enough that no start comes too late: a second attempt would be counted too.
    with opened_pair("virtual", lead_s=0.1) as pair:
        yield pair


def stream(pair: Pair, transport: str, ip_version: int, size: int, io: str) -> Trial:
    """As fast as possible, so that messages do go in groups where there are such."""
    if ip_version == 6 and not pair.has_ipv6():
        pytest.skip("no IPv6 here")
    messages = LARGE_MESSAGES if size > 9000 else MESSAGES
    return pair.trial(
        "stream",
        transport=transport,
        ip_version=ip_version,
        message_size_bytes=size,
        io=io,
        receive="poll" if transport == "udp" else "auto",
        messages=messages,
    )


def assert_exact(trial: Trial, size: int) -> None:
    """Every message counted once at every place where one is counted."""
    messages = LARGE_MESSAGES if size > 9000 else MESSAGES
    sent, received, metrics = trial.source, trial.target, trial.metrics
    for key in ("offered_messages", "sent_messages", "total_messages"):
        assert sent[key] == messages, key
    assert sent["offered_messages"] == (
        sent["sent_messages"] + sent["refused_messages"] + sent["unsent_messages"]
    )
    assert received["total_messages"] == messages
    assert received["total_bytes"] == messages * size
    assert received["measured_messages"] == messages
    assert received["mark_seen"]
    for key in ("duplicate", "reordered", "stale"):
        assert received[f"{key}_messages"] == 0, key
    assert received["foreign_datagrams"] == 0
    assert sum(received["intervals"]["bytes"]) == messages * size
    assert metrics["received_ratio"] == 1
    assert metrics["lost_messages"] == 0


@pytest.mark.parametrize(
    ("io", "size"), [*product(["single", "batch", "segment"], SIZES), ("auto", 2), ("auto", 500)]
)
@pytest.mark.parametrize("ip_version", [4, 6])
def test_every_udp_message_size_is_counted(
    loopback: Pair, ip_version: int, io: str, size: int
) -> None:
    trial = stream(loopback, "udp", ip_version, size, io)
    assert_exact(trial, size)
    assert sum(trial.target["intervals"]["messages"]) == trial.target["total_messages"]
    # The first message opens the window.
    assert trial.target["window_messages"] == trial.target["total_messages"] - 1
    if io != "auto":
        assert (trial.source["io"], trial.target["io"]) == (io, io)
    assert trial.source["io"] != "auto"
    group = trial.source["burst_messages"]
    expected = {"single": 1, "batch": 64, "segment": max(1, min(64, 65_000 // size))}
    assert io == "auto" or group == expected[io]
    # A send time has room from 24 octets on.
    assert (trial.target["delay_variation"] is not None) == (size >= 24)


@pytest.mark.parametrize(
    ("io", "size"), [*product(["single", "batch"], SIZES), ("auto", 2), ("auto", 500)]
)
@pytest.mark.parametrize("ip_version", [4, 6])
def test_every_tcp_message_size_is_counted(
    loopback: Pair, ip_version: int, io: str, size: int
) -> None:
    trial = stream(loopback, "tcp", ip_version, size, io)
    assert_exact(trial, size)
    (sender,), (receiver,) = trial.source["flows"], trial.target["flows"]
    if sender["tcp"] is not None:
        # Beside the stream: the session's 64 octets, and the connection's begin and end, which
        # count as an octet each in sequence numbers.
        total = trial.target["total_bytes"]
        assert sender["tcp"]["acknowledged_bytes"] - total in (64, 65, 66)
        assert receiver["tcp"]["received_bytes"] - total in (64, 65)


@pytest.mark.parametrize("size", [2**20, 2**24])
def test_the_largest_tcp_messages_are_counted(loopback: Pair, size: int) -> None:
    trial = loopback.trial(
        "stream", transport="tcp", message_size_bytes=size, messages=3, io="batch"
    )
    assert trial.target["total_bytes"] == 3 * size
    assert trial.target["total_messages"] == 3


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("ip_version", [4, 6])
def test_every_echo_size_gets_its_replies(
    loopback: Pair, ip_version: int, transport: str, size: int
) -> None:
    if ip_version == 6 and not loopback.has_ipv6():
        pytest.skip("no IPv6 here")
    trial = loopback.trial(
        "echo",
        transport=transport,
        ip_version=ip_version,
        message_size_bytes=size,
        requests=MESSAGES,
        timeout_s=5,
    )
    for key in ("requests", "replies", "offered_requests"):
        assert trial.metrics[key] == MESSAGES, key
    for key in ("timeouts", "late_replies", "duplicate_replies", "refused_requests"):
        assert trial.metrics[key] == 0, key
    assert trial.target["answered_messages"] == MESSAGES
    assert trial.source["foreign_datagrams"] == trial.target["foreign_datagrams"] == 0
    names = ("min", "p50", "p90", "p99", "p999")
    # Percentiles of too few values are not given.
    times = [trial.metrics[key] for name in names if (key := f"rtt_{name}_ns") in trial.metrics]
    assert times[0] > 0
    # A histogram has three significant digits.
    assert all(a <= 1.002 * b for a, b in zip(times, [*times[1:], 5e9], strict=True))
    assert times[0] <= trial.metrics["rtt_mean_ns"] <= trial.metrics["rtt_max_ns"] < 5e9


def udp_counters(pair: Pair, host: int, ip_version: int) -> dict[str, int]:
    prefix = {4: "Udp", 6: "Udp6"}[ip_version]
    names = ("InDatagrams", "OutDatagrams", "NoPorts", "InErrors", "RcvbufErrors", "SndbufErrors")
    counters = pair.engines[host].describe()["udp_counters"]
    return {name: counters.get(f"{prefix}{name}", 0) for name in names}


def change(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after}


@pytest.mark.parametrize("size", [1, 2, 64, 500, 1472, 65_507])
@pytest.mark.parametrize("io", ["single", "batch"])
@pytest.mark.parametrize("ip_version", [4, 6])
def test_the_kernel_counts_the_same_datagrams(
    lan: Pair, ip_version: int, io: str, size: int
) -> None:
    before = [udp_counters(lan, host, ip_version) for host in (0, 1)]
    wire_before = lan.bed.counters()
    trial = stream(lan, "udp", ip_version, size, io)
    wire_after = lan.bed.counters()

    def counted() -> list[dict[str, int]]:
        return [change(before[host], udp_counters(lan, host, ip_version)) for host in (0, 1)]

    def all_have_arrived() -> bool:
        source, target = counted()
        return source["OutDatagrams"] == target["InDatagrams"]

    until(all_have_arrived, "the last datagram on its way")
    source, target = counted()
    assert_exact(trial, size)
    messages = trial.source["total_messages"]
    # The source says hello, proves itself and says the end, each again if it is not answered soon.
    session = source["OutDatagrams"] - messages
    assert 3 <= session <= 3 + 60, session
    # The target answers each of these at most once, and says five times a second that it is there.
    assert 3 <= target["OutDatagrams"] <= session + 15
    for counters in (source, target):
        for name in ("NoPorts", "InErrors", "RcvbufErrors", "SndbufErrors"):
            # A last word of either may come when the other has closed its port.
            assert counters[name] <= (3 if name == "NoPorts" else 0), name
    fragments = -(-(size + 8) // (1480 if ip_version == 4 else 1448)) if size > 1472 else 1
    if ip_version == 6 and size == 1472:
        fragments = 2
    assert_wire(wire_before, wire_after, messages * fragments, messages * size)


def assert_wire(before: Counters, after: Counters, packets: int, octets: int) -> None:
    """Interfaces counted at least the stream, and beside it no more than its session and the
    questions for neighbours' addresses."""
    sent = change(before["host0/eth0"], after["host0/eth0"])
    received = change(before["host1/eth0"], after["host1/eth0"])
    for name in ("packets", "bytes"):
        assert sent[f"tx_{name}"] == received[f"rx_{name}"]
    assert packets + 3 <= sent["tx_packets"] <= packets + 80
    assert sent["tx_bytes"] > octets
    for name in ("tx_errors", "tx_drops"):
        assert sent[name] == 0


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
