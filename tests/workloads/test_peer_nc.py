"""Streams with the stock `nc` at the other end, held against what tshark saw on the wire."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from captures import marked, running
from missing import missing
from peer_finding import peer_program
from trial_running import Pair, opened_pair
from waiting import PATIENCE_S

from lanlab.performers import metrics_of
from lanlab.performers.program import Program, wait_listening
from lanlab.testbeds.base import Host
from lanlab.testbeds.virtual import VirtualTestbed
from lanlab.workloads import WORKLOADS, CounterChanges

PORT = 5001
#: Whole messages.
BYTES = 300 * 1_460


@pytest.fixture(scope="module")
def lan() -> Iterator[Pair]:
    with opened_pair("virtual", "10M") as pair:
        yield pair


@contextmanager
def nc(host: Host, *options: str, sends: Path = Path("/dev/null")) -> Iterator[None]:
    """`nc` that waits for a connection on a host, sends a file and discards what comes."""
    found = shutil.which("nc") or missing("need `nc`")
    shell = f"exec {found} {' '.join(options)} -l {PORT} < {sends} > /dev/null"
    program = Program("nc", [*host.command_prefix, "sh", "-c", shell])
    try:
        wait_listening(program, "tcp", PORT, PATIENCE_S)
        yield
    finally:
        program.close()


@contextmanager
def payload_seen(lan: Pair, host: Host, sent_to_port: bool) -> Iterator[Callable[[], int]]:
    """What gives the bytes of payload that tshark saw at a host in one direction, each once."""
    asked = lan.bed.hosts[1].addresses["ipv4"]
    way = "dst" if sent_to_port else "src"
    taken = f"icmp or (tcp {way} port {PORT})"
    fields = ("-E", "separator=,", "-e", "frame.len", "-e", "tcp.seq", "-e", "tcp.len")
    tshark = (peer_program("tshark"), "-i", "eth0", "-n", "-l", "-Q", "-f", taken, "-T", "fields")

    def mark(size_bytes: int) -> None:
        given = {"message_size_bytes": size_bytes, "requests": 1}
        outcome = lan.exchange("echo", peer=f"icmp://{asked}", **given)
        assert outcome.error is None, outcome.error

    with running(host, *tshark, *fields) as capture:
        marked([capture], "102,", lambda: mark(60))

        def end() -> int:
            mark(61)
            segments = [line.split(",")[1:] for line in capture.until("103,")]
            ends = [int(seq) + int(length) for seq, length in segments if length not in ("", "0")]
            # The first octet of the payload has number 1.
            return max(ends) - 1

        yield end


def measured(lan: Pair, **given: Any) -> dict[str, float | int]:
    given = {
        "transport": "tcp",
        "message_size_bytes": 1_460,
        "warmup_s": 0,
        "peer": f"tcp://{lan.bed.hosts[1].addresses['ipv4']}:{PORT}",
        **given,
    }
    outcome = lan.exchange("stream", **given)
    assert outcome.error is None, outcome.error
    kind = WORKLOADS["stream"]
    return metrics_of(kind, kind.Parameters.model_validate(given), outcome, CounterChanges())


def test_tshark_sees_the_bytes_sent_to_nc(lan: Pair) -> None:
    there = lan.bed.hosts[1]
    with nc(there), payload_seen(lan, there, sent_to_port=True) as seen:
        metrics = measured(lan, time_s=0.5)
        assert metrics["total_acknowledged_bytes"] == seen() > 0
    # Of all that was on the cable in the time: frames of 1448 bytes of payload.
    assert 0 < metrics["acknowledged_bps"] <= 10e6 * 1448 / 1538


def test_tshark_sees_the_bytes_sent_by_nc(lan: Pair, tmp_path: Path) -> None:
    there, file = lan.bed.hosts[1], tmp_path / "sent"
    file.write_bytes(bytes(BYTES))
    with nc(there, "-N", sends=file), payload_seen(lan, there, sent_to_port=False) as seen:
        metrics = measured(lan, traffic_direction="reverse", bytes=BYTES)
        assert metrics["total_received_bytes"] == seen() == BYTES
    # What had come before reception began is not in it; of the rest one frame may have been on its
    # way, and some late.
    assert isinstance(lan.bed, VirtualTestbed)
    read = lan.bed.medium_read()
    assert read is not None
    late_frames = 1 + read["lateness"]["longest_ns"] * 10e6 / 8e9 / 1538
    counted = metrics["received_bytes"]
    in_time_bytes = counted - (1 + late_frames) * 1448
    assert metrics["goodput_bps"] > 0
    assert metrics["goodput_bps"] * in_time_bytes <= 10e6 * 1448 / 1538 * counted
