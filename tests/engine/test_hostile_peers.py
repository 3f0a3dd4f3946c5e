"""A peer that has the token, proves its address, and then does as it likes: a trial ends in bounded
time and memory with what was counted, or in one clear error."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from hostile_peer import (
    GREATEST,
    HostileReceiver,
    HostileSender,
    kind_of,
    probe,
    resident_bytes,
    word,
)
from raw_engine import (
    Line,
    RawEngine,
    echo_respond,
    stream_receive,
    stream_send,
)

FLOOD = int(os.environ.get("LANLAB_HOSTILE_DATAGRAMS", "40000"))
GROWTH_BYTES = 16 << 20


def begin(engine: RawEngine, request_id: int, lead_s: float = 0.25) -> None:
    """Let a request begin that is ready; with more lead where a busy machine was late."""
    for lead in (lead_s, 4 * lead_s, 16 * lead_s):
        now_ns = int(engine.ask({"type": "ping"})["result"]["monotonic_ns"])
        armed = engine.arm(request_id, now_ns + round(lead * 1e9))
        if armed.get("code") != "arm.late":
            break
    assert armed["type"] == "result", armed


def received(engine: RawEngine, request_id: int) -> Line:
    line = engine.wait(request_id)
    result: Line = line["result"] if line["type"] == "result" else line["partial"]
    assert result["measured_messages"] + result["overdue_messages"] <= result["total_messages"]
    assert sum(result["intervals"]["messages"]) == result["total_messages"]
    return {**result, "code": line.get("code")}


@contextlib.contextmanager
def proved(engine: RawEngine, **spec: object) -> Iterator[tuple[int, HostileSender]]:
    """A receiver whose peer has proved itself and may send from now on."""
    request_id, ports = engine.ready(stream_receive(**spec))
    with HostileSender(ports[0]) as sender:
        sender.prove()
        begin(engine, request_id)
        time.sleep(0.1)
        yield request_id, sender


LASTING = {"amount": {"time_ns": 60_000_000_000}, "rate": None, "silence_ns": 2_000_000_000}


@pytest.mark.parametrize(
    ("first", "second"),
    [(GREATEST, GREATEST), (GREATEST, 0), (10, 5), (1 << 62, 1 << 62), (0, 1 << 62)],
)
def test_a_finish_with_impossible_numbers_is_ignored(
    engine: RawEngine, first: int, second: int
) -> None:
    with proved(engine, **LASTING) as (request_id, sender):
        for sequence in range(5):
            sender.send(probe(500, sequence))
        sender.say("finish", first, second)
        sender.say("mark", GREATEST)
        result = received(engine, request_id)
        assert (result["ended_by"], result["code"]) == ("silence", "peer.gone")
        assert (result["total_messages"], result["foreign_datagrams"]) == (5, 2)
        assert set(sender.heard()) <= {"alive"}


def test_a_flood_from_an_authenticated_peer_uses_no_memory(engine: RawEngine) -> None:
    """Messages, words and garbage, as fast as they go: all are counted, none is kept, and each word
    has one shorter answer."""
    with proved(engine, **LASTING) as (request_id, sender):
        before = resident_bytes(engine)
        garbage = [b"", bytes(65_507), word("hello", 1), word("prove", 5, 7), bytes(500)]
        sent, asked = 0, 0
        for number in range(FLOOD):
            if number % 10 == 0:
                datagram = garbage[number // 10 % len(garbage)]
            elif number % 10 == 5:
                datagram = word("mark", number)
                asked += 1
            else:
                datagram = probe(500, sent)
                sent += 1
            sender.send(datagram)
        grown = resident_bytes(engine) - before
        sender.say("finish", 0, sent)
        result = received(engine, request_id)
        heard = sender.heard()
        print(f"hostile datagrams of a proved peer: {FLOOD}, memory grown: {grown} bytes, {heard}")
        assert grown < GROWTH_BYTES
        assert 0 < result["total_messages"] <= sent
        assert heard["marked"] <= asked
        assert set(heard) <= {"marked", "alive", "finished", "accept"}


def test_a_peer_that_stops_reading_does_not_stop_its_responder(engine: RawEngine) -> None:
    spec = {"amount": {"time_ns": 60_000_000_000}, "message_size_bytes": 60_000}
    request_id, ports = engine.ready(echo_respond(**spec))
    with HostileSender(ports[0]) as sender:
        sender.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
        sender.prove()
        begin(engine, request_id)
        time.sleep(0.1)
        end_s = time.monotonic() + 0.5
        sequence = 0
        while time.monotonic() < end_s:
            sender.send(probe(60_000, sequence))
            sequence += 1
        engine.ask({"type": "cancel", "target": request_id})
        line = engine.wait(request_id)
        assert line["code"] == "cancelled"
        assert line["partial"]["answered_messages"] <= sequence


def test_datagrams_before_the_handshake_are_not_counted(engine: RawEngine) -> None:
    """Messages of 2 octets name no session: a stranger's that are in the socket already when the
    peer proves itself must not count."""
    spec = {**LASTING, "message_size_bytes": 2}
    request_id, ports = engine.ready(stream_receive(**spec))
    with (
        HostileSender(ports[0]) as sender,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        stranger.bind(("127.0.0.3", 0))
        sender.say("hello", 7)
        cookie = int.from_bytes(sender.hear("challenge")[32:40])
        for number in range(40):
            if number == 20:
                sender.say("prove", cookie, 7)
            for sequence in range(5):
                stranger.sendto(sequence.to_bytes(2), ("127.0.0.1", ports[0]))
        sender.hear("accept")
        for sequence in range(5):
            with contextlib.suppress(ConnectionRefusedError):
                stranger.sendto(sequence.to_bytes(2), ("127.0.0.1", ports[0]))
        begin(engine, request_id)
        time.sleep(0.1)
        sender.send((0).to_bytes(2))
        sender.send((1).to_bytes(2))
        result = received(engine, request_id)
    assert (result["total_messages"], result["duplicate_messages"]) == (2, 0)


# Receivers that are hostile to their sender.

SENDING = {"amount": {"time_ns": 60_000_000_000}, "rate": {"messages_per_s": 2000.0}}


def sending(engine: RawEngine, receiver: HostileReceiver, **spec: object) -> int:
    request_id, _ = engine.ready(stream_send([receiver.port], **{**SENDING, **spec}))
    begin(engine, request_id)
    return request_id


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_stream_stops_with_its_receiver(how: str) -> None:
    with RawEngine() as target, RawEngine() as source:
        spec = {**SENDING, "rate": None, "silence_ns": 3_000_000_000}
        receiving, ports = target.ready(stream_receive(**spec))
        request_id, _ = source.ready(stream_send(ports, **spec))
        for engine, its in ((target, receiving), (source, request_id)):
            begin(engine, its, 0.1)
        source.wait(request_id, "progress")
        target.process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGSTOP)
        line = source.wait(request_id)
        assert line["code"] == "peer.gone"
        ended_by, paused_ns = line["partial"]["ended_by"], line["partial"]["paused_ns"]
        # By its own clock: from 0.9 s on, and to the silence of 3 s.
        expected = ended_by == "peer_closed" if how == "kill" else paused_ns > 1e9
        assert expected, (ended_by, paused_ns)
        target.process.kill()


def test_a_stream_stops_with_its_driver() -> None:
    """The trial would go on for a minute."""
    with RawEngine() as source, HostileReceiver(alive=word("alive", 1)) as receiver:
        request_id = sending(source, receiver, rate=None)
        source.wait(request_id, "progress")
        assert source.process.stdin is not None
        source.process.stdin.close()
        assert source.process.wait(timeout=30) == 0


@pytest.fixture
def hostile_listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(10)
        yield listening


def accepted(
    engine: RawEngine, listener: socket.socket, **spec: object
) -> tuple[int, socket.socket]:
    port = listener.getsockname()[1]
    request_id = engine.send(stream_send([port], transport="tcp", **spec))
    connection, _ = listener.accept()
    connection.settimeout(10)
    hello = connection.recv(64)
    assert kind_of(hello) == "hello"
    connection.sendall(word("accept", int.from_bytes(hello[32:40])))
    engine.wait(request_id, "ready")
    begin(engine, request_id)
    return request_id, connection


def test_a_receiver_that_reads_nothing_times_out(
    engine: RawEngine, hostile_listener: socket.socket
) -> None:
    spec = {"amount": {"time_ns": 60_000_000_000}, "rate": None, "silence_ns": 400_000_000}
    request_id, connection = accepted(engine, hostile_listener, **spec, message_size_bytes=65_536)
    with connection:
        line = engine.wait(request_id)
        assert (line["code"], line["partial"]["ended_by"]) == ("peer.gone", "silence")


def test_a_receiver_that_sends_instead_of_closing_times_out(
    engine: RawEngine, hostile_listener: socket.socket
) -> None:
    spec = {"amount": {"messages": 10}, "rate": None, "silence_ns": 5_000_000_000}
    request_id, connection = accepted(engine, hostile_listener, **spec)
    with connection:
        left = 5_000
        while left:
            left -= len(connection.recv(left))
        with contextlib.suppress(OSError):
            for _ in range(100):
                connection.sendall(b"alive ")
                time.sleep(0.01)
        line = engine.wait(request_id)
        assert (line["code"], line["partial"]["ended_by"]) == ("peer.gone", "unconfirmed")
