"""Round trips to a program or host that is not lanlab's: UDP and TCP echo, connections, ICMP."""

import queue
import socket
from typing import Any

import pytest
from captures import marked, running
from missing import missing
from peer_finding import peer_program
from peer_programs import Answers, answering, chargen, closes_early, discard, echo, listening
from pydantic import ValidationError
from trial_running import Pair, module_pair, opened_pair

from lanlab.errors import EngineError
from lanlab.report.trials.subject import subject
from lanlab.workloads import TrialOutcome
from lanlab.workloads.echo.workload import EchoParameters
from lanlab.workloads.option_words import by_option
from lanlab.workloads.peers.peer import ECHO, parse_peer

__all__ = ["module_pair"]

#: Of Ethernet, IPv4 and ICMP.
HEADERS_BYTES = 14 + 20 + 8
GIVEN = {"message_size_bytes": 200, "requests": 50, "silence_s": 1, "warmup_s": 0.02}


def measured(pair: Pair, peer: str, **given: Any) -> tuple[TrialOutcome, dict[str, float | int]]:
    return pair.peer_trial("echo", **{**GIVEN, "peer": peer, **given})


def failed(pair: Pair, peer: str, **given: Any) -> EngineError:
    with pytest.raises(EngineError) as raised:
        measured(pair, peer, **given)
    assert raised.value.hint
    return raised.value


def the_same(octets: bytes, number: int) -> bytes:
    return octets


@pytest.mark.parametrize("size_bytes", [1, 5, 200, 1_472])
def test_every_udp_echo_is_timed_and_counted_only_here(pair: Pair, size_bytes: int) -> None:
    with answering(the_same) as program:
        outcome, metrics = measured(pair, program.echo(), message_size_bytes=size_bytes)

    assert set(outcome.results) == {"requester"}
    assert metrics["replies"] == metrics["requests"] == 50
    assert program.read_bytes.count(size_bytes) >= 50
    assert 0 < metrics["rtt_min_ns"] <= metrics["rtt_p50_ns"]
    assert metrics["foreign_datagrams"] == 0
    # What the peer's program took is not known.
    assert not any(key.startswith("responder") for key in metrics)


@pytest.mark.parametrize("size_bytes", [1, 200, 100_000])
def test_every_tcp_echo_is_timed(pair: Pair, size_bytes: int) -> None:
    with listening(echo) as program:
        tcp = {"transport": "tcp", "message_size_bytes": size_bytes}
        outcome, metrics = measured(pair, program.echo(), **tcp)

    assert metrics["replies"] == metrics["requests"] == 50
    assert sum(program.read_bytes) >= 50 * size_bytes
    assert outcome.results["requester"]["tcp"] is not None


def test_scheduled_and_concurrent_requests_reach_a_peer(pair: Pair) -> None:
    with answering(the_same) as program:
        _, metrics = measured(pair, program.echo(), rate_requests_per_s=500)
        assert metrics["replies"] == 50
    with listening(echo) as program:
        _, metrics = measured(pair, program.echo(), transport="tcp", outstanding_requests=8)
        assert metrics["replies"] == metrics["requests"] >= 50


def test_a_peer_is_reached_over_ipv6(pair: Pair) -> None:
    if not pair.has_ipv6():
        missing("need IPv6")
    with answering(the_same, "::1") as program:
        _, metrics = measured(pair, program.echo("[::1]"), ip_version=6)
    assert metrics["replies"] == 50


@pytest.mark.parametrize(
    "pace", [{}, {"outstanding_requests": 4}, {"rate_requests_per_s": 400}], ids=str
)
def test_each_request_opens_a_connection_and_closes_it_at_once(
    pair: Pair, pace: dict[str, Any]
) -> None:
    opened: queue.SimpleQueue[int] = queue.SimpleQueue()

    def note(connection: socket.socket) -> None:
        # The end of it is a reset, so that nothing of it stays at either host.
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        opened.put(1)

    with listening(note) as program:
        given = {"transport": "tcp", "message_size_bytes": 1408, "warmup_s": 0, "requests": 20}
        outcome, metrics = measured(pair, program.tcp, **given, **pace)
        # And one before each start, by which the path is known: a busy machine may be late for one.
        count = 20 + outcome.setup["start_attempts"]
        assert sum(opened.get(timeout=20) for _ in range(count)) == count

    assert metrics["replies"] == metrics["requests"]
    assert 20 <= metrics["requests"] < 25
    assert opened.empty() or "outstanding_requests" in pace


