"""An engine process driven line by line, so that a test sees what a driver would not show it."""

from __future__ import annotations

import copy
import json
import queue
import socket
import subprocess
import threading
import time
from typing import Any

from lanlab.engine import engine_path

Line = dict[str, Any]

#: A machine with other work to do may take this long to answer; what is measured is not this.
PATIENCE_S = 180.0
#: 32 hexadecimal digits.
SESSION = "000102030405060708090a0b0c0d0e0f"


class RawEngine:
    def __init__(self, command: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            command or [engine_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        #: Every line so far, in order.
        self.lines: list[Line] = []
        self._arrived: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._set_aside: list[Line] = []
        self._next_id = 1
        threading.Thread(target=self._read, daemon=True).start()
        self.hello = self.next()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            line = json.loads(text)
            self.lines.append(line)
            self._arrived.put(line)
        self._arrived.put(None)

    def send_bytes(self, octets: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(octets)
        self.process.stdin.flush()

    def send(self, request: Line, request_id: int | None = None) -> int:
        if request_id is None:
            request_id, self._next_id = self._next_id, self._next_id + 1
        self.send_bytes(json.dumps({"id": request_id, "request": request}).encode() + b"\n")
        return request_id

    def next(self, patience_s: float = PATIENCE_S) -> Line:
        line = self._arrived.get(timeout=patience_s)
        assert line is not None, "the engine has ended"
        return line

    def wait(self, request_id: int | None, *types: str, patience_s: float = PATIENCE_S) -> Line:
        """The next line of a request that has one of the types (`result` or `error` if none is
        given). Lines of other requests are kept for a later call."""
        wanted = types or ("result", "error")
        for line in self._set_aside:
            if line.get("id") == request_id and line["type"] in wanted:
                self._set_aside.remove(line)
                return line
        deadline = time.monotonic() + patience_s
        while True:
            line = self.next(max(0.01, deadline - time.monotonic()))
            if line.get("id") == request_id and line["type"] in wanted:
                return line
            if line["type"] != "progress":
                self._set_aside.append(line)

    def ask(self, request: Line) -> Line:
        return self.wait(self.send(request))

    def refusal(self, request: Line) -> Line:
        """The error that ends a request, once it is known that the engine goes on."""
        line = self.ask(request)
        assert line["type"] == "error", line
        assert self.is_usable()
        return line

    def is_usable(self) -> bool:
        line = self.ask({"type": "ping"})
        return bool(line["type"] == "result" and line["result"]["kind"] == "pong")

    def ready(self, request: Line) -> tuple[int, list[int]]:
        request_id = self.send(request)
        line = self.wait(request_id, "ready", "error")
        assert line["type"] == "ready", line
        return request_id, line["ports"]

    def arm(self, target: int, at_ns: int) -> Line:
        return self.ask({"type": "arm", "target": target, "at_ns": at_ns})

    def close(self) -> None:
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None

    def __enter__(self) -> RawEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


STREAM_SPEC: Line = {
    "transport": "udp",
    "message_size_bytes": 500,
    "amount": {"time_ns": 200_000_000},
    "rate": {"messages_per_s": 1000.0},
    "flows": 1,
    "io": "auto",
    "socket": {},
    "warmup_ns": 0,
    "interval_ns": 100_000_000,
    "silence_ns": 1_000_000_000,
}
ECHO_SPEC: Line = {
    "transport": "udp",
    "message_size_bytes": 100,
    "amount": {"requests": 20},
    "rate_requests_per_s": None,
    "timeout_ns": 500_000_000,
    "socket": {},
    "warmup_ns": 0,
    "silence_ns": 1_000_000_000,
}


def _loopback(spec: Line, key_values: Line) -> Line:
    spec = copy.deepcopy(spec) | key_values
    return {"spec": spec, "bind": "127.0.0.1", "peer": "127.0.0.1", "session": SESSION}


def stream_receive(**spec: Any) -> Line:
    """A request to receive on loopback; arguments replace keys of the specification."""
    return {"type": "stream_receive", **_loopback(STREAM_SPEC, spec)}


def stream_send(ports: list[int], **spec: Any) -> Line:
    return {"type": "stream_send", "ports": ports, **_loopback(STREAM_SPEC, spec)}


def echo_respond(**spec: Any) -> Line:
    return {"type": "echo_respond", **_loopback(ECHO_SPEC, spec)}


def echo_request(port: int, **spec: Any) -> Line:
    return {"type": "echo_request", "port": port, **_loopback(ECHO_SPEC, spec)}


def probe_path(answering: RawEngine, asking: RawEngine) -> Line:
    ends = {"bind": "127.0.0.1", "peer": "127.0.0.1", "session": SESSION}
    answer, ports = answering.ready({"type": "path_mtu_answer", **ends})
    most = {"most_bytes": 1500, "within_ns": 10_000_000_000}
    told = asking.ask({"type": "path_mtu_probe", **ends, "port": ports[0], **most})
    answering.ask({"type": "cancel", "target": answer})
    answering.wait(answer)
    return told


def simulate(work: Line, *, machine: Line | None = None, medium: Line | None = None) -> Line:
    """A world of two equal machines, on a cable of 10 Mbit/s unless `medium` says otherwise."""
    joined = {"topology": "cable", "rate_bps": 10_000_000} | (medium or {})
    world = {"medium": joined, "machines": 2 * [machine or {}]}
    return {"type": "simulate", "seed": 1, "world": world, "work": work}


def run_stream(receiver: RawEngine, sender: RawEngine, **spec: Any) -> tuple[int, int]:
    """Start a stream between two engines; the ids of both requests once they are armed."""
    receiving, ports = receiver.ready(stream_receive(**spec))
    sending, _ = sender.ready(stream_send(ports, **spec))
    start_together((receiver, receiving), (sender, sending))
    return receiving, sending


def run_peer_stream(engine: RawEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as peer:
        place = {"peer": "127.0.0.1", "port": peer.getsockname()[1]}
        spec = {**STREAM_SPEC, "transport": "tcp"}
        asked = {"type": "peer_stream", "spec": spec, "protocol": "tcp", "direction": "send"}
        sending, _ = engine.ready({**asked, **place})
        start_together((engine, sending))
        engine.wait(sending)


def run_peer_echo(engine: RawEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as peer:
        place = {"peer": "127.0.0.1", "port": peer.getsockname()[1]}
        spec = {**ECHO_SPEC, "transport": "tcp", "amount": {"requests": 3}, "warmup_ns": 0}
        asked = {"type": "peer_echo", "spec": spec, "protocol": "connect"}
        opening, _ = engine.ready({**asked, **place})
        start_together((engine, opening))
        engine.wait(opening)


def run_peer_serve(engine: RawEngine) -> None:
    bounds = {"clients": 1, "longest_ns": 10**10}
    asked = {"type": "peer_serve", "service": "iperf3", "bind": "127.0.0.1", **bounds}
    serving, ports = engine.ready(asked)
    with socket.create_connection(("127.0.0.1", ports[0])) as client:
        client.sendall(b"a" * 36 + b"\0")
        client.recv(1)
    engine.wait(serving, "peer_client")
    engine.ask({"type": "cancel", "target": serving})
    engine.wait(serving, "error")


def run_echo(responder: RawEngine, requester: RawEngine, **spec: Any) -> tuple[int, int]:
    """Start an echo between two engines; the ids of both requests once they are armed."""
    responding, ports = responder.ready(echo_respond(**spec))
    requesting, _ = requester.ready(echo_request(ports[0], **spec))
    start_together((responder, responding), (requester, requesting))
    return responding, requesting


def run_stations(engine: RawEngine) -> None:
    """Have two stations read at the engine's own memory, by every request that there is."""
    spec = {
        "service": {"service": "memory", "directory": "lines"},
        "working_name": "lanlab-lines",
        "token": SESSION,
        "stations": 2,
        "own": {"first": 0, "count": 2},
        "operation": "read",
        "read_ratio": 0.5,
        "access": "sequential",
        "message_size_bytes": 100,
        "file_size_bytes": 1000,
        "think_ns": 0,
        "sync": "none",
        "until": {"readings_per_station": 10},
        # Fewer than there are, so that they are thinned, and their sums told.
        "most_readings": 10,
        "retries": 0,
        "seed": 1,
        "verify": True,
        "connects_at_once": 2,
    }
    engine.ask({"type": "stations_prepare", "spec": spec})
    working, _ = engine.ready({"type": "stations", "spec": spec})
    start_together((engine, working))
    engine.wait(working)
    engine.ask({"type": "stations_empty", "spec": spec})


def run_metadata(engine: RawEngine) -> None:
    """Have two clients work on names in the engine's own memory, by every request that there is."""
    spec = {
        "service": {"service": "memory", "directory": "names"},
        "working_name": "lanlab-names",
        "token": SESSION,
        "clients": 2,
        "files": 20,
        "width": 2,
        "depth": 1,
        "longest_ns": 10**10,
    }
    engine.ask({"type": "metadata_prepare", "spec": spec})
    working, _ = engine.ready({"type": "metadata", "spec": spec})
    start_together((engine, working))
    engine.wait(working)
    engine.ask({"type": "metadata_empty", "spec": spec})


def run_copy(client: RawEngine, host: RawEngine, root: str) -> None:
    """Copy a small dataset to an embedded server, with every request that there is for it."""
    described = {
        "seed": 1,
        "groups": [{"count": 2, "least_bytes": 5, "most_bytes": 5}],
    }
    client.ask({"type": "dataset", "spec": described, "place": {"directory": root + "/dataset"}})
    client.ask({"type": "drop_caches", "directory": root + "/dataset"})
    client.ask({"type": "measure_room", "directory": root})
    client.ask({"type": "ready_memory", "bytes": 1})
    client.ask({"type": "resolve", "name": "127.0.0.1", "family": "ipv4"})
    held, _ = client.ready({"type": "trial_directory", "medium": "disk"})
    client.ask({"type": "cancel", "target": held})
    client.wait(held)
    place = {"root": root, "bind": "127.0.0.1", "says_clients": True}
    serving, ports = host.ready({"type": "serve", "service": "ftp", **place})
    spec = {
        "service": {"service": "ftp", "address": "127.0.0.1", "port": ports[0]},
        "working_name": "lanlab-lines",
        "token": SESSION,
        "direction": "upload",
        "files": {"dataset": described},
        "client": "memory",
        "parallel_files": 1,
        "sync": "none",
        "verify": "content",
        "retries": 0,
    }
    client.ask({"type": "copy_prepare", "spec": spec})
    copying, _ = client.ready({"type": "copy", "spec": spec})
    start_together((client, copying))
    client.wait(copying)
    client.ask({"type": "copy_check", "spec": spec})
    client.ask({"type": "copy_empty", "spec": spec})
    host.ask({"type": "cancel", "target": serving})
    host.wait(serving)


def start_together(*ends: tuple[RawEngine, int], lead_ns: int = 150_000_000) -> int:
    pong = ends[0][0].ask({"type": "ping"})["result"]
    at_ns = int(pong["monotonic_ns"]) + lead_ns
    for engine, request_id in ends:
        armed = engine.arm(request_id, at_ns)
        assert armed["type"] == "result", armed
    return at_ns
