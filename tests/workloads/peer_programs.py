"""Programs at the other end that are not lanlab's, each on a port of loopback."""

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

#: What a program does with a connection.
Does = Callable[[socket.socket], object]


@dataclass
class Program:
    port: int
    read_bytes: list[int] = field(default_factory=list)

    @property
    def tcp(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def echo(self, host: str = "127.0.0.1") -> str:
        return f"echo://{host}:{self.port}"

    @property
    def iperf3(self) -> str:
        return f"iperf3://127.0.0.1:{self.port}"


@contextmanager
def listening(does: Does, receive_buffer_bytes: int | None = None) -> Iterator[Program]:
    """A program that does something with each connection; all end with the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if receive_buffer_bytes is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        program = Program(listener.getsockname()[1])
        connections: list[socket.socket] = []
        threads: list[threading.Thread] = []

        def serve(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                read = does(connection)
                if isinstance(read, int):
                    program.read_bytes.append(read)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connections.append(listener.accept()[0])
                    threads.append(threading.Thread(target=serve, args=(connections[-1],)))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield program
        finally:
            # A thread that waits for a connection, or for octets, is woken by these.
            for one in (listener, *connections):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join(10)


#: What comes back of a datagram; `None`: nothing. Its number, from 0, is the second argument.
Answers = Callable[[bytes, int], bytes | None]


@contextmanager
def answering(answers: Answers, host: str = "127.0.0.1") -> Iterator[Program]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as bound:
        bound.bind((host, 0))
        bound.settimeout(0.1)
        program = Program(bound.getsockname()[1])
        over = threading.Event()

        def serve() -> None:
            number = 0
            while not over.is_set():
                with suppress(TimeoutError):
                    octets, asker = bound.recvfrom(1 << 16)
                    answer = answers(octets, number)
                    number += 1
                    program.read_bytes.append(len(octets))
                    if answer is not None:
                        bound.sendto(answer, asker)

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield program
        finally:
            over.set()
            serving.join(10)


def discard(connection: socket.socket) -> int:
    """RFC 863."""
    total = 0
    while octets := connection.recv(1 << 20):
        total += len(octets)
    return total


def echo(connection: socket.socket) -> int:
    """RFC 862."""
    total = 0
    while octets := connection.recv(1 << 16):
        connection.sendall(octets)
        total += len(octets)
    return total


def chargen(connection: socket.socket) -> None:
    """RFC 864."""
    line = bytes(range(32, 127)) * 100
    while True:
        connection.sendall(line)


#: What a program like `nc < file` or mTCP's SPDTEST sends before it closes.
STATED_BYTES = 300_000


def sends_a_stated_amount(connection: socket.socket) -> None:
    """In 30 parts, for 0.3 s."""
    for _ in range(30):
        connection.sendall(bytes(STATED_BYTES // 30))
        time.sleep(0.01)


def closes_early(connection: socket.socket) -> None:
    connection.recv(1000)


#: What an old PC reads.
SLOW_READER_BYTES_PER_S = 100_000


def reads_slowly(connection: socket.socket) -> int:
    read = 0
    while piece := connection.recv(2048):
        read += len(piece)
        time.sleep(len(piece) / SLOW_READER_BYTES_PER_S)
    return read


def never_reads(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # Only that the connection is gone.
    gone = select.poll()
    gone.register(connection, 0)
    gone.poll(8_000)


def reads_exactly(connection: socket.socket, octets: int) -> bytes:
    found = b""
    while len(found) < octets and (more := connection.recv(octets - len(found))):
        found += more
    return found


def reads_text(connection: socket.socket) -> bytes:
    (length,) = struct.unpack(">I", reads_exactly(connection, 4))
    return reads_exactly(connection, length)


def iperf3(ends: Callable[[socket.socket], object], hello: bytes | None = None) -> Does:
    """
    An iperf3 server of one flow.

    Args:
        ends: What it does with the control connection once messages go.
        hello: What it answers a flow over UDP with.
    """
    is_first = threading.Lock()

    def serve(connection: socket.socket) -> None:
        reads_exactly(connection, 37)
        if not is_first.acquire(blocking=False):
            discard(connection)
            return
        connection.sendall(b"\x09")
        reads_text(connection)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
            bound.bind(connection.getsockname())
            bound.settimeout(10)
            connection.sendall(b"\x0a")
            if hello is not None:
                bound.sendto(hello, bound.recvfrom(99)[1])
            connection.sendall(b"\x01\x02")
            ends(connection)

    return serve
