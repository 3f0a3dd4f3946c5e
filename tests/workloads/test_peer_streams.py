"""Streams whose other end is a program that is not lanlab's, and what only one end can know."""

import shutil
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from missing import missing
from peer_programs import (
    SLOW_READER_BYTES_PER_S,
    STATED_BYTES,
    chargen,
    closes_early,
    discard,
    echo,
    iperf3,
    listening,
    never_reads,
    reads_exactly,
    reads_slowly,
    reads_text,
    sends_a_stated_amount,
)
from pydantic import ValidationError
from trial_running import Pair, module_pair
from waiting import PATIENCE_S

from lanlab.errors import EngineError, LabError
from lanlab.performers.program import Program, free_ports, wait_listening
from lanlab.workloads import TrialOutcome
from lanlab.workloads.peers.peer import parse_peer
from lanlab.workloads.stream.parameters import StreamParameters

__all__ = ["module_pair"]

TCP = {"transport": "tcp", "message_size_bytes": 16_384}
#: A stock server has read all of it, however busy the machine is, when it is asked for its count.
PACED_TCP = {**TCP, "rate_bps": "100M"}
UDP = {"transport": "udp", "message_size_bytes": 1_000, "rate_bps": "4M"}
SHORT = {"time_s": 0.3, "silence_s": 1}


def measured(pair: Pair, peer: str, **given: Any) -> tuple[TrialOutcome, dict[str, float | int]]:
    given = {**TCP, **SHORT, "silence_s": 20, "peer": peer, "warmup_s": 0.1, **given}
    return pair.peer_trial("stream", **given)


def failed(pair: Pair, peer: str, **given: Any) -> LabError:
    outcome = pair.exchange("stream", **{**TCP, **SHORT, "peer": peer, **given})
    assert outcome.error is not None
    return outcome.error


def test_bytes_acknowledged_by_a_peer_equal_those_its_program_read(pair: Pair) -> None:
    with listening(discard) as program:
        outcome, metrics = measured(pair, program.tcp, flows=2)

    sent = outcome.results["sender"]["total_messages"] * TCP["message_size_bytes"]
    assert metrics["total_acknowledged_bytes"] == sent == sum(program.read_bytes) > 0
    assert 0 < metrics["acknowledged_bytes"] <= sent
    assert metrics["acknowledged_bps"] > 0
    # That anything was received, and by what time, is not known.
    assert not {"goodput_bps", "received_bytes", "received_ratio", "loss_ratio"} & set(metrics)
    assert set(outcome.results) == {"sender"}
    assert sum(outcome.results["sender"]["intervals"]["bytes"]) == sent


def test_exactly_the_given_bytes_are_sent_at_the_rate(pair: Pair) -> None:
    with listening(discard) as program:
        _, metrics = measured(
            pair, program.tcp, time_s=None, bytes=163_840, rate_bps="8M", warmup_s=0
        )

    # On a busy machine a start that came too late left a connection without a byte.
    assert [read for read in program.read_bytes if read] == [163_840]
    assert metrics["acknowledged_bytes"] == 163_840


def test_a_peer_that_repeats_all_it_gets_is_read_and_does_not_stop_the_stream(pair: Pair) -> None:
    with listening(echo) as program:
        _, metrics = measured(pair, program.tcp, time_s=None, bytes=20_000_000)

    # Far beyond what the buffers of both ends hold.
    assert metrics["total_acknowledged_bytes"] == sum(program.read_bytes) > 10_000_000
    assert metrics["returned_bytes"] == sum(program.read_bytes)


def test_bytes_of_a_peer_count_until_its_time_is_over(pair: Pair) -> None:
    with listening(chargen) as program:
        outcome, metrics = measured(pair, program.tcp, traffic_direction="reverse")

    assert set(outcome.results) == {"receiver"}
    received = outcome.results["receiver"]
    assert received["window_ns"] == 300_000_000
    assert metrics["goodput_bps"] == 8e9 * received["window_bytes"] / 300_000_000 > 0
    assert not {"sent_bps", "acknowledged_bps", "loss_ratio"} & set(metrics)


