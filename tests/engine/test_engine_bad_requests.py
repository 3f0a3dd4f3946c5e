"""Whatever a driver sends, the engine says what is wrong with it, and goes on."""

import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from hostile_peer import resident_bytes
from raw_engine import (
    Line,
    RawEngine,
    echo_request,
    echo_respond,
    stream_receive,
    stream_send,
)
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., tuple[int, int]]


@pytest.fixture(scope="module")
def shared() -> Iterator[RawEngine]:
    """One engine for all: what one test sends must not disturb the next."""
    with RawEngine() as engine:
        yield engine


@pytest.fixture
def engine(shared: RawEngine) -> Iterator[RawEngine]:
    yield shared
    assert shared.is_usable()


class Bad(NamedTuple):
    name: str
    line: bytes
    says: str
    #: Whether the error can say which request it is about.
    has_id: bool = False


def numbered(request: object) -> bytes:
    return json.dumps({"id": 99, "request": request}).encode()


MALFORMED = [
    Bad("cut short", b'{"id": 1, "request": {', "EOF while parsing"),
    Bad("no JSON", b"start please", "expected value"),
    Bad("binary", bytes(range(128, 256)), "line 1 column 1"),
    Bad("not UTF-8 in a string", b'{"id": 99, "request": {"type": "\xff"}}', "unicode", True),
    Bad("a number", b"5", "invalid type: integer"),
    Bad("a list", b'[1, {"type": "ping"}, 2]', "trailing characters|invalid length"),
    Bad("two objects", b'{"id":1,"request":{"type":"ping"}} {}', "trailing characters"),
    Bad("no id", b'{"request": {"type": "ping"}}', "missing field `id`"),
    Bad("negative id", b'{"id": -1, "request": {"type": "ping"}}', "invalid value: integer `-1`"),
    Bad("no request", b'{"id": 99}', "missing field `request`", True),
    Bad("unknown type", numbered({"type": "dance"}), "unknown variant `dance`.*stream_send", True),
    Bad("no type", numbered({}), "missing field `type`", True),
    Bad("unknown key", numbered({"type": "ping", "x": 1}), "unknown field `x`", True),
    Bad("missing key", numbered({"type": "arm", "target": 1}), "missing field `at_ns`", True),
    Bad(
        "wrong type",
        numbered({"type": "arm", "target": "one", "at_ns": 1}),
        'invalid type: string "one", expected u64',
        True,
    ),
    Bad(
        "fraction",
        numbered({"type": "arm", "target": 1, "at_ns": 1.5}),
        "invalid type: floating point `1.5`",
        True,
    ),
    Bad(
        "unknown key in the specification",
        numbered(stream_receive(speed=1)),
        "unknown field `speed`, expected one of `transport`",
        True,
    ),
    Bad(
        "unknown option",
        numbered(stream_receive(socket={"ttl": 3})),
        "unknown field `ttl`",
        True,
    ),
    Bad("no address", numbered({**stream_receive(), "bind": "here"}), "IPv4 or IPv6 address", True),
    Bad("two amounts", numbered(stream_receive(amount={"bytes": 1, "messages": 1})), "", True),
    Bad("port too large", numbered({**stream_receive(), "port": 65_536}), "65536.*u16", True),
]


@pytest.mark.parametrize("bad", MALFORMED, ids=lambda bad: bad.name)
def test_a_malformed_line_is_answered(engine: RawEngine, bad: Bad) -> None:
    engine.send_bytes(bad.line + b"\n")
    error = engine.wait(99 if bad.has_id else None, "error")
    assert error["code"] == "request.malformed"
    assert re.search(bad.says, error["message"]), error["message"]
    assert "lanlab-engine schema" in error["hint"]


def test_empty_lines_are_ignored(engine: RawEngine) -> None:
    seen = len(engine.lines)
    engine.send_bytes(b"\n\r\n   \t\n" + numbered({"type": "ping"}) + b"\r\n")
    assert engine.wait(99)["type"] == "result"
    assert len(engine.lines) == seen + 1


def test_an_endless_line_is_skipped_in_bounded_memory() -> None:
    with RawEngine() as engine:
        assert engine.is_usable()
        before = resident_bytes(engine)
        for _ in range(10):
            engine.send_bytes(b"x" * 1_000_000)
        engine.send_bytes(b"\n")
        error = engine.wait(None, "error")
        assert error["code"] == "request.too_long"
        assert str(engine.hello["max_line_bytes"]) in error["message"]
        # The longest line is 1 MiB; the allocator may keep as much again.
        assert resident_bytes(engine) - before < 3_000_000
        assert engine.is_usable()