def test_icmp_is_timed_or_refused_with_a_hint(pair: Pair) -> None:
    for version, host in ((4, "127.0.0.1"), (6, "[::1]")):
        if version == 6 and not pair.has_ipv6():
            missing("need IPv6")
        try:
            outcome, metrics = measured(pair, f"icmp://{host}", ip_version=version)
        except EngineError as error:
            assert error.code == "echo.no_icmp"
            assert "net.ipv4.ping_group_range" in str(error.hint)
            continue
        assert metrics["replies"] == metrics["requests"] == 50
        assert metrics["foreign_datagrams"] == 0 < metrics["rtt_min_ns"]
        assert outcome.results["requester"]["icmp_socket"] in ("datagram", "raw")


def test_tshark_times_of_icmp_lie_between_those_of_kernel_and_program() -> None:
    """On the asking host: a capture stamps a request before the kernel's stamp of it is taken, and
    a reply with the same stamp."""
    with opened_pair("virtual", "10M") as lan:
        asking, asked = lan.bed.hosts
        peer = f"icmp://{asked.addresses['ipv4']}"
        fields = ("-T", "fields", "-E", "separator=,", "-e", "frame.len", "-e", "icmp.resptime")
        tshark = (peer_program("tshark"), "-i", "eth0", "-n", "-l", "-Q", "-f", "icmp", *fields)

        def once(size_bytes: int) -> None:
            measured(lan, peer, message_size_bytes=size_bytes, requests=1, warmup_s=0)

        with running(asking, *tshark) as capture:
            marked([capture], f"{60 + HEADERS_BYTES},", lambda: once(60))
            _, metrics = measured(lan, peer, timestamps="kernel", warmup_s=0)
            once(61)
            lines = capture.until(f"{61 + HEADERS_BYTES},")
        seen = [line.split(",") for line in lines if line.startswith(f"{200 + HEADERS_BYTES},")]
        times_ms = [float(time) for _, time in seen if time]

    assert len(seen) == 2 * metrics["requests"] == 100
    assert len(times_ms) == metrics["replies"] == 50
    mean_ns = 1e6 * sum(times_ms) / len(times_ms)
    # It writes whole microseconds.
    assert metrics["kernel_rtt_mean_ns"] - 1_000 <= mean_ns <= metrics["rtt_mean_ns"] + 1_000


def after(good: int, then: bytes | None) -> Answers:
    """A program that sends back some datagrams and answers the others otherwise."""

    def answer(octets: bytes, number: int) -> bytes | None:
        return octets if number < good else then

    return answer


def one_octet_changed(octets: bytes, number: int) -> bytes:
    return octets if number == 0 else octets[:-1] + bytes([octets[-1] ^ 1])


def longer(octets: bytes, number: int) -> bytes:
    return octets if number == 0 else octets + b"!"


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        (after(0, None), "peer.no_answer", "no answer from UDP port"),
        (after(0, b"hello"), "peer.wrong_answer", "answers, but not with what it was sent"),
        (after(30, None), "peer.sends_nothing", "does not answer any more"),
        (one_octet_changed, "peer.wrong_answer", "sends back something else than it is sent"),
        (longer, "peer.wrong_answer", "sends back something else than it is sent"),
    ],
)
def test_a_udp_peer_that_does_not_echo_is_reported(
    pair: Pair, answers: Answers, code: str, words: str
) -> None:
    with answering(answers) as program:
        error = failed(pair, program.echo(), timeout_s=0.4)

    assert (error.code, words in error.message) == (code, True), error.message


