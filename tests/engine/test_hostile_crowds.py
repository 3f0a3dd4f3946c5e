"""Crowds that do not log in cost an embedded server little memory, and keep nobody out for long."""

import contextlib
import resource
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from file_servers import KINDS
from hostile_peer import resident_bytes
from raw_engine import SESSION, Line, RawEngine

#: Connections of a crowd; each has begun something that it does not end.
CROWD = 2000
#: What a server's memory may grow by; each record of NFS that is not ended could take 1 MiB.
GROWTH_BYTES = 64 << 20
#: How long a crowd sends what it has, where a server does not take all of it.
SENDING_S = 3.0
#: How soon somebody is served who comes while the crowd is there.
SERVED_S = 60.0
#: Connections that say nothing, and those that send half of a body before they log in.
SILENT, HALF = 3000, 500
#: Files of a process: all of them and as many again.
FILES = 8000
#: How soon somebody is let in who comes while they are there, on a busy machine.
SOON_S = 10.0
#: The same where nothing else is to be done.
QUIET_S = 1.0
SECRET = "s3cret &/ word"

#: A TLS record that announces 16 KiB of a `ClientHello` (RFC 8446, sections 4.1.2 and 5.1).
_TLS = struct.pack(">BHHBBH", 0x16, 0x0301, 1 << 14, 1, 0, (1 << 14) - 4) + bytes(15_000)
_HEAD = b"GET /x HTTP/1.1\r\nHost: h\r\nX: " + b"x" * (200 << 10)
#: The longest beginning that each would take in.
BEGUN = {
    "ftp": b"USER " + b"x" * 4000,
    "ftps": b"AUTH TLS\r\n",
    "sftp": b"SSH-2.0-x\r\n" + struct.pack(">I", 255 << 10) + bytes(200 << 10),
    "webdav": _HEAD,
    "webdavs": _TLS,
    "s3": _HEAD,
    "s3s": _TLS,
    "nfs": struct.pack(">I", 1 << 31 | 1 << 20) + bytes((1 << 20) - 8),
    "smb": struct.pack(">I", 68 << 10) + bytes(67 << 10),
    "smb1": struct.pack(">I", 68 << 10) + bytes(67 << 10),
}

