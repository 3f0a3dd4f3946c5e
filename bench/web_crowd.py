"""
How `lanlab web` serves a reader among strangers without a token: silent connections, requests that
arrive byte by byte, endless heads, and wrong tokens.

    python bench/web_crowd.py --strangers 3000
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import random
import resource
import select
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

COMMAND = str(Path(sysconfig.get_path("scripts")) / "lanlab")
_PROMISED_S, _PROMISED_BYTES, _PROMISED_LINES = 1.0, 64 * 2**20, 100
_WRONG = b"GET /wrong/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
_ENDLESS = b"GET / HTTP/1.1\r\n" + b"X-Many: " + 8000 * b"x" + b"\r\n"

#: What a stranger sends each time.
KINDS: dict[str, Callable[[], bytes]] = {
    "silent": lambda: b"",
    "byte by byte": lambda: b"G",
    "endless head": lambda: _ENDLESS,
    "wrong token": lambda: _WRONG,
}


class Crowd:
    """Strangers on one thread; who is dropped comes again."""

    def __init__(
        self, port: int, strangers: int, piece: Callable[[], bytes], reads: bool = True
    ) -> None:
        self._port, self._strangers, self._piece = port, strangers, piece
        self._events = select.EPOLLRDHUP | (select.EPOLLIN if reads else 0)
        self._is_over = threading.Event()
        self.connections = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        choice = random.Random(7)
        held: list[socket.socket] = []
        by_number: dict[int, socket.socket] = {}
        with select.epoll() as ended:
            while not self._is_over.is_set():
                for _ in range(min(200, self._strangers - len(held))):
                    one = socket.socket()
                    one.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        one.connect(("127.0.0.1", self._port))
                    self.connections += 1
                    held.append(one)
                    by_number[one.fileno()] = one
                    ended.register(one, self._events)
                for one in choice.sample(held, min(200, len(held))):
                    with contextlib.suppress(OSError):
                        one.send(self._piece())
                for number, event in ended.poll(0.02):
                    one = by_number[number]
                    if not event & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                        with contextlib.suppress(OSError):
                            one.recv(65_536)
                        continue
                    held.remove(by_number.pop(number))
                    one.close()
            for one in held:
                one.close()

    def end(self) -> None:
        """Close all of them."""
        self._is_over.set()
        self._thread.join()


def longest_wait_s(port: int, path: str, seconds: float) -> float:
    """The longest time until a reader with the token has the list of runs."""
    longest_s, end_s = 0.0, time.monotonic() + seconds
    while time.monotonic() < end_s:
        began_s = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"the reader got status {answer.status}")
        longest_s = max(longest_s, time.monotonic() - began_s)
        time.sleep(0.05)
    return longest_s


def memory_bytes(pid: int) -> int:
    """Memory of a process that is in use now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0


def processor_s(pid: int) -> float:
    """Processor time of a process until now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Print a row for each kind of strangers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=15.0, help="for each kind")
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))
    is_kept = True
    with tempfile.TemporaryDirectory() as folder, Path(folder, "lines").open("w+") as lines:
        server = subprocess.Popen(
            [COMMAND, "web", "--store", str(Path(folder, "s.sqlite"))],
            stdout=lines,
            stderr=subprocess.STDOUT,
        )
        try:
            url = None
            while url is None:
                time.sleep(0.1)
                words = Path(folder, "lines").read_text().split()
                url = next((one for one in words if one.startswith("http://")), None)
            parts = urlsplit(url)
            assert parts.port is not None
            longest_wait_s(parts.port, parts.path, 1)
            print(
                "| strangers | connections | processor time | longest wait | more memory | lines |"
            )
            print("|---|---:|---:|---:|---:|---:|")
            before_bytes, most_bytes = memory_bytes(server.pid), 0
            for kind, piece in KINDS.items():
                began_s = processor_s(server.pid)
                crowd = Crowd(parts.port, asked.strangers, piece)
                time.sleep(1)
                wait_s = longest_wait_s(parts.port, parts.path, asked.seconds)
                most_bytes = max(most_bytes, memory_bytes(server.pid) - before_bytes)
                crowd.end()
                count = len(Path(folder, "lines").read_text().splitlines())
                print(
                    f"| {asked.strangers} {kind} | {crowd.connections} | "
                    f"{processor_s(server.pid) - began_s:.2f} s | {wait_s:.3f} s | "
                    f"{most_bytes / 2**20:.1f} MiB | {count} |",
                    flush=True,
                )
                kept = (wait_s <= _PROMISED_S, most_bytes <= _PROMISED_BYTES)
                is_kept &= all(kept) and count <= _PROMISED_LINES
        finally:
            server.terminate()
            server.wait()
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
