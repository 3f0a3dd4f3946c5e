"""
A client of NFS version 3 (RFC 1813) over ONC RPC (RFC 5531), as small as it can be: one file,
written and read. Run as `python nfs_client.py put|get ADDRESS PORT MOUNT_PORT EXPORT NAME FILE`.
"""

import itertools
import socket
import struct
import sys
from pathlib import Path

_NFS, _MOUNT, _VERSION = 100003, 100005, 3
_LOOKUP, _READ, _WRITE, _CREATE = 3, 6, 7, 8
_MNT = 1
_BLOCK = 65_536
_FILE_SYNC = 2
_serial = itertools.count(1)


class Refused(Exception):
    """The server's status, where it is not 0."""


def opaque(octets: bytes) -> bytes:
    return struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)


class Reader:
    def __init__(self, octets: bytes) -> None:
        self.octets = octets

    def take(self, count: int) -> bytes:
        taken, self.octets = self.octets[:count], self.octets[count:]
        assert len(taken) == count
        return taken

    def number(self) -> int:
        (value,) = struct.unpack(">I", self.take(4))
        return int(value)

    def opaque(self) -> bytes:
        length = self.number()
        octets = self.take(length)
        self.take(-length % 4)
        return octets

    def attributes(self) -> None:
        if self.number():
            self.take(84)

    def change(self) -> None:
        if self.number():
            self.take(24)
        self.attributes()


def call(connection: socket.socket, program: int, procedure: int, arguments: bytes) -> Reader:
    serial = next(_serial)
    # AUTH_SYS, as a user whom the server need not know.
    who = struct.pack(">I", 0) + opaque(b"test") + struct.pack(">III", 12345, 12345, 0)
    credential = struct.pack(">I", 1) + opaque(who) + struct.pack(">II", 0, 0)
    head = struct.pack(">IIIIII", serial, 0, 2, program, _VERSION, procedure)
    message = head + credential + arguments
    connection.sendall(struct.pack(">I", 0x8000_0000 | len(message)) + message)
    octets, last = b"", False
    while not last:
        (mark,) = struct.unpack(">I", receive(connection, 4))
        last = bool(mark & 0x8000_0000)
        octets += receive(connection, mark & 0x7FFF_FFFF)
    reply = Reader(octets)
    assert reply.number() == serial
    assert reply.number() == 1  # a reply
    assert reply.number() == 0  # accepted
    reply.number()
    reply.opaque()
    assert reply.number() == 0  # carried out
    if status := reply.number():
        raise Refused(status)
    return reply


def receive(connection: socket.socket, count: int) -> bytes:
    octets = b""
    while len(octets) < count:
        more = connection.recv(count - len(octets))
        assert more, "the server has closed"
        octets += more
    return octets


def connect(address: str, port: int) -> socket.socket:
    return socket.create_connection((address, port), timeout=10)


def main() -> None:
    action, address, port, mount_port, export, name, file = sys.argv[1:]
    with connect(address, int(mount_port)) as mounting:
        root = call(mounting, _MOUNT, _MNT, opaque(export.encode())).opaque()
    where = opaque(root) + opaque(name.encode())
    with connect(address, int(port)) as server:
        if action == "put":
            # UNCHECKED, with no attribute set.
            made = call(server, _NFS, _CREATE, where + struct.pack(">7I", *[0] * 7))
            assert made.number()
            handle, data = made.opaque(), Path(file).read_bytes()
            for offset in range(0, len(data), _BLOCK):
                block = data[offset : offset + _BLOCK]
                head = struct.pack(">QII", offset, len(block), _FILE_SYNC)
                done = call(server, _NFS, _WRITE, opaque(handle) + head + opaque(block))
                done.change()
                assert done.number() == len(block)
        else:
            handle, data, over = call(server, _NFS, _LOOKUP, where).opaque(), b"", False
            while not over:
                head = struct.pack(">QI", len(data), _BLOCK)
                done = call(server, _NFS, _READ, opaque(handle) + head)
                done.attributes()
                done.number()
                over = bool(done.number())
                data += done.opaque()
            Path(file).write_bytes(data)


if __name__ == "__main__":
    main()
