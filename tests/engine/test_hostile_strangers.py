"""Who does not belong to a session gets nothing out of a receiver, whatever is sent to it."""

import contextlib
import itertools
import os
import secrets
import socket
import time
from pathlib import Path

import pytest
from hostile_peer import (
    GREATEST,
    TOKEN,
    HostileSender,
    Wire,
    descriptors,
    forged,
    forger,
    kind_of,
    probe,
    resident_bytes,
    word,
)
from raw_engine import Line, RawEngine, echo_respond, stream_receive, stream_send

#: Hostile datagrams of the flood. Ten million for the figures of docs/security.md.
FLOOD = int(os.environ.get("LANLAB_HOSTILE_DATAGRAMS", "50000"))
#: What a receiver's memory may grow by under a flood: none of it is kept.
GROWTH_BYTES = 16 << 20
OTHER_TOKEN = bytes(range(1, 17))
PEER = "127.0.0.2"
RECEIVERS = {"stream": stream_receive, "echo": echo_respond}


def listening(engine: RawEngine, workload: str, transport: str = "udp") -> tuple[int, int]:
    """A receiver that waits for 127.0.0.2: its request and port."""
    request: Line = {**RECEIVERS[workload](transport=transport), "peer": PEER}
    request_id, ports = engine.ready(request)
    return request_id, ports[0]


def end(engine: RawEngine, request_id: int) -> None:
    engine.ask({"type": "cancel", "target": request_id})
    assert engine.wait(request_id)["code"] == "cancelled"


#: What nobody may get an answer to, by what is wrong with it.
HOSTILE = {
    "empty": b"",
    "one octet": b"\x01",
    "largest": bytes(65_507),
    "noise": secrets.token_bytes(500),
    "another token": word("hello", 7, token=OTHER_TOKEN),
    "proof of another session": word("prove", 1, 1, token=OTHER_TOKEN),
    "another flow": word("hello", 7, flow=1),
    "proof without cookie": word("prove", 0, 7),
    "proof with a guess": word("prove", GREATEST, 7),
    "mark": word("mark", GREATEST),
    "finish": word("finish", 0, GREATEST),
    "alive": word("alive", GREATEST),
    "answers": word("accept", 7),
    "challenge": word("challenge", 7),
    "cut short": word("hello", 7)[:63],
    "too long": word("hello", 7) + b"\0",
    "version 1": word("hello", 7).replace(b"\x02", b"\x01", 1),
    "message of the stream": probe(500, 0),
    "message of another session": probe(500, 0, token=OTHER_TOKEN),
}


