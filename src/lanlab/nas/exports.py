"""
The exports of an NFS server: ONC RPC over TCP (RFC 5531), the portmapper (RFC 1833, version 2)
and MOUNT version 3 (RFC 1813, appendix I).
"""

from __future__ import annotations

import secrets
import socket
import struct

from lanlab.errors import LabError

_PORTMAPPER, _NFS, _MOUNT = 100_000, 100_003, 100_005
_PORTMAPPER_PORT, _TCP = 111, 6
_GETPORT, _EXPORT = 3, 5
#: Longest reply, bytes; maximum exports and groups to read.
_MOST_BYTES, _MOST = 1 << 20, 10_000


class BadReply(LabError):
    """The server's reply is refused, too long, or malformed."""


def ping_nfs(connection: socket.socket, version: int) -> None:
    """
    Call the NULL procedure of a version of NFS.

    Raises:
        OSError: The connection failed.
        BadReply: The reply does not come from an NFS server, or the server has other versions.
    """
    _call(connection, _NFS, version, 0)


def exports_of(host: str, timeout_s: float, portmapper: int = _PORTMAPPER_PORT) -> tuple[str, ...]:
    """
    Paths that a host exports, in the order of its reply.

    Raises:
        OSError: No portmapper, no MOUNT service, or the connection failed.
        BadReply: A service refuses the call, or its reply is malformed.
    """
    with socket.create_connection((host, portmapper), timeout=timeout_s) as connection:
        asked = struct.pack(">4I", _MOUNT, 3, _TCP, 0)
        (port,) = struct.unpack(">I", _call(connection, _PORTMAPPER, 2, _GETPORT, asked)[:4])
    if not 0 < port < 65_536:
        raise BadReply("the portmapper knows no MOUNT service over TCP")
    with socket.create_connection((host, port), timeout=timeout_s) as connection:
        return _paths(_call(connection, _MOUNT, 3, _EXPORT))


def _call(
    connection: socket.socket,
    program: int,
    version: int,
    procedure: int,
    arguments: bytes = b"",
) -> bytes:
    transaction = secrets.randbits(32)
    call = struct.pack(">10I", transaction, 0, 2, program, version, procedure, 0, 0, 0, 0)
    connection.sendall(struct.pack(">I", 1 << 31 | len(call + arguments)) + call + arguments)
    reply = b""
    is_last = False
    while not is_last:
        (head,) = struct.unpack(">I", _exactly(connection, 4))
        is_last = bool(head >> 31)
        if len(reply) + (head & 0x7FFF_FFFF) > _MOST_BYTES:
            raise BadReply("the reply is not one of ONC RPC")
        reply += _exactly(connection, head & 0x7FFF_FFFF)
    try:
        answered, kind, denied, _, verifier_bytes = struct.unpack_from(">5I", reply)
        (status,) = struct.unpack_from(">I", reply, 20 + (verifier_bytes + 3) // 4 * 4)
    except struct.error:
        raise BadReply("the reply is not one of ONC RPC") from None
    if (answered, kind) != (transaction, 1) or verifier_bytes > 400:
        raise BadReply("the reply is not one of ONC RPC")
    # The server has the program in other versions (RFC 5531, section 9).
    if not denied and status == 2:
        raise BadReply(f"the server does not speak version {version} of this protocol")
    if denied or status != 0:
        raise BadReply(f"program {program} is refused")
    return reply[24 + (verifier_bytes + 3) // 4 * 4 :]


def _exactly(connection: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        part = connection.recv(length - len(found))
        if not part:
            raise BadReply("the server closed the connection")
        found += part
    return found


def _paths(data: bytes) -> tuple[str, ...]:
    place = 0

    def number() -> int:
        nonlocal place
        (value,) = struct.unpack_from(">I", data, place)
        place += 4
        return int(value)

    def text() -> str:
        nonlocal place
        length = number()
        if length > len(data) - place:
            raise BadReply("the list of exports is cut off")
        found = data[place : place + length]
        place += (length + 3) // 4 * 4
        return found.decode("utf-8", "replace")

    paths: list[str] = []
    entries = 0
    try:
        while number():
            paths.append(text())
            while number():
                text()
                entries += 1
            entries += 1
            if entries > _MOST:
                raise BadReply(f"more than {_MOST:,} exports and groups")
    except struct.error:
        raise BadReply("the list of exports is cut off") from None
    return tuple(paths)
