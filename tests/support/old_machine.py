"""
A client of file sharing as machines of the 1980s have it: it knows no users, and speaks the core
commands of SMB only (X/Open SMB, [MS-CIFS] 2.2.4). It is written apart from lanlab's own client, so
that both cannot be wrong in the same way.
"""

import socket
import struct
from typing import NamedTuple

CORE = "PC NETWORK PROGRAM 1.0"
CORE_PLUS = "MICROSOFT NETWORKS 1.03"
MS_NET_3 = "MICROSOFT NETWORKS 3.0"
LAN_MANAGER_2 = "DOS LANMAN2.1"

_TRANSACTION = 0x25
_NEGOTIATE, _TREE_CONNECT, _TREE_DISCONNECT = 0x72, 0x70, 0x71
_OPEN, _CREATE, _CLOSE, _DELETE, _READ, _WRITE, _SEARCH = 0x02, 0x03, 0x04, 0x06, 0x0A, 0x0B, 0x81


class Answer(NamedTuple):
    #: Class and code of an error of DOS; zeros: none.
    error: tuple[int, int]
    words: bytes
    data: bytes
    tid: int


class RefusedError(Exception):
    """The server has refused a request."""


class OldMachine:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._tid = 0
        #: The dialect that the server has chosen, and the words of its answer.
        self.dialect: str | None = None
        self.words = b""

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            more = self._socket.recv(count - len(found))
            if not more:
                raise RefusedError("the server has closed the connection")
            found += more
        return found

    def ask(self, command: int, words: bytes = b"", data: bytes = b"") -> Answer:
        head = struct.pack("<4sB4xBH12xHHHH", b"\xffSMB", command, 0, 0, self._tid, 7, 0, 1)
        body = bytes([len(words) // 2]) + words + struct.pack("<H", len(data)) + data
        self._socket.sendall(struct.pack(">I", len(head) + len(body)) + head + body)
        (length,) = struct.unpack(">I", self._exactly(4))
        found = self._exactly(length & 0x1FFFF)
        end = 33 + 2 * found[32]
        (code,) = struct.unpack_from("<H", found, 7)
        (tid,) = struct.unpack_from("<H", found, 24)
        return Answer((found[5], code), found[33:end], found[end + 2 :], tid)

    def must(self, command: int, words: bytes = b"", data: bytes = b"") -> Answer:
        answer = self.ask(command, words, data)
        if answer.error != (0, 0):
            raise RefusedError(f"command {command:#04x}: class and code {answer.error}")
        return answer

    def negotiate(self, *dialects: str) -> None:
        offered = b"".join(b"\2" + name.encode() + b"\0" for name in dialects)
        self.words = self.must(_NEGOTIATE, data=offered).words
        (index,) = struct.unpack_from("<H", self.words)
        self.dialect = None if index == 0xFFFF else dialects[index]

    def connect(self, share: str, password: str = "", kind: str = "A:") -> None:
        texts = (f"\\\\SERVER\\{share.upper()}", password, kind)
        data = b"".join(b"\4" + text.encode() + b"\0" for text in texts)
        (_, self._tid) = struct.unpack("<HH", self.must(_TREE_CONNECT, data=data).words)

    def administer(self, parameters: bytes, room: int = 1024) -> tuple[tuple[int, ...], bytes]:
        """What the pipe of LAN Manager answers ([MS-RAP]): words of its parameters, and data."""
        name = b"\\PIPE\\LANMAN\0"
        at = 32 + 1 + 28 + 2 + len(name)
        total = struct.pack("<HHHHBxHI2x", len(parameters), 0, 16, room, 0, 0, 5000)
        places = struct.pack("<HHHHBx", len(parameters), at, 0, at + len(parameters), 0)
        answer = self.must(_TRANSACTION, total + places, name + parameters)
        count, begin, _, size, data = struct.unpack_from("<HHHHH", answer.words, 6)
        # Offsets count from the head of the message.
        own = 32 + 1 + len(answer.words) + 2
        words = struct.unpack(f"<{count // 2}H", answer.data[begin - own : begin - own + count])
        return words, answer.data[data - own : data - own + size]

    def write(self, name: str, content: bytes) -> None:
        made = self.must(_CREATE, struct.pack("<HI", 0, 0), b"\4" + f"\\{name}\0".encode())
        (fid,) = struct.unpack("<H", made.words)
        place = struct.pack("<HHIH", fid, len(content), 0, 0)
        self.must(_WRITE, place, b"\1" + struct.pack("<H", len(content)) + content)
        self.must(_CLOSE, struct.pack("<HI", fid, 0))

    def read(self, name: str, most: int = 1024) -> bytes:
        found = self.must(_OPEN, struct.pack("<HH", 0x40, 0x16), b"\4" + f"\\{name}\0".encode())
        (fid,) = struct.unpack_from("<H", found.words)
        answer = self.must(_READ, struct.pack("<HHIH", fid, most, 0, 0))
        self.must(_CLOSE, struct.pack("<HI", fid, 0))
        return answer.data[3:]

    def names(self) -> list[str]:
        data = b"\4\\????????.???\0" + b"\5\0\0"
        entries = self.must(_SEARCH, struct.pack("<HH", 50, 0x16), data).data[3:]
        fields = (entries[at + 30 : at + 43] for at in range(0, len(entries), 43))
        return [name.split(b"\0")[0].decode() for name in fields]

    def remove(self, name: str) -> None:
        self.must(_DELETE, struct.pack("<H", 0x16), b"\4" + f"\\{name}\0".encode())
        self.must(_TREE_DISCONNECT)
