"""Peers that know a session's token and do with it what they like, by the wire's description."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from raw_engine import SESSION, RawEngine

TOKEN = bytes.fromhex(SESSION)
MAGIC = b"lanlab\x02"
KINDS = ("hello", "challenge", "prove", "accept", "mark", "marked", "alive", "finish", "finished")
QUESTIONS = ("hello", "prove", "mark", "finish")
GREATEST = 2**64 - 1
#: `PACKET_HOST` of packet(7): on loopback each packet comes in once.
_HOST = 0
#: `include/uapi/asm-generic/socket.h`.
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33


def _of_udp_port(port: int) -> list[tuple[int, int, int, int]]:
    """A filter for IPv4 packets of UDP from or to a port (bpf(4): code, true, false, value)."""
    return [
        (0x30, 0, 0, 9),  # protocol
        (0x15, 0, 6, socket.IPPROTO_UDP),
        (0xB1, 0, 0, 0),  # length of the header
        (0x48, 0, 0, 0),  # source port
        (0x15, 2, 0, port),
        (0x48, 0, 0, 2),  # target port
        (0x15, 0, 1, port),
        (0x06, 0, 0, 0xFFFF_FFFF),
        (0x06, 0, 0, 0),
    ]


def word(
    kind: str, first: int = 0, second: int = 0, *, token: bytes = TOKEN, flow: int = 0
) -> bytes:
    head = MAGIC + bytes([KINDS.index(kind) + 1]) + token + flow.to_bytes(2) + bytes(6)
    message = head + first.to_bytes(8) + second.to_bytes(8)
    return message.ljust(64, b"\0") if kind in QUESTIONS else message


def kind_of(datagram: bytes) -> str | None:
    if len(datagram) in (48, 64) and datagram.startswith(MAGIC):
        return KINDS[datagram[7] - 1]
    return None


def first_of(datagram: bytes) -> int:
    return int.from_bytes(datagram[32:40])


def probe(size: int, sequence: int, flow: int = 0, token: bytes = TOKEN) -> bytes:
    head = b"\x01\0" + flow.to_bytes(2) + token[12:] + sequence.to_bytes(8)
    return (head + time.monotonic_ns().to_bytes(8)).ljust(size, b"\0")


class HostileSender:
    """The end that sends, over UDP: it proves itself, and then does as a test says."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(10)

    def prove(self) -> None:
        """Have the session; what is lost in a full buffer is said again, as senders do."""
        cookie = first_of(self._ask("challenge", "hello", 7))
        assert first_of(self._ask("accept", "prove", cookie, 7)) == 7

    def _ask(self, answer: str, kind: str, *numbers: int) -> bytes:
        self.socket.settimeout(0.2)
        try:
            for _ in range(50):
                self.say(kind, *numbers)
                with contextlib.suppress(TimeoutError):
                    return self.hear(answer)
            raise TimeoutError(f"no `{answer}`")
        finally:
            self.socket.settimeout(10)

    def say(self, kind: str, first: int = 0, second: int = 0, **of: int) -> None:
        self.send(word(kind, first, second, flow=of.get("flow", 0)))

    def send(self, datagram: bytes) -> None:
        # A closed port is told with a later call.
        with contextlib.suppress(ConnectionRefusedError):
            self.socket.send(datagram)

    def hear(self, kind: str) -> bytes:
        while kind_of(datagram := self.socket.recv(2048)) != kind:
            pass
        return datagram

    def heard(self) -> Counter[str]:
        found: Counter[str] = Counter()
        self.socket.setblocking(False)
        while True:
            try:
                found[kind_of(self.socket.recv(65_536)) or "message"] += 1
            except BlockingIOError:
                break
            except ConnectionRefusedError:
                continue
        self.socket.settimeout(10)
        return found

    def __enter__(self) -> HostileSender:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


