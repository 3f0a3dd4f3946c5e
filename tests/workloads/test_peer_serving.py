"""A server for stock iperf3 clients: many at once, right figures, and what strangers get of it."""

import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from peer_server import WITHIN_S, Client, Server, served
from trial_running import Pair, module_pair

from lanlab.performers import metrics_of
from lanlab.workloads import WORKLOADS, CounterChanges

__all__ = ["module_pair"]

#: A cell of the matrix ends by its amount: by its time it would take a second.
TCP = ("-l", "10000", "-b", "40M", "-n", "2M")
UDP = ("-u", "-l", "1000", "-b", "4M", "-k", "250")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as one:
        yield one


def ended(client: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = client.communicate(timeout=WITHIN_S)
    said: dict[str, Any] = json.loads(out)
    assert "error" not in said, said["error"]
    return said


def test_stock_clients_of_every_kind_at_once_count_what_the_server_counts(pair: Pair) -> None:
    """TCP and UDP, up, down and both ways, 1 and 4 flows, over IPv4 and IPv6."""
    for address in ("127.0.0.1", "::1") if pair.has_ipv6() else ("127.0.0.1",):
        with served(address) as server:
            cells = {
                (transport, direction, flows): server.start(*transport, *direction, "-P", flows)
                for transport in (TCP, UDP)
                for direction in ((), ("-R",), ("--bidir",))
                for flows in ("1", "4")
            }
            for (transport, direction, flows), process in cells.items():
                said = ended(process)
                check(
                    said, server.client(said["start"]["cookie"]), transport, direction, int(flows)
                )


def check(
    said: dict[str, Any],
    client: Client,
    transport: tuple[str, ...],
    direction: tuple[str, ...],
    flows: int,
) -> None:
    """Hold what a stock client says against what the server recorded of it."""
    end, name = said["end"], f"{transport} {direction} {flows}"
    assert client["error"] is None, name
    assert (client["asked"]["flows"], len(client["said"]["streams"])) == (
        flows,
        flows * (2 if direction == ("--bidir",) else 1),
    ), name
    is_udp = transport is UDP
    # What the client printed of the server's part is what the server recorded.
    if direction != ("-R",):
        assert client["received_bytes"] == end["sum_received"]["bytes"], name
        lost = end["sum_received"].get("lost_packets", 0)
        missing_bytes = end["sum_sent"]["bytes"] - client["received_bytes"]
        # A busy system drops datagrams; of those after the last that came a server knows nothing.
        assert missing_bytes >= 1_000 * lost >= 0 < client["received_bytes"], name
        assert (missing_bytes == 0) or is_udp, name
    if direction != ():
        back = "_bidir_reverse" if direction == ("--bidir",) else ""
        sent, received = (end[f"sum_{way}{back}"] for way in ("sent", "received"))
        assert client["sent_bytes"] == sent["bytes"] >= received["bytes"], name
        # Both ways it is over when the client has sent its amount: nothing may have come yet.
        assert received["bytes"] > 0 or back, name
    # Both counts stand in the record.
    theirs = client["counted"]["report"]["streams"]
    assert [flow["id"] for flow in theirs] == [flow["id"] for flow in client["said"]["streams"]], (
        name
    )


@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_client_of_lanlabs_and_the_server_count_the_same(
    pair: Pair, server: Server, transport: str, direction: str
) -> None:
    given: dict[str, Any] = {
        "transport": transport,
        "traffic_direction": direction,
        "peer": f"iperf3://127.0.0.1:{server.port}",
        "message_size_bytes": 1_000,
        "rate_bps": "8M",
        "flows": 2,
        "time_s": 0.3,
        "silence_s": 5,
    }
    outcome = pair.exchange("stream", **given)
    assert outcome.error is None, outcome.error
    kind = WORKLOADS["stream"]
    parameters = kind.Parameters.model_validate(given)
    metrics = metrics_of(kind, parameters, outcome, CounterChanges())
    # Over UDP a busy system drops datagrams.
    lost = 1_000 * metrics.get("peer_lost_messages", 0)
    if direction != "reverse":
        missing_bytes = 1_000 * metrics["total_sent_messages"] - metrics["peer_received_bytes"]
        assert missing_bytes >= lost >= 0 < metrics["peer_received_bytes"]
        assert missing_bytes == 0 or transport == "udp"
    if direction != "forward":
        prefix = "reverse_" if direction == "both" else ""
        received = metrics[f"{prefix}total_received_bytes"]
        missing_bytes = metrics[f"{prefix}peer_sent_bytes"] - received
        assert missing_bytes == 1_000 * metrics.get(f"{prefix}lost_messages", 0) >= 0 < received


def asking(**wishes: object) -> bytes:
    text = json.dumps({"tcp": True, "time": 1, "parallel": 1, "len": 1_000} | wishes).encode()
    return struct.pack(">I", len(text)) + text


def exactly(connection: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count and (octets := connection.recv(count - len(got))):
        got += octets
    return got


def test_clients_beyond_the_bounds_are_refused_and_others_continue() -> None:
    with served(clients=2, rate_bps=10_000_000) as server:
        (first, cookie), (second, _) = server.connect(), server.connect()
        with first, second:
            assert first.recv(1) == second.recv(1) == b"\x09"
            # One that has said nothing but its cookie makes room for the next.
            third, _ = server.connect()
            with third:
                assert third.recv(1) == b"\x09"
            assert "made room for another" in server.client(cookie)["error"]["message"]
            # There is room for one more, within its rate.
            going = server.start("-b", "4M", "-l", "1000", "-n", "100000")
            said = ended(going)
            assert said["end"]["sum_received"]["bytes"] == 100_000
            server.client(said["start"]["cookie"])
        too_fast = server.start("-b", "6M", "-P", "2")
        out, _ = too_fast.communicate(timeout=WITHIN_S)
        assert "bandwidth is larger than server limit" in json.loads(out)["error"]


@pytest.mark.parametrize(
    ("how", "words"),
    [(signal.SIGKILL, "closed its control connection"), (signal.SIGINT, "was ended at its end")],
)
def test_a_client_that_dies_mid_test_ends_only_its_own_test(
    server: Server, how: signal.Signals, words: str
) -> None:
    other = server.start("-b", "8M", "-l", "1000", "-n", "600000")
    dying = server.start("-t", "60", "-u", "-R", "-b", "1M", "--forceflush", is_json=False)
    assert dying.stdout is not None
    assert any("connected to" in line for line in dying.stdout)
    dying.send_signal(how)
    dying.communicate(timeout=WITHIN_S)
    said = ended(other)
    client = server.client(said["start"]["cookie"])
    assert client["received_bytes"] == 600_000 == said["end"]["sum_sent"]["bytes"]
    server.wait_for_error(words)


def test_bytes_at_the_very_start_are_counted(server: Server) -> None:
    connection, cookie = server.connect()
    with connection:
        connection.sendall(asking(time=0, num=1_000))
        assert exactly(connection, 2) == b"\x09\x0a"
        with socket.create_connection((server.address, server.port), WITHIN_S) as flow:
            flow.sendall(cookie.encode() + b"\0" + bytes(1_000))
            assert exactly(connection, 2) == b"\x01\x02"
            connection.sendall(b"\x04")
            assert exactly(connection, 1) == b"\x0d"
            connection.sendall(report(1_000))
    assert server.client(cookie)["received_bytes"] == 1_000


def test_the_window_ends_with_the_last_byte_and_not_with_the_word_that_it_is_over(
    server: Server,
) -> None:
    connection, cookie = server.connect()
    with connection:
        connection.sendall(asking(time=1))
        assert exactly(connection, 2) == b"\x09\x0a"
        with socket.create_connection((server.address, server.port), WITHIN_S) as flow:
            flow.sendall(cookie.encode() + b"\0" + bytes(1_000))
            assert exactly(connection, 2) == b"\x01\x02"
            time.sleep(1.3)
            connection.sendall(b"\x04")
            assert exactly(connection, 1) == b"\x0d"
            connection.sendall(report(1_000))
    # The second that was asked for counts whole, even if its last bytes came early.
    assert server.client(cookie)["elapsed_ns"] == 1_000_000_000


def report(sent_bytes: int) -> bytes:
    flow = {"id": 1, "bytes": sent_bytes, "retransmits": 0, "jitter": 0, "errors": 0, "packets": 0}
    text = {"cpu_util_total": 0, "cpu_util_user": 0, "cpu_util_system": 0, "streams": [flow]}
    octets = json.dumps(text | {"sender_has_retransmits": 0}).encode()
    return struct.pack(">I", len(octets)) + octets


def forged(server: Server, count: int) -> int:
    """Open flows from an address without a client, and out of turn; gives the answers."""
    connection, _ = server.connect()
    with connection:
        connection.sendall(asking(udp=True, tcp=False, reverse=True, parallel=1))
        assert exactly(connection, 2) == b"\x09\x0a"
        answers = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.bind(("127.0.0.77", 0))
            stranger.setblocking(False)
            for number in range(count):
                datagram = b"9876" if number % 2 else os.urandom(number % 50)
                stranger.sendto(datagram, ("127.0.0.1", server.port))
                answers += heard(stranger)
            # Who is asked to open its flow is answered, after all that came before.
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.settimeout(0.5)
                assert asked_until_answered(own, server) == b"6789"
            answers += heard(stranger)
        assert exactly(connection, 2) == b"\x01\x02"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
        late.settimeout(0.2)
        late.sendto(b"9876", ("127.0.0.1", server.port))
        with pytest.raises(TimeoutError):
            late.recv(16)
    return answers


def asked_until_answered(own: socket.socket, server: Server) -> bytes:
    """The answer to a flow that is opened; the system may have dropped it among the others."""
    for _ in range(2 * WITHIN_S):
        own.sendto(b"9876", ("127.0.0.1", server.port))
        with suppress(TimeoutError):
            return own.recv(16)
    raise AssertionError("no answer")


def heard(stranger: socket.socket) -> int:
    try:
        stranger.recv(64)
    except BlockingIOError:
        return 0
    return 1


def test_addresses_without_a_control_connection_get_no_datagram() -> None:
    with served() as server:
        assert forged(server, 3_000) == 0
