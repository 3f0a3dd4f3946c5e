"""
Send many pipelined requests to each server, and print by how much its memory grew.

    .venv/bin/python bench/soak_requests.py --requests 1000000 nfs webdav ftp echo

Memory is read after the first tenth and at the end. A request to discard and a reply of chargen are
100 bytes, a request to iperf3 is a whole test, and `web` answers one request at a time, of which a
tenth is for the page. Exit code 1 if a server grew by more than 1 MiB.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from crowd import COMMAND, memory_bytes
from raw_engine import Line, RawEngine

PROMISED_BYTES = 2**20
HEAD = (
    "| server | requests | time | memory after a tenth, bytes | growth, bytes | a request |\n"
    "|---|---:|---:|---:|---:|---:|"
)
_AT_ONCE, _SECRET = 100, "s3cret-words"
_LOGIN = base64.b64encode(f"me:{_SECRET}".encode()).decode()

#: A request, and the replies of its kind that a text of the server has.
_Kind = tuple[bytes, Callable[[bytes], int]]


def _of_http(head: str) -> _Kind:
    """A request without a body; each reply has one status line."""
    text = f"{head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {_LOGIN}\r\n\r\n"
    return text.encode(), lambda got: got.count(b"HTTP/1.1 ")


def _nfs() -> _Kind:
    """NULL of NFS 3 (RFC 1813, section 3.3.0), as a call of RFC 5531 in one last fragment."""
    call = struct.pack(">IIIIII4x4x4x4x", 7, 0, 2, 100_003, 3, 0)
    return struct.pack(">I", 1 << 31 | len(call)) + call, lambda got: len(got) // 28


#: What opens a connection, how long that is answered, and what is sent then.
_KINDS: dict[str, tuple[list[bytes], _Kind]] = {
    "webdav": ([], _of_http("OPTIONS /")),
    # Without a signature, the server refuses it.
    "s3": ([], _of_http("GET /lanlab/x")),
    "ftp": (
        [b"", b"USER me\r\n", f"PASS {_SECRET}\r\n".encode()],
        (b"NOOP\r\n", lambda got: got.count(b"\r\n")),
    ),
    "nfs": ([], _nfs()),
    "echo": ([], (b"x" * 100, lambda got: len(got) // 100)),
    "discard": ([], (b"x" * 100, lambda _: _AT_ONCE)),
    "chargen": ([], (b"", lambda got: len(got) // 100)),
}


def _served(name: str, root: str) -> Line:
    """What an engine is asked for."""
    if name in ("echo", "discard", "chargen", "iperf3"):
        longest_ns = 86_400 * 10**9
        return {
            "type": "peer_serve",
            "service": name,
            "bind": "127.0.0.1",
            "clients": 64,
            "longest_ns": longest_ns,
        }
    credentials = None if name == "nfs" else {"user": "me", "secret": _SECRET}
    return {
        "type": "serve",
        "service": name,
        "root": root,
        "bind": "127.0.0.1",
        "credentials": credentials,
    }


def soaked(name: str, requests: int, pid: int, step: Callable[[], int]) -> int:
    """
    Bytes by which a server grew; prints a row.

    Args:
        step: Has some more requests answered, and gives how many.
    """
    began_s, sent, first_bytes = time.monotonic(), 0, 0
    while sent < requests:
        sent += step()
        if first_bytes == 0 and sent >= requests // 10:
            first_bytes = memory_bytes(pid)
    grew_bytes = memory_bytes(pid) - first_bytes
    each_bytes = grew_bytes / max(1, sent - requests // 10)
    print(
        f"| {name} | {sent} | {time.monotonic() - began_s:.0f} s | {first_bytes} | {grew_bytes} | "
        f"{each_bytes:.4f} |",
        flush=True,
    )
    return grew_bytes


def _exactly(client: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        piece = client.recv(count - len(got))
        if not piece:
            raise SystemExit(f"the server ended the connection after {got!r}")
        got += piece
    return got


def _pipelined(name: str, port: int) -> Callable[[], int]:
    opening, (request, replies) = _KINDS[name]
    client = socket.create_connection(("127.0.0.1", port), 30)
    for words in opening:
        client.sendall(words)
        client.recv(65_536)

    def step() -> int:
        client.sendall(_AT_ONCE * request)
        got = b""
        while replies(got) < _AT_ONCE:
            piece = client.recv(65_536)
            if not piece:
                raise SystemExit(f"{name} ended the connection")
            got += piece
        return _AT_ONCE

    return step


def _text(value: object) -> bytes:
    """A JSON text as iperf3 sends it, after its length."""
    text = json.dumps(value).encode()
    return struct.pack(">I", len(text)) + text


def _tested(port: int) -> int:
    """A whole test of iperf3: two connections, and 1,000 bytes over the second."""
    place, cookie = ("127.0.0.1", port), secrets.token_hex(18).encode() + b"\0"
    stream = {"id": 1, "bytes": 1000, "retransmits": 0, "jitter": 0, "errors": 0, "packets": 0}
    used = dict.fromkeys(("cpu_util_total", "cpu_util_user", "cpu_util_system"), 0)
    report = {**used, "sender_has_retransmits": 1, "streams": [stream]}
    with socket.create_connection(place, 30) as control:
        control.sendall(cookie)
        assert _exactly(control, 1) == b"\x09"
        control.sendall(_text({"tcp": True, "time": 0, "num": 1000, "parallel": 1, "len": 1000}))
        said = _exactly(control, 1)
        if said != b"\x0a":
            raise SystemExit(f"iperf3 is refused: {said + control.recv(8)!r}")
        with socket.create_connection(place, 30) as flow:
            # So that the port is free at once.
            flow.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            flow.sendall(cookie + bytes(1000))
            assert _exactly(control, 2) == b"\x01\x02"
            control.sendall(b"\x04")
            assert _exactly(control, 1) == b"\x0d"
            control.sendall(_text(report))
            (length,) = struct.unpack(">I", _exactly(control, 4))
            counted = json.loads(_exactly(control, length))
            assert counted["streams"][0]["bytes"] == 1000, counted
            assert _exactly(control, 1) == b"\x0e"
            control.sendall(b"\x10")
        control.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return 1


def _of_engine(name: str, requests: int) -> int:
    with tempfile.TemporaryDirectory() as root, RawEngine() as server:
        ready = server.wait(server.send(_served(name, root)), "ready", "error")
        port = ready["ports"][0]
        with ThreadPoolExecutor(16) as clients:

            def tests() -> int:
                return sum(clients.map(_tested, [port] * _AT_ONCE))

            step = tests if name == "iperf3" else _pipelined(name, port)
            return soaked(name, requests, server.process.pid, step)


def _of_web(requests: int) -> int:
    """`lanlab web`, whose reader opens a new connection for each hundred requests."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [COMMAND, "web", "--store", str(Path(folder, "s.sqlite"))],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            lines = (line.split() for line in server.stdout)
            url = next(word for line in lines for word in line if word.startswith("http://"))
            parts = urlsplit(url)

            def step() -> int:
                client = http.client.HTTPConnection("127.0.0.1", parts.port or 80, timeout=30)
                for number in range(_AT_ONCE):
                    client.request("GET", parts.path + ("assets/run.js" if number % 10 else ""))
                    answer = client.getresponse()
                    assert answer.read() and answer.status == 200
                client.close()
                return _AT_ONCE

            return soaked("web", requests, server.pid, step)
        finally:
            server.terminate()
            server.wait()


def main() -> int:
    """Print a row for each server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="to each server")
    parser.add_argument("names", nargs="*", default=[*_KINDS, "iperf3", "web"])
    asked = parser.parse_args()
    print(HEAD)
    grown = [
        _of_web(asked.requests) if name == "web" else _of_engine(name, asked.requests)
        for name in asked.names
    ]
    return 0 if max(grown) <= PROMISED_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
