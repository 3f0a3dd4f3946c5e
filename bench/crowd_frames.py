"""Frames with which strangers on an Ethernet begin a session, and answer the server."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable

#: How addresses of strangers begin; four octets of a number follow.
FROM = b"\x02\xcc"
NAME = "LANLAB"
_NOT_CHECKED = 0xFFFF


def _name(text: str, suffix: int = 0x20) -> bytes:
    return text.encode().ljust(15)[:15] + bytes([suffix])


class Stranger(ABC):
    """Frames of one station; `mine` and `server` are their addresses."""

    def __init__(self, mine: bytes, server: bytes) -> None:
        self.mine, self.server = mine, server

    @abstractmethod
    def begin(self) -> Iterable[bytes]:
        """Frames that begin."""

    def follow(self, frame: bytes) -> Iterable[bytes]:
        """Frames that answer one of the server."""
        return ()


class _Nbf(Stranger):
    """IBM SC30-3587: a call by name, a link (ISO 8802-2), a session."""

    number = 0
    correlator = 0

    def _frame(self, to: bytes, llc: bytes) -> bytes:
        return (to + self.mine + len(llc).to_bytes(2, "big") + llc).ljust(60, b"\0")

    def begin(self) -> Iterable[bytes]:
        query = struct.pack("<HHBBHHH", 44, 0xEFFF, 0x0A, 0, 1, 0, 1)
        query += _name(NAME) + _name("S" + self.mine.hex()[4:])
        yield self._frame(b"\x03\0\0\0\0\x01", b"\xf0\xf0\x03" + query)
        yield self._frame(self.server, b"\xf0\xf0\x7f")

    def follow(self, frame: bytes) -> Iterable[bytes]:
        llc = frame[14:]
        if llc[2] == 0x03 and llc[7] == 0x0E:
            # NAME RECOGNIZED: the number of the session, and what to repeat.
            self.number, self.correlator = llc[9], struct.unpack_from("<H", llc, 13)[0]
        elif llc[1:3] == b"\xf1\x73" and self.number:
            begins = struct.pack(
                "<HHBBHHHBB", 14, 0xEFFF, 0x19, 0, 1400, self.correlator, 1, self.number, 1
            )
            yield self._frame(self.server, b"\xf0\xf0\0\0" + begins)


class _Llc(_Nbf):
    """A link alone."""

    def begin(self) -> Iterable[bytes]:
        yield self._frame(self.server, b"\xf0\xf0\x7f")

    def follow(self, frame: bytes) -> Iterable[bytes]:
        if frame[15:17] == b"\xf1\x73":
            yield self._frame(self.server, b"\xf0\xf0\x01\x01")


class _Ipx(Stranger):
    """Novell's IPX on Ethernet II; of XNS its own type."""

    ethernet_type = 0x8137
    socket = 0
    own_socket = 0x4003

    def packet(self, kind: int, data: bytes, from_socket: int | None = None) -> bytes:
        source = self.own_socket if from_socket is None else from_socket
        packet = struct.pack(">HHBB", _NOT_CHECKED, 30 + len(data), 0, kind)
        packet += self.to() + bytes(4) + self.mine + source.to_bytes(2, "big") + data
        frame = self.server + self.mine + self.ethernet_type.to_bytes(2, "big") + packet
        return frame.ljust(60, b"\0")

    def to(self) -> bytes:
        return bytes(4) + self.server + self.socket.to_bytes(2, "big")


class _Direct(_Ipx):
    """SMB straight on IPX: NEGOTIATE, and then LOGOFF of a session that is not there."""

    socket = 0x0550

    def _smb(self, command: int, connection: int, sequence: int, body: bytes) -> bytes:
        head = b"\xffSMB" + bytes([command]) + bytes(9)
        head += struct.pack("<IHHH", 0, connection, sequence, 0)
        return self.packet(4, head + struct.pack("<HHHH", 0, 1, 0, 1) + body)

    def begin(self) -> Iterable[bytes]:
        dialect = b"\x02NT LM 0.12\0"
        yield self._smb(0x72, 0, 0, b"\0" + struct.pack("<H", len(dialect)) + dialect)

    def follow(self, frame: bytes) -> Iterable[bytes]:
        smb = frame[44:]
        if smb[4] == 0x72:
            connection = struct.unpack_from("<H", smb, 18)[0]
            yield self._smb(0x2B, connection, 1, b"\x01\x01\0\0\0")


class _Nbipx(_Ipx):
    """NetBIOS over IPX: a session."""

    socket = own_socket = 0x0455

    def begin(self) -> Iterable[bytes]:
        opening = _name("S" + self.mine.hex()[4:]) + _name(NAME)
        opening += struct.pack("<HHH", 1400, 0, 0)
        head = struct.pack(
            "<BBHHHHHHHH", 0x41, 6, 7, 0xFFFF, 0, len(opening), 0, len(opening), 0, 2
        )
        yield self.packet(4, head + opening)


class _Spp(_Ipx):
    """Sequenced packets of XNS: a connection, and then a packet on it."""

    ethernet_type = 0x0600
    socket = 0x0BBC

    def _sequenced(self, control: int, to: int, data: bytes) -> bytes:
        return self.packet(5, struct.pack(">BBHHHHH", control, 0, 7, to, 0, 0, 3) + data)

    def begin(self) -> Iterable[bytes]:
        yield self._sequenced(0xC0, 0, b"")

    def follow(self, frame: bytes) -> Iterable[bytes]:
        source = struct.unpack_from(">H", frame, 46)[0]
        yield self._sequenced(0, source, b"x")


class _Ncp(_Ipx):
    """NetWare: a connection, a request on it, and answers to the watchdog."""

    socket = 0x0451

    def begin(self) -> Iterable[bytes]:
        yield self.packet(17, struct.pack(">HBBBBB", 0x1111, 0, 0xFF, 1, 0xFF, 0))

    def follow(self, frame: bytes) -> Iterable[bytes]:
        asked, data = struct.unpack_from(">H", frame, 30)[0], frame[44:]
        if asked == self.own_socket + 1 and data[1:2] == b"?":
            yield self.packet(0, data[:1] + b"Y", asked)
        elif data[:3] == b"\x33\x33\0":
            low, high = data[3], data[5]
            question = struct.pack(">HBBBBBHB", 0x2222, 1, low, 1, high, 23, 1, 17)
            yield self.packet(17, question)


CARRIERS: dict[str, type[Stranger]] = {
    "llc": _Llc,
    "nbf": _Nbf,
    "ipx": _Direct,
    "nbipx": _Nbipx,
    "spp": _Spp,
    "ncp": _Ncp,
}
