"""
Finds the file services of one host: lanlab connects to the usual port of each service and reads the
first messages of its protocol. It contacts no other host or port, and does not log in.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from lanlab.errors import UsageError
from lanlab.frozen import dataclass

#: A host on this network accepts a connection in milliseconds; behind a slow link, in a second.
CONNECT_S = 3.0
#: A server that first looks up the client's name may take seconds to greet.
GREET_S = 10.0
#: Addresses of a name that are tried. A name server may send thousands.
_MOST_ADDRESSES = 8
#: Longest greeting that is read, bytes.
_MOST_BYTES = 16_384
#: Number of a remote procedure call, which its reply repeats.
_XID = 0x6C61_6E6C


@dataclass(frozen=True)
class Found:
    """One service of a host, or the reason why lanlab cannot use a listening port."""

    #: A name of `lanlab.services.SERVICES`.
    service: str
    port: int
    #: Why it cannot be measured; `None` if it can.
    problem: str | None = None

    @property
    def needs_login(self) -> bool:
        return self.problem is None and self.service not in ("nfs", "nfs4")


class _NotSpoken(Exception):
    """The server does not speak the service's protocol."""


def discover(host: str, ports: Mapping[str, int] | None = None) -> tuple[Found, ...]:
    """
    The services of a host, in the order of `PROBES`. Closed and filtered ports are omitted.

    Args:
        host: Name or address.
        ports: Ports by service, in place of the usual ones.

    Raises:
        UsageError: The name has no address.
    """
    try:
        socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a host name"
        raise UsageError(
            f"{host}: cannot be resolved: {why}", hint="check the name, or give the address"
        ) from None
    wanted = {name: port for name, (port, _) in PROBES.items()} if ports is None else ports
    with ThreadPoolExecutor(max(1, len(wanted))) as pool:
        found = pool.map(lambda name: _probe(name, host, wanted[name]), wanted)
        return tuple(one for one in found if one is not None)


def silence(host: str) -> str | None:
    """Why a host does not answer; `None` if it answers, even by refusing a connection."""
    try:
        _connect(host, PROBES["smb"][0]).close()
    except ConnectionRefusedError:
        return None
    except OSError as error:
        return error.strerror or str(error)
    return None


def _connect(host: str, port: int) -> socket.socket:
    failure = OSError("no address")
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, address in found[:_MOST_ADDRESSES]:
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(CONNECT_S)
        try:
            connection.connect(address)
            return connection
        except OSError as error:
            connection.close()
            failure = error
    raise failure


def _probe(service: str, host: str, port: int) -> Found | None:
    try:
        connection = _connect(host, port)
    except OSError:
        return None
    with connection:
        connection.settimeout(GREET_S)
        try:
            PROBES[service][1](connection, host)
        except TimeoutError:
            return Found(service, port, f"no answer within {GREET_S:g} s")
        except _NotSpoken as error:
            return Found(service, port, str(error))
        except OSError as error:
            return Found(service, port, f"closed the connection ({error.strerror or error})")
    return Found(service, port)


def _parts(connection: socket.socket, most_bytes: int) -> Iterator[bytes]:
    """What arrives in the time for a greeting, even if each byte arrives alone."""
    until = time.monotonic() + GREET_S
    while most_bytes > 0:
        connection.settimeout(max(0.001, until - time.monotonic()))
        if not (part := connection.recv(most_bytes)):
            return
        most_bytes -= len(part)
        yield part


def _lines(connection: socket.socket) -> Iterator[bytes]:
    text = b""
    for part in _parts(connection, _MOST_BYTES):
        *lines, text = (text + part).split(b"\n")
        yield from (line.rstrip(b"\r") for line in lines)
    if text:
        yield text.rstrip(b"\r")


def _ssh(connection: socket.socket, host: str) -> None:
    # A server may send other lines first (RFC 4253, section 4.2).
    for line in _lines(connection):
        if line.startswith((b"SSH-2.0-", b"SSH-1.99-")):
            return
    raise _NotSpoken("does not answer as an SSH server")