def test_binary_garbage_is_answered_line_by_line() -> None:
    with RawEngine() as engine:
        garbage = bytes(range(1, 256)).replace(b"\n", b"") + b"\n"
        engine.send_bytes(200 * garbage)
        for _ in range(200):
            assert engine.wait(None, "error")["code"] == "request.malformed"
        assert engine.is_usable()


#: What replaces keys of a specification.
STREAM_VALUES: list[Line] = [
    {"message_size_bytes": 0},
    {"message_size_bytes": 65_508},
    {"transport": "tcp", "message_size_bytes": 2**24 + 1},
    {"amount": {"time_ns": 0}},
    {"amount": {"bytes": 0}},
    {"amount": {"messages": 0}},
    {"rate": {"bps": 0}},
    {"rate": {"messages_per_s": 0.0}},
    {"rate": {"messages_per_s": -1.0}},
    {"rate": {"messages_per_s": 1e300}},
    {"flows": 0},
    {"flows": 1001},
    {"socket": {"dscp": 64}},
    {"socket": {"receive_buffer_bytes": 1}},
    {"interval_ns": 0},
    {"silence_ns": 1},
    {"warmup_ns": 2**63},
    {"transport": "tcp", "io": "segment"},
    {"socket": {"congestion_controls": ["cubic"]}},
    {"transport": "tcp", "socket": {"congestion_controls": ["hope"]}},
]
ECHO_VALUES: list[Line] = [
    {"amount": {"requests": 0}},
    {"rate_requests_per_s": 0.0},
    {"outstanding_requests": 0},
    {"outstanding_requests": 65, "message_size_bytes": 1},
    {"outstanding_requests": 2, "rate_requests_per_s": 9.0},
    {"outstanding_requests": 2, "timestamps": "kernel"},
    {"outstanding_requests": 656, "transport": "tcp"},
    {
        "outstanding_requests": 11,
        "transport": "tcp",
        "socket": {"receive_buffer_bytes": 1024},
    },
    {"timeout_ns": 0},
    {"message_size_bytes": 65_508},
]


def refused(engine: RawEngine, *requests: Line) -> str:
    """What both ends of a trial say."""
    errors = [engine.refusal(request) for request in requests]
    assert all(error["partial"] is None for error in errors)
    [said] = {f"{error['code']}: {error['message']}" for error in errors}
    return said


@pytest.mark.parametrize("spec", STREAM_VALUES, ids=str)
def test_invalid_stream_values_are_refused(
    engine: RawEngine, spec: Line, snapshot: SnapshotAssertion
) -> None:
    ports = [9] * spec.get("flows", 1)
    assert refused(engine, stream_receive(**spec), stream_send(ports, **spec)) == snapshot


@pytest.mark.parametrize("spec", ECHO_VALUES, ids=str)
def test_invalid_echo_values_are_refused(
    engine: RawEngine, spec: Line, snapshot: SnapshotAssertion
) -> None:
    assert refused(engine, echo_respond(**spec), echo_request(9, **spec)) == snapshot


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({"session": "secret"}, "request.value", "`session`: .*32 hexadecimal digits"),
        ({"session": 32 * "g"}, "request.value", "`session`: .*32 hexadecimal digits"),
        ({"peer": "224.0.0.1"}, "request.value", "`peer`: found 224.0.0.1; .*one host"),
        ({"peer": "255.255.255.255"}, "request.value", "`peer`: found 255.255.255.255"),
        ({"peer": "0.0.0.0"}, "request.value", "`peer`: found 0.0.0.0"),
        ({"peer": "ff02::1", "bind": "::1"}, "request.value", "`peer`: found ff02::1"),
        ({"peer": "::1"}, "request.value", "`bind`: found 127.0.0.1; .*same kind as ::1"),
        ({"bind": "239.1.1.1"}, "request.value", "`bind`: found 239.1.1.1"),
        # 192.0.2.0/24 is for documentation (RFC 5737): no host has such an address.
        ({"bind": "192.0.2.7"}, "bind.no_address", "192.0.2.7: Cannot assign|192.0.2.7"),
    ],
    ids=lambda value: str(value)[:50],
)
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_invalid_addresses_and_sessions_are_refused(
    engine: RawEngine, transport: str, change: Line, code: str, says: str
) -> None:
    for request in (stream_receive(transport=transport), echo_respond(transport=transport)):
        error = engine.refusal({**request, **change})
        assert error["code"] == code, error
        assert re.search(says, error["message"]), error


