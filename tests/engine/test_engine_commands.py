"""Starts that cannot be kept, and requests that are to end before they are done."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from raw_engine import (
    Line,
    RawEngine,
    echo_request,
    echo_respond,
    run_echo,
    run_stream,
    start_together,
    stream_receive,
    stream_send,
)

Run = Callable[..., tuple[int, int]]


@pytest.fixture
def engine() -> Iterator[RawEngine]:
    with RawEngine() as started:
        yield started
        assert started.is_usable()


def arm(engine: RawEngine, target: int, ahead_ns: int) -> Line:
    now_ns = engine.ask({"type": "ping"})["result"]["monotonic_ns"]
    return engine.arm(target, max(0, now_ns + ahead_ns))


def test_impossible_start_times_are_refused(engine: RawEngine) -> None:
    assert arm(engine, 12_345, 10**9)["code"] == "request.unknown_target"
    # A port that nobody has opened: this request will not be ready.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))
        waiting = engine.send(stream_send([closed.getsockname()[1]]))
        assert arm(engine, waiting, 10**9)["code"] == "arm.not_ready"
        engine.ask({"type": "cancel", "target": waiting})
        assert engine.wait(waiting)["code"] == "cancelled"

    request_id, _ = engine.ready(stream_receive())
    late = arm(engine, request_id, -(10**6))
    assert late["code"] == "arm.late"
    assert "ns ago" in late["message"]
    assert late["hint"] == "send the start further ahead"
    far = arm(engine, request_id, 3600 * 10**9)
    assert far["code"] == "request.value"
    assert "at most 600 s ahead" in far["message"]
    armed = arm(engine, request_id, 10**10)
    assert armed["result"]["kind"] == "armed"
    assert 0 < armed["result"]["margin_ns"] <= 10**10
    assert arm(engine, request_id, 10**10)["code"] == "arm.again"
    engine.ask({"type": "cancel", "target": request_id})
    assert engine.wait(request_id)["code"] == "cancelled"
    gone = engine.ask({"type": "cancel", "target": request_id})
    assert (gone["code"], gone["message"]) == (
        "request.unknown_target",
        f"no request {request_id} is running",
    )


class _Silent:
    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections: list[Any] = []
        self.accepted = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        self.connections.append(self.listener.accept())
        self.accepted.set()

    def close(self) -> None:
        for connection, _ in self.connections:
            connection.close()
        self.listener.close()


def test_cancelling_a_connecting_request_ends_it_soon(engine: RawEngine) -> None:
    silent = _Silent()
    port = silent.listener.getsockname()[1]
    for request in (
        stream_send([port], transport="tcp"),
        echo_request(port, transport="tcp"),
        stream_send([port]),
        echo_request(port),
    ):
        request_id = engine.send(request)
        if request["spec"]["transport"] == "tcp":
            assert silent.accepted.wait(10)
        engine.ask({"type": "cancel", "target": request_id})
        assert engine.wait(request_id)["code"] == "cancelled"
    silent.close()


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_cancelling_an_armed_request_ends_it_soon(engine: RawEngine, transport: str) -> None:
    spec = {"transport": transport}
    receiving, ports = engine.ready(stream_receive(**spec))
    sending, _ = engine.ready(stream_send(ports, **spec))
    responding, port = engine.ready(echo_respond(**spec))
    requesting, _ = engine.ready(echo_request(port[0], **spec))
    ids = [receiving, sending, responding, requesting]
    start_together(*((engine, each) for each in ids), lead_ns=60_000_000_000)
    for request_id in reversed(ids):
        engine.ask({"type": "cancel", "target": request_id})
    for request_id in ids:
        # An end that has not been cancelled yet may see the other go first.
        line = engine.wait(request_id)
        assert line["type"] == "result" or line["code"] in ("cancelled", "peer.gone"), line


@pytest.mark.parametrize(
    ("run", "keys"),
    [
        (run_stream, {}),
        (run_echo, {"timeout_ns": 500_000_000}),
        # Slow, but no round is as long as a tick of the responder.
        (run_echo, {"timeout_ns": 500_000_000, "rate_requests_per_s": 60.0}),
    ],
    ids=["stream", "echo", "paced echo"],
)
@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("cancelled", [0, 1], ids=["listener", "connector"])
def test_cancelling_a_running_request_returns_partial_results(
    run: Run, keys: Line, transport: str, cancelled: int
) -> None:
    spec: Line = {
        "transport": transport,
        "amount": {"time_ns": 60_000_000_000},
        "silence_ns": 1_500_000_000,
        **keys,
    }
    with RawEngine() as target, RawEngine() as source:
        ends = list(zip((target, source), run(target, source, **spec), strict=True))
        for engine, request_id in ends:
            engine.wait(request_id, "progress")
        engine, request_id = ends[cancelled]
        engine.ask({"type": "cancel", "target": request_id})
        error = engine.wait(request_id)
        assert error["code"] == "cancelled"
        partial = error["partial"]
        assert partial["ended_by"] == "cancelled"
        counts = ("sent_messages", "measured_messages", "answered_messages", "replies")
        assert any(partial.get(count) for count in counts)
        # What was not due yet was not left unsent.
        assert partial.get("unsent_messages", 0) < 10_000

        other, other_id = ends[1 - cancelled]
        line = other.wait(other_id)
        # A requester over TCP that stops between two messages looks as at its end.
        assert line["type"] == "result" or line["code"] == "peer.gone"