def _ftp(connection: socket.socket, host: str) -> None:
    for line in _lines(connection):
        if line.startswith(b"220 "):
            connection.sendall(b"QUIT\r\n")
            return
        if not line.startswith((b"220-", b" ")) and line[:3].isdigit() and line[3:4] == b" ":
            raise _NotSpoken(f"refuses: {line[:60].decode('ascii', 'replace')}")
    raise _NotSpoken("does not answer as an FTP server")


#: SMB 2 NEGOTIATE for the dialects 2.0.2, 2.1 and 3.0 ([MS-SMB2] 2.2.1.2, 2.2.3), in NetBIOS's
#: session header.
_SMB2_BODY = struct.pack("<HHHHI16s8s3H", 36, 3, 1, 0, 0, bytes(16), bytes(8), 0x202, 0x210, 0x300)
_SMB2_HEAD = b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ16s", 64, 0, 0, 0, 1, *[0] * 6, bytes(16))
_SMB2_NEGOTIATE = struct.pack(">I", len(_SMB2_HEAD + _SMB2_BODY)) + _SMB2_HEAD + _SMB2_BODY


def _smb(connection: socket.socket, host: str) -> None:
    connection.sendall(_SMB2_NEGOTIATE)
    if b"".join(_parts(connection, 8))[4:] == b"\xfeSMB":
        return
    # An SMB 1 server disconnects, or refuses with an SMB 1 message.
    raise _NotSpoken("does not speak SMB 2 or 3; name the share as smb1://HOST/SHARE")


def _webdav(connection: socket.socket, host: str, tls: str = "") -> None:
    name = f"[{host}]" if ":" in host else host
    request = f"OPTIONS / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"
    connection.sendall(request.encode("ascii", "replace"))
    heads = []
    for line in _lines(connection):
        if not line:
            break
        heads.append(line.lower())
    if not heads or not heads[0].startswith(b"http/"):
        raise _NotSpoken("does not answer as a web server")
    if any(head.startswith(b"dav:") for head in heads) or b" 401" in heads[0]:
        return
    if any(head.startswith(b"x-amz-") for head in heads):
        raise _NotSpoken(f"speaks S3; name the bucket as s3{tls}://KEY@HOST/BUCKET")
    raise _NotSpoken(
        f"a web server without WebDAV at /; name the folder as webdav{tls}://HOST/FOLDER"
    )


def _tls(connection: socket.socket, host: str) -> None:
    import ssl

    # The connection only queries the protocol; the server's identity is verified when it is
    # measured.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(connection, server_hostname=host) as secured:
            _webdav(secured, host, "s")
    except ssl.SSLError as error:
        raise _NotSpoken(f"no TLS connection ({error.reason or error})") from None


def _nfs(connection: socket.socket, host: str, version: int = 3) -> None:
    # NULL of NFS in one fragment (RFC 5531, sections 9 and 11).
    connection.sendall(struct.pack(">11I", 1 << 31 | 40, _XID, 0, 2, 100_003, version, *[0] * 5))
    reply = b"".join(_parts(connection, 28))
    if len(reply) < 28 or reply[4:12] != struct.pack(">2I", _XID, 1):
        raise _NotSpoken("the reply is not one of ONC RPC")
    denied, _, _, status = struct.unpack(">4I", reply[12:])
    if not denied and status == 2:
        raise _NotSpoken(f"the server does not speak version {version} of this protocol")
    if denied or status != 0:
        raise _NotSpoken("the server refuses calls of NFS")


def _nfs4(connection: socket.socket, host: str) -> None:
    _nfs(connection, host, 4)


#: Usual port of each service, and the check for its protocol.
PROBES: Mapping[str, tuple[int, Callable[[socket.socket, str], None]]] = {
    "smb": (445, _smb),
    "nfs": (2049, _nfs),
    "nfs4": (2049, _nfs4),
    "sftp": (22, _ssh),
    "ftp": (21, _ftp),
    "webdav": (80, _webdav),
    "webdavs": (443, _tls),
}
