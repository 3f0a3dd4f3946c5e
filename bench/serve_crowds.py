"""
How `lanlab serve` serves a client among strangers: silent connections, and those that begin and do
not go on. A stranger who is dropped comes again.

    python bench/serve_crowds.py --strangers 3000
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import ftplib
import http.client
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from web_crowd import COMMAND, Crowd, memory_bytes

_PROMISED_S, _PROMISED_BYTES, _PROMISED_LINES = 1.0, 64 * 2**20, 100
_SECRET, _WITHIN_S = "s3cret-words", 30.0


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
        if not client.recv(1):
            raise _DroppedError


def _asked(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), _WITHIN_S) as client:
        client.sendall(b"y" * 36 + b"\0")
        if client.recv(1) != b"\x09":
            raise _DroppedError


def _listed_by_ftp(port: int) -> None:
    with ftplib.FTP() as client:
        client.connect("127.0.0.1", port, _WITHIN_S)
        client.login("lanlab", _SECRET)
        client.nlst()


def _listed_by_webdav(port: int) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=_WITHIN_S)
    token = base64.b64encode(f"lanlab:{_SECRET}".encode()).decode()
    client.request("PROPFIND", "/", headers={"Authorization": f"Basic {token}", "Depth": "1"})
    answer = client.getresponse()
    answer.read()
    client.close()
    if answer.status != 207:
        raise SystemExit(f"the client got status {answer.status}")


#: What a client does at each, and what strangers begin with.
SERVED: dict[str, tuple[Callable[[int], None], bytes]] = {
    "echo": (_echoed, b"x"),
    "discard": (_discarded, b"x"),
    "chargen": (_generated, b""),
    "iperf3": (_asked, b"x" * 36 + b"\0"),
    "ftp": (_listed_by_ftp, b"USER x"),
    "webdav": (_listed_by_webdav, b"GET / HTTP/1.1\r\n"),
}
_PEERS = ("echo", "discard", "chargen", "iperf3")


def _is_served(does: Callable[[int], None], port: int) -> bool:
    """Whether a client is served; one that is dropped beside the strangers tries again."""
    try:
        does(port)
    except (OSError, EOFError, _DroppedError):
        return False
    return True


def _engine_of(pid: int) -> int:
    """The engine of a command."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


def _row(name: str, begun: bytes, strangers: int, seconds: float) -> bool:
    """Print a row; whether all promises were kept."""
    does, _ = SERVED[name]
    with tempfile.TemporaryDirectory() as folder, Path(folder, "lines").open("w+") as lines:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        secret = Path(folder, "secret")
        secret.write_text(_SECRET)
        secret.chmod(0o600)
        Path(folder, "files").mkdir()
        what = (
            ["--peer", name]
            if name in _PEERS
            else [str(Path(folder, "files")), "--service", name, "--password-file", str(secret)]
        )
        server = subprocess.Popen(
            [COMMAND, "serve", *what, "--port", str(port)], stdout=lines, stderr=subprocess.STDOUT
        )
        try:
            while "Ctrl-C" not in Path(folder, "lines").read_text():
                time.sleep(0.1)
            does(port)
            engine = _engine_of(server.pid)
            before_bytes = memory_bytes(engine)
            crowd = Crowd(port, strangers, lambda: begun)
            longest_s, most_bytes, refused = 0.0, 0, 0
            end_s = time.monotonic() + seconds
            time.sleep(0.2)
            with contextlib.closing(contextlib.ExitStack()) as gone:
                gone.callback(crowd.end)
                while time.monotonic() < end_s:
                    began_s = time.monotonic()
                    while not _is_served(does, port):
                        refused += 1
                    longest_s = max(longest_s, time.monotonic() - began_s)
                    most_bytes = max(most_bytes, memory_bytes(engine) - before_bytes)
                    time.sleep(0.05)
            count = len(Path(folder, "lines").read_text().splitlines())
        finally:
            server.terminate()
            server.wait()
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
    parser.add_argument("names", nargs="*", default=[*SERVED])
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))
    print(
        "| listener | strangers | connections | longest wait | tried again | more memory | lines |"
    )
    print("|---|---|---:|---:|---:|---:|---:|")
    kept = True
    for name in asked.names:
        for begun in dict.fromkeys((b"", SERVED[name][1])):
            kept &= _row(name, begun, asked.strangers, asked.seconds)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
