"""
How `lanlab serve` serves a client among strangers: silent connections, and those that begin and do
not go on. A stranger who is dropped comes again.

    python bench/serve_crowds.py --strangers 3000
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from raw_engine import Line, RawEngine
from test_hostile_crowds import BEGUN, SECRET, logs_in
from web_crowd import COMMAND, Crowd, memory_bytes

_PROMISED_S, _PROMISED_BYTES, _PROMISED_LINES = 1.0, 64 * 2**20, 100
_WITHIN_S = 30.0


class _DroppedError(Exception):
    """The server ended the connection."""


def _echoed(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), _WITHIN_S) as client:
        for _ in range(100):
            client.sendall(bytes(1000))
            left = 1000
            while left:
                got = len(client.recv(left))
                if not got:
                    raise _DroppedError
                left -= got


def _discarded(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), _WITHIN_S) as client:
        client.sendall(bytes(100_000))
        client.shutdown(socket.SHUT_WR)
        if client.recv(1):
            raise SystemExit("discard answered")


def _generated(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), _WITHIN_S) as client:
        left = 1 << 20
        while left:
            got = len(client.recv(left))
            if not got:
                raise _DroppedError
            left -= got


def _asked(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), _WITHIN_S) as client:
        client.sendall(b"y" * 36 + b"\0")
        if client.recv(1) != b"\x09":
            raise _DroppedError


#: What a client does at each peer, and what strangers begin with.
_PEERS: dict[str, tuple[Callable[[int], None], bytes]] = {
    "echo": (_echoed, b"x"),
    "discard": (_discarded, b"x"),
    "chargen": (_generated, b""),
    "iperf3": (_asked, b"x" * 36 + b"\0"),
}


def _is_served(does: Callable[[int], None], port: int) -> bool:
    """Whether a client is served; one that is dropped beside the strangers tries again."""
    try:
        does(port)
    except (AssertionError, OSError, _DroppedError):
        return False
    return True


def _engine_of(pid: int) -> int:
    """The engine of a command."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


class _Server(NamedTuple):
    """A listener: where, what a client does there, its process, and the lines it gave."""

    port: int
    does: Callable[[int], None]
    pid: int
    lines: Callable[[], int]


@contextlib.contextmanager
def _peer(name: str) -> Iterator[_Server]:
    """`lanlab serve --peer`."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "lines").open("w+") as lines:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [COMMAND, "serve", "--peer", name, "--port", str(port)],
            stdout=lines,
            stderr=subprocess.STDOUT,
        )
        try:
            while "Ctrl-C" not in Path(folder, "lines").read_text():
                time.sleep(0.1)
            yield _Server(
                port,
                _PEERS[name][0],
                _engine_of(server.pid),
                lambda: len(Path(folder, "lines").read_text().splitlines()),
            )
        finally:
            server.terminate()
            server.wait()


def _logs_in(client: RawEngine, name: str, port: int, ready: Line) -> None:
    """Log in, and make a directory."""
    logs_in(client, name, port, ready)


@contextlib.contextmanager
def _file_service(name: str) -> Iterator[_Server]:
    """The engine of `lanlab serve --service`, and a client that logs in and makes a directory."""
    request = {
        "type": "serve",
        "service": name,
        "bind": "127.0.0.1",
        "credentials": None if name == "nfs" else {"user": "me", "secret": SECRET},
    }
    with tempfile.TemporaryDirectory() as root, RawEngine() as server, RawEngine() as client:
        ready = server.wait(server.send({**request, "root": root}), "ready", "error")
        yield _Server(
            ready["ports"][0],
            lambda port: _logs_in(client, name, port, ready),
            server.process.pid,
            lambda: len(server.lines),
        )


def _row(name: str, begun: bytes, strangers: int, seconds: float) -> bool:
    """Print a row; whether all promises were kept."""
    with (_peer if name in _PEERS else _file_service)(name) as server:
        server.does(server.port)
        before_bytes = memory_bytes(server.pid)
        # Who reads all that a character generator sends is a client.
        crowd = Crowd(server.port, strangers, lambda: begun, reads=name != "chargen")
        longest_s, most_bytes, refused = 0.0, 0, 0
        end_s = time.monotonic() + seconds
        time.sleep(0.2)
        with contextlib.closing(contextlib.ExitStack()) as gone:
            gone.callback(crowd.end)
            while time.monotonic() < end_s:
                began_s = time.monotonic()
                while not _is_served(server.does, server.port):
                    refused += 1
                    if time.monotonic() - began_s > _WITHIN_S:
                        break
                longest_s = max(longest_s, time.monotonic() - began_s)
                most_bytes = max(most_bytes, memory_bytes(server.pid) - before_bytes)
                time.sleep(0.05)
        count = server.lines()
    print(
        f"| {name} | {strangers} {'begin' if begun else 'silent'} | {crowd.connections} | "
        f"{longest_s:.3f} s | {refused} | {most_bytes / 2**20:.1f} MiB | {count} |",
        flush=True,
    )
    kept = (longest_s <= _PROMISED_S, most_bytes <= _PROMISED_BYTES, count <= _PROMISED_LINES)
    return all(kept)


def main() -> int:
    """Print a row for each listener and kind of strangers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each row")
    parser.add_argument("names", nargs="*", default=[*_PEERS, *BEGUN])
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))
    print(
        "| listener | strangers | connections | longest wait | tried again | more memory | lines |"
    )
    print("|---|---|---:|---:|---:|---:|---:|")
    kept = True
    for name in asked.names:
        begins = _PEERS[name][1] if name in _PEERS else BEGUN[name][:4000]
        for begun in dict.fromkeys((b"", begins)):
            kept &= _row(name, begun, asked.strangers, asked.seconds)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
