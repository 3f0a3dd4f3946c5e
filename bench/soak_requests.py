"""
Send many pipelined requests to each server, and print by how much its memory grew.

    .venv/bin/python bench/soak_requests.py --requests 1000000 nfs webdav ftp echo

Memory is read after the first tenth and at the end. A request to discard and a reply of chargen are
100 bytes. Exit code 1 if a server grew by more than 1 MiB.
"""

from __future__ import annotations

import argparse
import base64
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from raw_engine import Line, RawEngine
from web_crowd import memory_bytes

_PROMISED_BYTES, _AT_ONCE, _SECRET = 2**20, 100, "s3cret-words"
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
    if name in ("echo", "discard", "chargen"):
        longest_ns = 86_400 * 10**9
        return {
            "type": "peer_serve",
            "service": name,
            "bind": "127.0.0.1",
            "clients": 8,
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


def _soaked(name: str, requests: int) -> int:
    """Bytes by which the server grew; prints a row."""
    opening, (request, replies) = _KINDS[name]
    with tempfile.TemporaryDirectory() as root, RawEngine() as server:
        ready = server.wait(server.send(_served(name, root)), "ready", "error")
        began_s, sent, first_bytes = time.monotonic(), 0, 0
        with socket.create_connection(("127.0.0.1", ready["ports"][0]), 30) as client:
            for words in opening:
                client.sendall(words)
                client.recv(65_536)
            while sent < requests:
                client.sendall(_AT_ONCE * request)
                got = b""
                while replies(got) < _AT_ONCE:
                    piece = client.recv(65_536)
                    if not piece:
                        raise SystemExit(f"{name} ended the connection after {sent} requests")
                    got += piece
                sent += _AT_ONCE
                if first_bytes == 0 and sent >= requests // 10:
                    first_bytes = memory_bytes(server.process.pid)
        last_bytes = memory_bytes(server.process.pid)
    grew_bytes, took_s = last_bytes - first_bytes, time.monotonic() - began_s
    each_bytes = grew_bytes / max(1, requests - requests // 10)
    print(
        f"| {name} | {sent} | {took_s:.0f} s | {first_bytes} | {grew_bytes} | {each_bytes:.4f} |",
        flush=True,
    )
    return grew_bytes


def main() -> int:
    """Print a row for each server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="to each server")
    parser.add_argument("names", nargs="*", default=[*_KINDS])
    asked = parser.parse_args()
    print("| server | requests | time | memory after a tenth, bytes | growth, bytes | a request |")
    print("|---|---:|---:|---:|---:|---:|")
    grown = [_soaked(name, asked.requests) for name in asked.names]
    return 0 if max(grown) <= _PROMISED_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
