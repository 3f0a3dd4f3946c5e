"""What a host offers: services that answer, answer otherwise, or say nothing."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from lanlab.errors import UsageError
from lanlab.nas import discovery
from lanlab.nas.discovery import Found, discover

HOST = "127.0.0.1"


@contextmanager
def listening(answers: Callable[[socket.socket], None]) -> Iterator[int]:
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                answers(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


def sends(*parts: bytes, hears: bool = False) -> Callable[[socket.socket], None]:
    def answers(connection: socket.socket) -> None:
        if hears:
            connection.recv(4096)
        for part in parts:
            connection.sendall(part)

    return answers


@pytest.mark.parametrize(
    ("service", "answer", "hears", "problem"),
    [
        ("sftp", b"SSH-2.0-OpenSSH_9.2p1\r\n", False, None),
        ("sftp", b"welcome\r\nSSH-2.0-dropbear\r\n", False, None),
        ("sftp", b"220 ftp here\r\n", False, "does not answer as an SSH server"),
        ("ftp", b"220-a\r\n220-b\r\n220 ready\r\n", False, None),
        ("ftp", b"421 too many users\r\n", False, "refuses: 421 too many users"),
        ("webdav", b"HTTP/1.1 200 OK\r\nDAV: 1,2\r\n\r\n", True, None),
        ("webdav", b"HTTP/1.1 401 Unauthorized\r\n\r\n", True, None),
        ("webdav", b"HTTP/1.1 400 Bad\r\nx-amz-request-id: 1\r\n\r\n", True, "speaks S3"),
        ("webdav", b"HTTP/1.1 200 OK\r\nAllow: GET\r\n\r\n", True, "a web server without WebDAV"),
        ("webdav", b"hello\r\n", True, "does not answer as a web server"),
        ("smb", b"\0\0\0\x40\xfeSMB" + bytes(60), True, None),
        ("smb", b"\0\0\0\x20\xffSMB" + bytes(28), True, "does not speak SMB 2 or 3"),
        ("smb", b"", True, "does not speak SMB 2 or 3"),
        ("nfs", b"\x80\0\0\x08" + bytes(8), True, "the reply is not one of ONC RPC"),
        ("nfs", b"\xff\xff\xff\xff", True, "the reply is not one of ONC RPC"),
        ("nfs4", b"\xff\xff\xff\xff", True, "the reply is not one of ONC RPC"),
    ],
)
def test_the_greeting_identifies_a_service(
    service: str, answer: bytes, hears: bool, problem: str | None
) -> None:
    with listening(sends(answer, hears=hears)) as port:
        (found,) = discover(HOST, {service: port})
    assert (found.service, found.port) == (service, port)
    assert (found.problem is None) == (problem is None)
    assert problem is None or (found.problem or "").startswith(problem)


def test_a_server_that_sends_byte_after_byte_is_named_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discovery, "GREET_S", 0.2)

    def dribbles(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for _ in range(40):
                connection.sendall(b"2")
                time.sleep(0.05)

    with listening(dribbles) as port:
        found = discover(HOST, {"ftp": port})
    assert found == (Found("ftp", port, "no answer within 0.2 s"),)


def test_closed_ports_are_omitted() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    assert discover(HOST, {"ftp": port}) == ()


def test_only_the_first_addresses_of_a_name_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found = socket.getaddrinfo

    def answers(refused: int) -> Callable[..., object]:
        def resolved(host: str, port: int | None, **options: int) -> object:
            return [
                *refused * found("127.0.0.2", port, **options),
                *found(HOST, port, **options),
            ]

        return resolved

    with listening(sends(b"220 ready\r\n")) as port:
        monkeypatch.setattr(socket, "getaddrinfo", answers(8))
        assert discover("many.example", {"ftp": port}) == ()
        monkeypatch.setattr(socket, "getaddrinfo", answers(7))
        assert discover("many.example", {"ftp": port}) == (Found("ftp", port),)


def test_unknown_hosts_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no-such-host\.invalid: cannot be resolved"):
        discover("no-such-host.invalid")


def rpc(status: int) -> Callable[[socket.socket], None]:
    """Answers one call as RFC 5531 has it."""

    def answers(connection: socket.socket) -> None:
        call = connection.recv(4096)
        assert len(call) == 4 + 10 * 4
        mismatch = struct.pack(">2I", 4, 4) if status == 2 else b""
        reply = call[4:8] + struct.pack(">5I", 1, 0, 0, 0, status) + mismatch
        connection.sendall(struct.pack(">I", 1 << 31 | len(reply)) + reply)

    return answers


def test_each_version_of_nfs_is_a_service() -> None:
    with listening(rpc(2)) as port:
        (found,) = discover(HOST, {"nfs": port})
    assert found.problem == "the server does not speak version 3 of this protocol"
    with listening(rpc(1)) as port:
        (found,) = discover(HOST, {"nfs": port})
    assert found.problem == "the server refuses calls of NFS"
    with listening(rpc(0)) as port:
        assert discover(HOST, {"nfs4": port}) == (Found("nfs4", port),)
