"""Many requests of an echo on their way: how many there are, by what tshark sees on the link."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from captures import fields_of
from command_line import Lanlab
from peer_finding import missing

MESSAGE_BYTES = 100
TESTBEDS = {
    "simulated": ("--testbed", "simulated", "--machines", "vista-ipv4,vista-ipv4"),
    "virtual": ("--testbed", "virtual"),
}


@dataclass
class Exchange:
    """A request and its reply as they passed, seconds; `None`: not seen."""

    asked_s: float | None = None
    answered_s: float | None = None


def exchanges(pcap: Path) -> dict[str, Exchange]:
    """By payload, which a reply has of its request. The first that passes is the request."""
    found: dict[str, Exchange] = {}
    shown = f"udp.length == {MESSAGE_BYTES + 8}"
    for time, payload in fields_of(pcap, ("frame.time_epoch", "udp.payload"), "-Y", shown):
        # The number of the message stands in its first octets; the padding may differ.
        exchange = found.setdefault(payload[:40], Exchange())
        if exchange.asked_s is None:
            exchange.asked_s = float(time)
        else:
            assert exchange.answered_s is None, "a third frame of one message"
            exchange.answered_s = float(time)
    return found


def most_on_their_way(seen: list[Exchange]) -> int:
    steps = [(one.asked_s, 1) for one in seen] + [
        (one.answered_s, -1) for one in seen if one.answered_s is not None
    ]
    most = now = 0
    # A reply makes room for a request at the same instant.
    for _, step in sorted((float(at or 0), step) for at, step in steps):
        now += step
        most = max(most, now)
    return most


def measured(
    lanlab: Lanlab, testbed: str, pcap: Path, requests: int, *options: str
) -> dict[str, Any]:
    done = lanlab(
        *("echo", *TESTBEDS[testbed], "--size", str(MESSAGE_BYTES), "--requests", str(requests)),
        *("--warmup", "0", "--receive-buffer", "1MiB", "--pcap", str(pcap), "--json", *options),
    )
    if done.code != 0 and testbed == "virtual" and "namespace" in done.err:
        missing(done.err)
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


@pytest.mark.parametrize("outstanding", [1, 8])
@pytest.mark.parametrize("testbed", TESTBEDS)
def test_the_requested_number_of_requests_is_in_flight(
    lanlab: Lanlab, tmp_path: Path, testbed: str, outstanding: int
) -> None:
    pcap, requests = tmp_path / "frames.pcap", 25 * outstanding
    far = ("--link", "10M,delay=20ms", "--outstanding", str(outstanding))
    told = measured(lanlab, testbed, pcap, requests, *far)
    seen = list(exchanges(pcap).values())
    assert (told["requests"], told["timeouts"], told["duplicate_replies"]) == (requests, 0, 0)
    assert len(seen) == told["replies"] == requests
    assert all(one.answered_s is not None for one in seen)
    # A request is seen on its way to the reply, which is half of the round trip or all of it.
    assert (outstanding + 1) // 2 <= most_on_their_way(seen) <= outstanding
    # A window that is full passes once in each round trip of 40 ms.
    first_s = min(one.asked_s or 0 for one in seen)
    last_s = max(one.answered_s or 0 for one in seen)
    assert last_s - first_s > 24 * 0.040
    # What the program measures is longer than what passes on the link.
    mean_ns = 1e9 * sum((one.answered_s or 0) - (one.asked_s or 0) for one in seen) / len(seen)
    assert told["rtt_mean_ns"] > max(mean_ns, 40e6)