def test_a_peer_that_sends_a_stated_amount_and_closes_is_a_result(pair: Pair) -> None:
    with listening(sends_a_stated_amount) as program:
        outcome, metrics = measured(
            pair, program.tcp, traffic_direction="reverse", time_s=5, warmup_s=0
        )

    received = outcome.results["receiver"]
    assert received["total_bytes"] == STATED_BYTES
    assert 0 < metrics["received_bytes"] <= STATED_BYTES
    assert 0.1 < metrics["elapsed_s"] == received["window_ns"] / 1e9 < 5
    assert metrics["goodput_bps"] == pytest.approx(
        8 * metrics["received_bytes"] / metrics["elapsed_s"]
    )


@pytest.mark.parametrize("given", [{}, {"send_buffer_bytes": 16_000}, {"message_size_bytes": 1460}])
def test_a_slow_peer_is_measured_by_its_acknowledgements(pair: Pair, given: dict[str, Any]) -> None:
    """As an old PC or a printer does, with its small buffer: between two reads nothing is
    acknowledged, and a message takes longer than the trial."""
    asked = {"time_s": 1, "message_size_bytes": 131_072, "send_buffer_bytes": 64_000, **given}
    with listening(reads_slowly, receive_buffer_bytes=8192) as program:
        _, metrics = measured(pair, program.tcp, **asked)
    # A busy machine makes it slower.
    assert metrics["acknowledged_bps"] > SLOW_READER_BYTES_PER_S
    assert metrics["acknowledged_bps"] < 8 * SLOW_READER_BYTES_PER_S * 2


@pytest.mark.parametrize(
    ("does", "given", "code", "words"),
    [
        (closes_early, {}, "peer.closed", "closed the connection before the end"),
        (never_reads, {"time_s": 5}, "peer.takes_nothing", "acknowledged nothing more for 3.0 s"),
        (discard, {"traffic_direction": "reverse", "time_s": 5}, "peer.sends_nothing", "for 3.0 s"),
    ],
)
def test_a_peer_that_does_not_do_its_part_ends_the_trial_with_a_sentence(
    pair: Pair, does: Any, given: dict[str, Any], code: str, words: str
) -> None:
    with listening(does) as program:
        error = failed(pair, program.tcp, **given)

    assert isinstance(error, EngineError)
    assert error.code == code
    assert words in error.message
    assert error.hint


def test_a_missing_peer_is_named(pair: Pair) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = failed(pair, f"tcp://127.0.0.1:{port}")

    assert f"TCP port {port} of 127.0.0.1: Connection refused" in error.message


def test_datagrams_without_room_for_a_number_are_refused(pair: Pair) -> None:
    with listening(iperf3(lambda control: reads_exactly(control, 1))) as program:
        error = failed(pair, program.iperf3, **{**UDP, "message_size_bytes": 15})

    assert "found 15; allowed: 16 or more" in error.message


def test_an_old_server_is_understood_and_believed(pair: Pair) -> None:
    """Version 3.1 answers a flow with another number; `null` stands for no number."""

    def none_arrived(control: socket.socket) -> None:
        assert reads_exactly(control, 1) == b"\x04"
        control.sendall(b"\x0d")
        reads_text(control)
        text = b'{"cpu_util_total":null,"streams":[{"id":1,"bytes":0,"jitter":null,"packets":9.0}]}'
        control.sendall(struct.pack(">I", len(text)) + text + b"\x0e")
        reads_exactly(control, 1)

    old = struct.pack("<I", 987_654_321)
    arrived = pytest.raises(EngineError, match="reports that no message arrived")
    with listening(iperf3(none_arrived, old)) as program, arrived:
        measured(pair, program.iperf3, **UDP)


