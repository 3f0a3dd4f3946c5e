"""
Strangers at a server, in a process of their own. One that is dropped comes again, each at most
once in so many seconds, and sends its piece as often.

    python bench/crowd.py tcp 3000 1 127.0.0.1 5201 read
    python bench/crowd.py frames 3000 1 nbf left 02:00:00:00:00:01
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import os
import select
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from crowd_frames import CARRIERS, FROM

COMMAND = str(Path(sysconfig.get_path("scripts")) / "lanlab")


class Crowd:
    """Strangers until `end`; what each sends is `piece`."""

    def __init__(self, argv: Sequence[str], piece: bytes = b"", prefix: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [*prefix, sys.executable, __file__, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(len(piece).to_bytes(4, "big") + piece)
        self._process.stdin.flush()
        assert self._process.stdout is not None
        self._process.stdout.readline()  # All have come.

    def cpu_s(self) -> float:
        """Processor time so far."""
        return cpu_s(self._process.pid)

    def end(self) -> int:
        """Close all of them; how many connections they made."""
        said, _ = self._process.communicate()
        if self._process.returncode:
            raise SystemExit("the crowd failed")
        return int(said)


def memory_bytes(pid: int) -> int:
    """Memory of a process that is in use now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_over() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def _over_tcp(strangers: int, again_s: float, host: str, port: str, how: str, piece: bytes) -> int:
    """Connections of strangers; `unread`: they take nothing in."""
    events = select.EPOLLRDHUP | (0 if how == "unread" else select.EPOLLIN)
    held: dict[int, tuple[socket.socket, float]] = {}
    connections = 0
    #: When the strangers that are away return, and when the connected ones send their piece.
    due_s = [0.0] * strangers
    speak: list[tuple[float, int, float]] = []
    with select.epoll() as ended:
        while not _is_over():
            now_s = time.monotonic()
            for _ in range(200):
                if not due_s or due_s[0] > now_s:
                    break
                heapq.heappop(due_s)
                one = socket.socket()
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    one.connect((host, int(port)))
                connections += 1
                held[one.fileno()] = one, now_s
                ended.register(one, events)
                if piece:
                    heapq.heappush(speak, (now_s, one.fileno(), now_s))
                if connections == strangers:
                    print(flush=True)
            for _ in range(200):
                if not speak or speak[0][0] > now_s:
                    break
                _, number, came_s = heapq.heappop(speak)
                if number in held and held[number][1] == came_s:
                    with contextlib.suppress(OSError):
                        held[number][0].send(piece)
                    heapq.heappush(speak, (now_s + max(again_s, 0.02), number, came_s))
            for number, event in ended.poll(0.02):
                if event & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                    one, came_s = held.pop(number)
                    one.close()
                    heapq.heappush(due_s, came_s + again_s)
                    continue
                with contextlib.suppress(OSError):
                    held[number][0].recv(65_536)
    return connections


def _over_ethernet(
    strangers: int, again_s: float, carrier: str, interface: str, server: str, goes_on: bool
) -> int:
    """Let stations with made-up addresses begin sessions, one after the other, and count these.

    With `goes_on` they also answer the server.
    """
    to = bytes.fromhex(server.replace(":", ""))
    stations = [CARRIERS[carrier](FROM + one.to_bytes(4, "big"), to) for one in range(strangers)]
    begun, began_s = 0, time.monotonic()
    everything = socket.htons(3)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, everything) as link:
        link.bind((interface, 0))
        link.setblocking(False)
        while not _is_over():
            due = int((time.monotonic() - began_s) * strangers / max(again_s, 0.1))
            while begun < due:
                for frame in stations[begun % strangers].begin():
                    with contextlib.suppress(BlockingIOError):
                        link.send(frame)
                begun += 1
                if begun == strangers:
                    print(flush=True)
            if not select.select([link], [], [], 0.005)[0]:
                continue
            for _ in range(1000):
                try:
                    frame = link.recv(2048)
                except BlockingIOError:
                    break
                if frame[:2] != FROM or not goes_on:
                    continue
                number = int.from_bytes(frame[2:6], "big")
                for answer in stations[number].follow(frame):
                    with contextlib.suppress(BlockingIOError):
                        link.send(answer)
    return begun


def main() -> None:
    """Be a crowd until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["tcp", "frames"])
    parser.add_argument("strangers", type=int)
    parser.add_argument("again_s", type=float, help="a stranger comes again at most once in it, s")
    parser.add_argument("where", nargs=3, help="HOST PORT HOW, or CARRIER INTERFACE SERVER")
    asked = parser.parse_args()
    piece_bytes = int.from_bytes(sys.stdin.buffer.read(4), "big")
    piece = sys.stdin.buffer.read(piece_bytes)
    if asked.kind == "tcp":
        print(_over_tcp(asked.strangers, asked.again_s, *asked.where, piece))
    else:
        print(_over_ethernet(asked.strangers, asked.again_s, *asked.where, bool(piece)))


if __name__ == "__main__":
    main()