@pytest.mark.parametrize("workload", RECEIVERS)
def test_forged_and_foreign_datagrams_get_no_byte_out(engine: RawEngine, workload: str) -> None:
    """Not the peer's address with anything but a hello, and no other address with anything: seen at
    the wire. Then the peer itself is accepted."""
    request_id, port = listening(engine, workload)
    target = ("127.0.0.1", port)
    hello = word("hello", 7)
    with Wire(port) as wire, forger() as raw:
        sources = [("127.0.0.9", 9), ("192.0.2.1", 53), ("127.0.0.1", port), ("127.0.0.2", port)]
        for source, payload in itertools.product(sources, (*HOSTILE.values(), hello)):
            if source[0] == PEER and payload == hello:
                continue
            if len(payload) <= 16_000:
                raw.sendto(forged(source, target, payload), ("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind((PEER, 0))
            for payload in HOSTILE.values():
                peer.sendto(payload, target)
        with HostileSender(port, PEER) as sender:
            wire.look()
            assert (wire.came > 80, wire.left) == (True, 0)
            before = wire.came
            sender.prove()
            wire.look()
            # Challenge and accept, each shorter than what asked for it.
            assert 2 <= wire.left <= wire.came - before
            assert set(wire.left_to) == {sender.socket.getsockname()}
            assert wire.left_bytes == wire.left * (28 + 48)
    end(engine, request_id)


@pytest.mark.parametrize("workload", RECEIVERS)
def test_token_holders_cannot_use_the_engine_as_a_reflector(
    engine: RawEngine, workload: str
) -> None:
    """A flood of true hellos with the peer's address forged: a hundred answers a second at most go
    there, each shorter than its question, and the true peer is accepted all the same."""
    request_id, port = listening(engine, workload)
    with Wire(port) as wire, forger() as raw:
        hello = word("hello", 7)
        began = time.monotonic()
        for number in range(3_000):
            raw.sendto(forged((PEER, 2000 + number), ("127.0.0.1", port), hello), ("127.0.0.1", 0))
            wire.look()
        with HostileSender(port, PEER) as sender:
            time.sleep(0.3)
            sender.prove()
            wire.look()
            took_s = time.monotonic() - began
            own = wire.left_to.pop(sender.socket.getsockname()) // (28 + 48)
    answers = wire.left - own
    print(f"forged hellos: {wire.came - own}, answered: {answers} in {took_s:.2f} s")
    assert wire.came >= 3_000
    assert 0 < answers <= 20 + 100 * (took_s + 0.1)
    assert wire.left_bytes < wire.came_bytes
    assert max(wire.left_to.values()) == 28 + 48, "no address gets more than one short answer"
    end(engine, request_id)


def test_a_cookie_is_invalid_at_another_port(engine: RawEngine) -> None:
    request_id, port = listening(engine, "stream")
    with HostileSender(port, PEER) as first, HostileSender(port, PEER) as second:
        first.say("hello", 7)
        cookie = int.from_bytes(first.hear("challenge")[32:40])
        second.say("prove", cookie, 7)
        first.say("prove", cookie, 7)
        first.hear("accept")
        assert not second.heard()
    end(engine, request_id)
    request_id, port = listening(engine, "stream")
    with HostileSender(port, PEER) as again:
        again.say("prove", cookie, 7)
        again.say("hello", 7)
        # They come in order: the old proof was seen before.
        assert kind_of(again.socket.recv(100)) == "challenge"
        assert not again.heard()
    end(engine, request_id)


@pytest.mark.parametrize("workload", RECEIVERS)
def test_a_flood_is_not_answered_and_costs_no_memory(engine: RawEngine, workload: str) -> None:
    """From the peer's own address, with all that is wrong; the true peer is accepted afterwards. A
    receiver waits for half a minute: a long flood goes to several, one after the other."""
    small = [payload for payload in HOSTILE.values() if len(payload) < 1_000]
    before, sent, answered = 0, 0, 0
    while sent < FLOOD:
        request_id, port = listening(engine, workload)
        before = before or resident_bytes(engine)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flooding:
            flooding.bind((PEER, 0))
            flooding.connect(("127.0.0.1", port))
            for number in range(min(500_000, FLOOD - sent)):
                flooding.send(small[number % len(small)])
                sent += 1
            flooding.setblocking(False)
            with pytest.raises(BlockingIOError):
                while flooding.recv(100):
                    answered += 1
        with HostileSender(port, PEER) as sender:
            sender.prove()
        end(engine, request_id)
    grown = resident_bytes(engine) - before
    print(f"hostile datagrams sent: {sent}, answered: {answered}, memory grown: {grown} bytes")
    assert answered == 0
    assert grown < GROWTH_BYTES


@pytest.mark.parametrize("workload", RECEIVERS)
def test_connections_without_a_handshake_block_no_peer(engine: RawEngine, workload: str) -> None:
    request_id, port = listening(engine, workload, "tcp")
    before, open_before = resident_bytes(engine), descriptors(engine)
    openings = [
        b"",
        word("hello", 9)[:32],
        word("hello", 9, token=OTHER_TOKEN),
        b"GET / HTTP/1.1\r\n",
    ]
    most_open, strangers = 0, []
    for number in range(1_000):
        stranger = socket.socket()
        stranger.settimeout(10)
        stranger.bind((PEER, 0))
        stranger.connect(("127.0.0.1", port))
        stranger.sendall(openings[number % len(openings)])
        strangers.append(stranger)
        if number % 100 == 0:
            most_open = max(most_open, descriptors(engine))
    began = time.monotonic()
    with socket.socket() as peer:
        peer.settimeout(10)
        peer.bind((PEER, 0))
        peer.connect(("127.0.0.1", port))
        peer.sendall(word("hello", 9))
        answer = peer.recv(100)
        took_s = time.monotonic() - began
        assert (kind_of(answer), int.from_bytes(answer[32:40])) == ("accept", 9)
        grown = resident_bytes(engine) - before
        print(f"1000 connections: peer accepted after {took_s:.3f} s, memory grown: {grown} bytes")
        assert took_s < 10
        assert grown < GROWTH_BYTES
        assert most_open <= open_before + 80
    for stranger in strangers:
        stranger.close()
    end(engine, request_id)


def test_a_handshake_must_end_within_one_second(engine: RawEngine) -> None:
    request_id, port = listening(engine, "stream", "tcp")
    with socket.socket() as slow:
        slow.settimeout(10)
        slow.bind((PEER, 0))
        slow.connect(("127.0.0.1", port))
        began = time.monotonic()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            for octet in itertools.cycle(word("hello", 9)[:1]):
                slow.sendall(bytes([octet]))
                time.sleep(0.05)
                assert time.monotonic() - began < 30
    assert time.monotonic() - began > 0.5
    end(engine, request_id)


@pytest.mark.parametrize("workload", RECEIVERS)
@pytest.mark.parametrize(
    ("address", "opening"),
    [
        ("127.0.0.1", word("hello", 9)),
        (PEER, b"GET / HTTP/1.1\r\n".ljust(64)),
        (PEER, word("hello", 9, token=OTHER_TOKEN)),
        (PEER, word("finish", 0)),
    ],
    ids=["address", "protocol", "token", "order"],
)
def test_a_connection_that_does_not_open_as_ours_is_closed(
    engine: RawEngine, workload: str, address: str, opening: bytes
) -> None:
    request_id, port = listening(engine, workload, "tcp")
    with socket.create_connection(("127.0.0.1", port), 10, (address, 0)) as stranger:
        stranger.sendall(opening)
        # What was not read makes the system close with a reset.
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(100) == b""
    end(engine, request_id)


@pytest.mark.parametrize("workload", RECEIVERS)
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_port_is_closed_when_its_trial_is_over(
    engine: RawEngine, workload: str, transport: str
) -> None:
    request_id, port = listening(engine, workload, transport)
    end(engine, request_id)
    kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as late, pytest.raises(ConnectionRefusedError):
        late.settimeout(10)
        late.bind((PEER, 0))
        late.connect(("127.0.0.1", port))
        late.send(word("hello", 7))
        late.recv(100)


def local_addresses(engine: RawEngine, table: str) -> set[str]:
    """Local addresses of the engine's own sockets in a table as /proc/net/udp, hexadecimal."""
    inodes = set()
    for link in Path(f"/proc/{engine.process.pid}/fd").iterdir():
        try:
            name = str(link.readlink())
        except OSError:
            continue
        if name.startswith("socket:["):
            inodes.add(name[8:-1])
    rows = Path(f"/proc/{engine.process.pid}/net/{table}").read_text().splitlines()[1:]
    return {row.split()[1].split(":")[0] for row in rows if row.split()[9] in inodes}


LOOPBACK, ANY = "0100007F", "00000000"


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_requested_address_is_bound(engine: RawEngine, transport: str) -> None:
    for bind, expected in (("127.0.0.1", LOOPBACK), ("0.0.0.0", ANY)):
        request: Line = {**stream_receive(transport=transport), "bind": bind, "peer": PEER}
        request_id, _ = engine.ready(request)
        assert local_addresses(engine, transport) == {expected}
        end(engine, request_id)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_sender_binds_to_the_route_address_by_default(engine: RawEngine, transport: str) -> None:
    with RawEngine() as sender:
        receiving, ports = engine.ready(stream_receive(transport=transport))
        request: Line = {**stream_send(ports, transport=transport), "bind": None}
        sender.ready(request)
        assert local_addresses(sender, transport) == {LOOPBACK}
        end(engine, receiving)


@pytest.mark.parametrize("address", ["255.255.255.255", "239.1.1.1"])
def test_a_receiver_cannot_bind_to_all_addresses(engine: RawEngine, address: str) -> None:
    error = engine.refusal({**stream_receive(), "bind": address})
    assert (error["code"], "`bind`" in error["message"]) == ("request.value", True)


def test_forged_and_true_tokens_have_the_same_length() -> None:
    assert probe(500, 0)[4:8] == TOKEN[12:]