@pytest.mark.parametrize(
    ("does", "code", "words"),
    [
        (chargen, "peer.wrong_answer", "byte 1 of the answer to request 1 is not what was sent"),
        (closes_early, "peer.closed", "closed the connection before the end of the trial"),
        (discard, "peer.sends_nothing", "does not answer any more"),
    ],
)
def test_a_tcp_peer_that_does_not_echo_is_reported(
    pair: Pair, does: Any, code: str, words: str
) -> None:
    with listening(does) as program:
        error = failed(pair, program.echo(), transport="tcp", timeout_s=0.2)

    assert (error.code, words in error.message) == (code, True), error.message


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_port_without_a_program_is_named(pair: Pair, transport: str) -> None:
    kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        if transport == "udp":
            unused.close()
        error = failed(pair, f"echo://127.0.0.1:{port}", transport=transport)

    assert error.code == "peer.no_answer"
    assert f"{transport.upper()} port {port} of 127.0.0.1: Connection refused" in error.message


def test_a_short_time_without_an_answer_is_a_failure_too(pair: Pair) -> None:
    with answering(after(1, None)) as program:
        given = {"requests": None, "time_s": 1.2, "timeout_s": 0.4, "warmup_s": 0}
        error = failed(pair, program.echo(), **given)
    assert error.code == "echo.nothing_arrived"
    with answering(longer) as program:
        error = failed(pair, program.echo(), **given)
    assert error.code == "peer.wrong_answer"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"peer": "tcp://nas:80"}, "transport udp cannot be used with a peer `tcp://`: use tcp"),
        ({"peer": "icmp://nas", "transport": "tcp"}, "tcp cannot .* ICMP has no transport"),
        ({"peer": "icmp://nas:7"}, "found port 7 in `icmp://nas:7`; ICMP has none"),
        ({"peer": "tcp://nas", "transport": "tcp"}, "found no port"),
        ({"peer": "iperf3://nas"}, "allowed: a URL with echo:// or tcp:// or icmp://"),
        ({"peer": "echo://127.0.0.1", "ip_version": 6}, "the peer's IPv4 address"),
        ({"peer": "echo://nas", "port": 9}, "port has no effect"),
        ({"peer": "echo://nas", "receiver_processor": 0}, "receiver_processor has no effect"),
        (
            {"peer": "tcp://nas:80", "transport": "tcp", "message_size_bytes": 99},
            "message_size_bytes has no effect",
        ),
        (
            {"peer": "tcp://nas:80", "transport": "tcp", "outstanding_requests": 101}
            | {"message_size_bytes": 1408},
            "101 of 1408 bytes exceed|outstanding_requests: found 101; allowed",
        ),
        ({"peer": "echo://nas", "driver": "sockperf", "warmup_s": 0}, "tool `sockperf`: found"),
    ],
)
def test_round_trips_that_no_peer_can_have_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        EchoParameters.model_validate({"time_s": 1, **given})


def test_a_peer_is_named_without_properties_that_it_lacks() -> None:
    assert parse_peer("echo://[fe80::1%25eth0]", ECHO).host == "fe80::1%eth0"
    common = {"message_size_bytes": 128, "time_s": 3.0, "transport": "udp"}
    named = {
        "icmp://nas": "ICMP echo to icmp://nas, 128-byte requests, 1 at a time, 3 s",
        "echo://nas": "UDP echo to echo://nas, 128-byte requests, 1 at a time, 3 s",
        "tcp://nas:80": "opening of TCP connections to tcp://nas:80, 1 at a time, 3 s",
    }
    assert {peer: subject("echo", {**common, "peer": peer}) for peer in named} == named
    left = {peer: by_option("echo", {**common, "peer": peer}) for peer in named}
    assert "transport" not in left["icmp://nas"] and left["icmp://nas"]["size"] == 128
    assert "size" not in left["tcp://nas:80"] and left["echo://nas"]["transport"] == "udp"