class HostileReceiver:
    """The end that receives, over UDP: it accepts, notes when each message came, and says that it
    is alive for as long as a test lets it."""

    def __init__(self, alive: bytes | None = None, on_message: bytes | None = None) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.02)
        self.port: int = self.socket.getsockname()[1]
        #: Said twenty times a second once the stream runs; `None`: nothing.
        self.alive = alive
        #: Said to every tenth message.
        self.on_message = on_message
        self.last_message_s = 0.0
        self.messages = 0
        self.words: Counter[str] = Counter()
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        sender: tuple[str, int] | None = None
        next_alive_s = 0.0
        while not self._closing:
            with contextlib.suppress(TimeoutError):
                datagram, sender = self.socket.recvfrom(65_536)
                self._take(datagram, sender)
            now_s = time.monotonic()
            if sender and self.messages and self.alive is not None and now_s > next_alive_s:
                next_alive_s = now_s + 0.05
                self.socket.sendto(self.alive, sender)

    def _take(self, datagram: bytes, sender: tuple[str, int]) -> None:
        kind = kind_of(datagram)
        if kind is None:
            self.messages += 1
            self.last_message_s = time.monotonic()
            if self.on_message is not None and self.messages % 10 == 1:
                self.socket.sendto(self.on_message, sender)
            return
        self.words[kind] += 1
        if kind == "hello":
            self.socket.sendto(word("challenge", 5), sender)
        elif kind == "prove":
            self.socket.sendto(word("accept", int.from_bytes(datagram[40:48])), sender)

    def __enter__(self) -> HostileReceiver:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._thread.join()
        self.socket.close()


class Wire:
    """What crosses loopback to and from one UDP port, counted by a packet socket."""

    def __init__(self, port: int) -> None:
        self._port = port
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        except (AttributeError, PermissionError):
            pytest.skip("watching the wire takes Linux and CAP_NET_RAW (be root)")
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 24)
        # Others use loopback, too: what is theirs must not fill the buffer.
        steps = b"".join(struct.pack("=HBBI", *step) for step in _of_udp_port(port))
        room = ctypes.create_string_buffer(steps)
        program = struct.pack("@HP", len(steps) // 8, ctypes.addressof(room))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
        self._socket.bind(("lo", 0x0800))
        self._socket.setblocking(False)
        #: Datagrams and octets of IP to and from the port.
        self.came = self.left = self.came_bytes = self.left_bytes = 0
        #: Octets that left, by where they went.
        self.left_to: Counter[tuple[str, int]] = Counter()

    def look(self) -> None:
        while True:
            try:
                packet, about = self._socket.recvfrom(65_535)
            except BlockingIOError:
                return
            if about[2] != _HOST or packet[9] != socket.IPPROTO_UDP:
                continue
            header = 4 * (packet[0] & 15)
            source, target = struct.unpack_from(">HH", packet, header)
            if target == self._port:
                self.came += 1
                self.came_bytes += len(packet)
            elif source == self._port:
                self.left += 1
                self.left_bytes += len(packet)
                self.left_to[socket.inet_ntoa(packet[16:20]), target] += len(packet)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


@contextlib.contextmanager
def forger() -> Iterator[socket.socket]:
    """A socket for datagrams with any source address (raw(7), `IPPROTO_RAW`)."""
    try:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    except PermissionError:
        pytest.skip("forging a source address takes CAP_NET_RAW (be root)")
    with raw:
        yield raw


def forged(source: tuple[str, int], target: tuple[str, int], payload: bytes) -> bytes:
    """An IPv4 packet with a UDP datagram. The kernel fills in length, id and header checksum; a UDP
    checksum of zero is none (RFC 768)."""
    udp = struct.pack(">HHHH", source[1], target[1], 8 + len(payload), 0) + payload
    addresses = socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    return struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses + udp


def resident_bytes(engine: RawEngine) -> int:
    status = Path(f"/proc/{engine.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return 1024 * int(line.split()[1])


def descriptors(engine: RawEngine) -> int:
    return len(list(Path(f"/proc/{engine.process.pid}/fd").iterdir()))