_BODY = b"PUT /lanlab/x HTTP/1.1\r\nHost: h\r\nContent-Length: 2097152\r\n\r\n" + bytes(1 << 20)
#: Half of what each would be sent, where bodies come after a head.
HALVES = {**BEGUN, "webdav": _BODY, "s3": _BODY}
#: SMB closes connections beyond its places, and its client waits before it tries again.
QUICK = [service for service in HALVES if service != "smb"]


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    """Let this process, and the engines that it starts, have a socket for each of a crowd."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < FILES:
        pytest.skip(f"found {hard} files at most for a process; {FILES} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Crowd:
    def __init__(self, port: int, begun: bytes, count: int = CROWD) -> None:
        self._begun = begun
        self._sockets: list[socket.socket] = []
        self._selector = selectors.DefaultSelector()
        self._is_over = threading.Event()
        for _ in range(count):
            each = socket.socket()
            each.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                each.connect(("127.0.0.1", port))
            self._sockets.append(each)
            self._selector.register(each, selectors.EVENT_WRITE, [0])
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        while not self._is_over.is_set():
            for key, _ in self._selector.select(0.05):
                assert isinstance(key.fileobj, socket.socket)
                sent = key.data
                try:
                    sent[0] += key.fileobj.send(self._begun[sent[0] : sent[0] + (64 << 10)])
                except BlockingIOError:
                    continue
                except OSError:
                    # The server has ended it.
                    sent[0] = len(self._begun)
                if sent[0] >= len(self._begun):
                    self._selector.unregister(key.fileobj)
            if not self._selector.get_map():
                return

    def has_sent(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()
        for each in self._sockets:
            each.close()
        self._selector.close()


def logs_in(
    client: RawEngine, service: str, port: int | None, ready: Line, **others: object
) -> float:
    """How long it takes somebody to log in and make a directory, seconds."""
    sha256 = ready["served"]["trust_sha256"]
    target: Line = {
        "service": service,
        "address": "127.0.0.1",
        "port": port,
        "share": ready["served"]["share"],
        "trust": "system" if sha256 is None else {"sha256": sha256},
        **others,
    }
    if service != "nfs":
        target["credentials"] = {"user": "me", "secret": SECRET}
    spec: Line = {
        "service": target,
        "token": SESSION,
        "direction": "upload",
        "files": {
            "dataset": {
                "seed": 1,
                "groups": [{"count": 1, "least_bytes": 5, "most_bytes": 5}],
            }
        },
        "client": "memory",
        "parallel_files": 1,
        "sync": "none",
        "verify": "content",
        "retries": 0,
    }
    start_s = time.monotonic()
    while True:
        # An attempt that was broken off may have made its directory.
        spec["working_name"] = f"{secrets.token_hex(4)}.lab"
        asked = client.send({"type": "copy_prepare", "spec": spec})
        line = client.wait(asked, patience_s=SERVED_S)
        took_s = time.monotonic() - start_s
        if line["type"] == "result" or took_s > SERVED_S:
            assert line["type"] == "result", line
            return took_s
        time.sleep(0.2)


def crowded(service: str, root: Path, crowds: Mapping[bytes, int]) -> float:
    """How soon somebody is let in while so many connections have sent what each begins with, s."""
    request: Line = {
        "type": "serve",
        "service": service,
        "root": str(root),
        "bind": "127.0.0.1",
        "credentials": None if service == "nfs" else {"user": "me", "secret": SECRET},
    }
    with RawEngine() as server, RawEngine() as client, contextlib.ExitStack() as gone:
        serving = server.send(request)
        ready = server.wait(serving, "ready", "error")
        assert ready["type"] == "ready", ready
        port = ready["ports"][0]
        logs_in(client, service, port, ready)
        most = before = resident_bytes(server)
        come = [Crowd(port, begun, count) for begun, count in crowds.items()]
        for crowd in come:
            gone.callback(crowd.end)
        end_s = time.monotonic() + SENDING_S
        while time.monotonic() < end_s and not all(crowd.has_sent() for crowd in come):
            most = max(most, resident_bytes(server))
            time.sleep(0.02)  # Between two readings of its memory.
        took_s = logs_in(client, service, port, ready)
        most = max(most, resident_bytes(server))
        gone.close()
        print(f"{service}: {(most - before) / (1 << 20):.0f} MiB, served after {took_s:.2f} s")
        assert most - before < GROWTH_BYTES
        assert server.is_usable()
    return took_s


@pytest.mark.parametrize(
    "service",
    [
        # One of each kind.
        pytest.param(service, marks=() if service in KINDS[1] else pytest.mark.long)
        for service in sorted(BEGUN)
    ],
)
def test_unauthenticated_connections_use_little_memory_and_block_no_client(
    service: str, tmp_path: Path
) -> None:
    assert crowded(service, tmp_path, {BEGUN[service]: CROWD}) < SERVED_S


@pytest.mark.parametrize(
    "service",
    [
        pytest.param(service, marks=() if service in KINDS[1] else pytest.mark.long)
        for service in QUICK
    ],
)
def test_silent_connections_use_little_memory_and_block_no_client(
    service: str, tmp_path: Path
) -> None:
    """3000 connections that say nothing, and 500 with half of a body before any login."""
    took_s = crowded(service, tmp_path, {b"": SILENT, HALVES[service]: HALF})
    assert took_s < SOON_S


@pytest.mark.long
@pytest.mark.figures
@pytest.mark.parametrize("service", QUICK)
def test_a_client_is_admitted_within_a_second_after_a_crowd(service: str, tmp_path: Path) -> None:
    took_s = crowded(service, tmp_path, {b"": SILENT, HALVES[service]: HALF})
    assert took_s < QUIET_S


#: What strangers of a peer send: nothing, an octet, a cookie of iperf3.
_COOKIE = b"x" * 36 + b"\0"
PEERS = {"echo": b"x", "discard": b"x", "chargen": b"", "iperf3": _COOKIE}


def _peer_answers(service: str, port: int) -> float:
    """How long it takes a client to be served, seconds."""
    start_s = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=SOON_S) as client:
        client.settimeout(SOON_S)
        if service == "chargen":
            client.recv(1)
        elif service == "iperf3":
            client.sendall(b"y" * 36 + b"\0")
            assert client.recv(1) == b"\x09"
        else:
            for _ in range(200):
                client.sendall(bytes(1000))
                left = 1000 if service == "echo" else 0
                while left:
                    got = client.recv(left)
                    assert got, "the server ended the client"
                    left -= len(got)
            if service == "discard":
                # Its end comes back once all was read.
                client.shutdown(socket.SHUT_WR)
                assert client.recv(1) == b""
    return time.monotonic() - start_s


def crowded_peer(service: str, begun: bytes, count: int = SILENT) -> tuple[float, int, int]:
    """How soon a client of a peer is served beside a crowd, growth of memory, lines of clients."""
    request: Line = {
        "type": "peer_serve",
        "service": service,
        "bind": "127.0.0.1",
        "clients": 64,
        "longest_ns": 3_600_000_000_000,
    }
    with RawEngine() as server, contextlib.ExitStack() as gone:
        ready = server.wait(server.send(request), "ready", "error")
        assert ready["type"] == "ready", ready
        port = ready["ports"][0]
        _peer_answers(service, port)
        before = resident_bytes(server)
        crowd = Crowd(port, begun, count)
        gone.callback(crowd.end)
        took_s = _peer_answers(service, port)
        most = resident_bytes(server)
        lines = len(server.lines)
        print(f"{service}: {(most - before) / (1 << 20):.0f} MiB, served after {took_s:.2f} s")
        assert server.is_usable()
    return took_s, most - before, lines


@pytest.mark.parametrize("service", PEERS)
@pytest.mark.parametrize("speaks", [False, True])
def test_a_crowd_at_a_peer_blocks_no_client(service: str, speaks: bool) -> None:
    took_s, growth_bytes, _ = crowded_peer(service, PEERS[service] if speaks else b"")
    assert took_s < SOON_S
    assert growth_bytes < GROWTH_BYTES
