"""Other programs on hosts: tshark, which sees datagrams, and iperf3, which measures the link."""

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from peer_finding import peer_program
from programs import ran

from lanlab.testbeds.base import Host

PATIENCE_S = 180.0


def fields_of(pcap: Path, fields: Sequence[str], *options: str) -> list[list[str]]:
    """What tshark reads of each frame."""
    wanted = [word for field in fields for word in ("-e", field)]
    argv = [peer_program("tshark"), "-r", pcap, *options, "-T", "fields", *wanted]
    return [line.split("\t") for line in ran(argv, check=True).stdout.splitlines()]


#: Sends a datagram to a port without a listener, of the length in each line of its input.
_MARKER = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for line in sys.stdin:
        try:
            s.sendto(bytes(int(line)), (sys.argv[1], 9))
        except OSError:
            pass
"""
#: The length field of UDP counts its 8 octets of header.
_HEADER_BYTES = 8


class Lines:
    def __init__(self, host: Host, *command: str) -> None:
        self.process = subprocess.Popen(
            [*host.command_prefix, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def until(self, wanted: str) -> list[str]:
        """Every line up to the one that contains `wanted`, which is left out."""
        found: list[str] = []
        while True:
            line = self._lines.get(timeout=PATIENCE_S)
            assert line is not None, f"ended with: {found}"
            if wanted in line:
                return found
            found.append(line)


@contextmanager
def running(host: Host, *command: str) -> Iterator[Lines]:
    lines = Lines(host, *command)
    try:
        yield lines
    finally:
        # Not killed: some have children of their own to end.
        lines.process.terminate()
        lines.process.wait(PATIENCE_S)


def marked(captures: Sequence[Lines], wanted: str, mark: Callable[[], object]) -> list[list[str]]:
    """Wait until captures have begun, which takes its time, or are up to date: each has seen what
    `mark` sends. The lines of each before it."""
    begun = threading.Event()

    def keep_marking() -> None:
        while not begun.wait(0.05):
            mark()

    marking = threading.Thread(target=keep_marking)
    marking.start()
    try:
        return [capture.until(wanted) for capture in captures]
    finally:
        begun.set()
        marking.join()


@contextmanager
def captured(
    hosts: Sequence[Host], source: Host, address: str, message_bytes: int
) -> Iterator[Callable[[], list[list[str]]]]:
    """
    Capture UDP messages of a length on the interfaces of some hosts, from here on.

    Args:
        hosts: Where is captured.
        source: From where the first and the last datagram are sent that each must see.
        address: To where.

    Returns:
        What ends the captures, and gives of each host the destination port of each message seen.
    """
    tshark = peer_program("tshark")
    data = message_bytes + _HEADER_BYTES
    before, after = data - 1, data - 2
    lengths = " or ".join(f"udp[4:2] = {length}" for length in (data, before, after))
    with ExitStack() as opened:
        marker = opened.enter_context(running(source, sys.executable, "-c", _MARKER, address))
        captures = [
            opened.enter_context(
                running(
                    host,
                    *(tshark, "-i", "eth0", "-n", "-l", "-Q", "-f", lengths),
                    *("-T", "fields", "-e", "udp.length", "-e", "udp.dstport"),
                )
            )
            for host in hosts
        ]

        def mark(length: int) -> None:
            assert marker.process.stdin is not None
            marker.process.stdin.write(f"{length - _HEADER_BYTES}\n")
            marker.process.stdin.flush()

        marked(captures, f"{before}\t9", lambda: mark(before))

        def end() -> list[list[str]]:
            mark(after)
            return [
                [
                    port
                    for length, port in (x.split("\t") for x in capture.until(f"{after}\t9"))
                    if length == str(data)
                ]
                for capture in captures
            ]

        yield end