@contextmanager
def iperf3_server() -> Iterator[int]:
    found = shutil.which("iperf3") or missing("need `iperf3`")
    port = free_ports((), 1)
    server = Program("iperf3 server", [found, "-s", "-p", str(port)])
    try:
        wait_listening(server, "tcp", port, PATIENCE_S)
        yield port
    finally:
        server.end()
        server.close()


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with iperf3_server() as port:
        yield port


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
@pytest.mark.parametrize("flows", [1, 4])
@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
@pytest.mark.parametrize("transport", [PACED_TCP, UDP], ids=["tcp", "udp"])
def test_both_ends_count_the_same_bytes_with_a_stock_server(
    pair: Pair, server: int, transport: dict[str, Any], direction: str, flows: int, host: str
) -> None:
    if host == "[::1]" and not pair.has_ipv6():
        missing("need IPv6")
    outcome, metrics = measured(
        pair,
        f"iperf3://{host}:{server}",
        **transport,
        traffic_direction=direction,
        flows=flows,
        ip_version=6 if host == "[::1]" else 4,
    )

    if direction != "reverse":
        # The server's time has that in it in which this end waited for it to read all.
        flows_there = outcome.results["peer"]["streams"][:flows]
        lasted_s = max(flow["end_time"] - flow["start_time"] for flow in flows_there)
        waited_s = outcome.results["peer"]["waited_ns"] / 1e9
        assert 0.1 <= waited_s < lasted_s
        rate_bps = 8 * metrics["peer_received_bytes"] / (lasted_s - waited_s)
        assert metrics["peer_goodput_bps"] == pytest.approx(rate_bps, rel=1e-9)
        if transport is PACED_TCP:
            assert metrics["peer_received_bytes"] == metrics["total_acknowledged_bytes"] > 0
        else:
            sent = metrics["total_sent_messages"]
            assert metrics["peer_received_messages"] * 1_000 == metrics["peer_received_bytes"] > 0
            # A datagram that comes after the last that arrived is not seen to be missing.
            lost = sent - metrics["peer_received_messages"]
            assert lost >= metrics["peer_lost_messages"] >= 0
    prefix = {"reverse": "", "both": "reverse_"}.get(direction)
    if prefix is not None:
        received, sent = (
            metrics[f"{prefix}{key}"] for key in ("total_received_bytes", "peer_sent_bytes")
        )
        if transport is PACED_TCP:
            assert received == sent > 0
        else:
            assert sent - received == 1_000 * metrics[f"{prefix}lost_messages"] >= 0 < received


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nas", "allowed: a URL with tcp:// or iperf3://"),
        ("ftp://nas", "allowed: a URL with"),
        ("tcp://nas", "found no port"),
        ("tcp://nas:0", "found port 0"),
        ("tcp://nas:65536", "found port 65536"),
        ("tcp://me@nas:9", "allowed: a URL"),
        ("iperf3://[fe80::1]", "allowed: one with its interface"),
        (f"tcp://{'a' * 300}:9", "a name of 300 characters"),
    ],
)
def test_an_invalid_url_of_a_peer_is_refused(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        parse_peer(url)
    assert "write e.g." in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"transport": "udp"}, "needs transport tcp; found udp"),
        ({"traffic_direction": "both"}, "needs traffic_direction .*; found both"),
        ({"flows": 129}, "flows: found 129"),
        ({"ip_version": 6}, "the peer's IPv4 address"),
        ({"receiver_processor": 0}, "receiver_processor has no effect"),
        ({"port": 9}, "port has no effect"),
        ({"traffic_direction": "reverse", "rate_bps": "1M"}, "rate_bps has no effect"),
        ({"driver": "iperf3", "warmup_s": 0}, "tool `iperf3`: found peer"),
    ],
)
def test_a_condition_that_no_plain_peer_can_have_is_refused(
    given: dict[str, Any], words: str
) -> None:
    plain = {"peer": "tcp://127.0.0.1:9", "transport": "tcp", "time_s": 1}
    StreamParameters.model_validate(plain)
    with pytest.raises(ValidationError, match=words):
        StreamParameters.model_validate({**plain, **given})