def test_each_udp_flow_needs_a_port(engine: RawEngine) -> None:
    error = engine.refusal(stream_send([9], flows=2))
    assert (error["code"], error["message"]) == (
        "request.value",
        "`ports`: found 1; allowed: 2 ports",
    )
    error = engine.refusal(stream_send([9, 10], flows=2, transport="tcp"))
    assert error["message"] == "`ports`: found 2; allowed: 1 ports"


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_port_in_use_is_named(engine: RawEngine, transport: str) -> None:
    kind = {"udp": socket.SOCK_DGRAM, "tcp": socket.SOCK_STREAM}[transport]
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if transport == "tcp":
            taken.listen()
        port = taken.getsockname()[1]
        for request in (stream_receive(transport=transport), echo_respond(transport=transport)):
            error = engine.refusal({**request, "port": port})
            assert error["code"] == "bind.in_use"
            assert f"{transport.upper()} port {port} on 127.0.0.1" in error["message"]
            holder = rf"end what listens there \(.+, process {os.getpid()}\)"
            assert re.match(holder, error["hint"])


def test_a_buffer_that_the_system_does_not_grant_is_refused(engine: RawEngine) -> None:
    most = engine.ask({"type": "describe"})["result"]["max_receive_buffer_bytes"]
    if most is None or 2 * most >= 2**30:
        pytest.skip("this system grants any buffer")
    for transport in ("udp", "tcp"):
        spec = {"transport": transport, "socket": {"receive_buffer_bytes": 2**30}}
        error = engine.refusal(stream_receive(**spec))
        assert error["code"] == "socket.option"
        assert "asked for 1073741824 bytes, granted" in error["message"]
        assert "rmem_max" in error["hint"]


def test_an_id_in_use_is_refused(engine: RawEngine) -> None:
    running, _ = engine.ready(stream_receive())
    engine.send(stream_receive(), request_id=running)
    error = engine.wait(running)
    assert (error["code"], "`id`" in error["message"]) == ("request.value", True)
    assert engine.ask({"type": "cancel", "target": running})["type"] == "result"
    assert engine.wait(running)["code"] == "cancelled"


def test_more_requests_than_can_run_are_refused(engine: RawEngine) -> None:
    open_ids = [engine.ready(stream_receive())[0] for _ in range(16)]
    error = engine.refusal(stream_receive())
    assert error["code"] == "request.too_many"
    assert "16 measurements" in error["message"]
    for request_id in open_ids:
        engine.ask({"type": "cancel", "target": request_id})
        assert engine.wait(request_id)["code"] == "cancelled"
    request_id, _ = engine.ready(stream_receive())
    engine.ask({"type": "cancel", "target": request_id})
    assert engine.wait(request_id)["code"] == "cancelled"


#: 64 threads, each with a buffer of 16 MiB and its meters: a little more than the engine gives.
GREEDY: Line = {"transport": "tcp", "flows": 1000, "threads": 64, "read_bytes": 16 << 20}


def test_a_request_beyond_the_memory_limit_is_refused(engine: RawEngine) -> None:
    error = engine.refusal(stream_receive(**GREEDY))
    assert error["code"] == "request.too_large", error
    assert "MiB of memory beside 0 MiB of the others; allowed: 1024 MiB" in error["message"], error


def test_requests_that_exceed_the_memory_together_are_refused(engine: RawEngine) -> None:
    request = stream_receive(**GREEDY | {"threads": 20})
    running: list[int] = []
    for _ in range(16):
        request_id = engine.send(request)
        line = engine.wait(request_id, "ready", "error")
        if line["type"] == "error":
            break
        running.append(request_id)
    assert (line["type"], line.get("code")) == ("error", "request.too_large")
    assert running, "the first alone was too much"
    assert engine.is_usable()
    for request_id in running:
        engine.ask({"type": "cancel", "target": request_id})
        assert engine.wait(request_id)["code"] == "cancelled"
    request_id, _ = engine.ready(request)
    engine.ask({"type": "cancel", "target": request_id})
    assert engine.wait(request_id)["code"] == "cancelled"
