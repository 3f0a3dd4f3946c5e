"""Hints of the clients: each is shown only where its cause was seen."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from copying import copy
from trial_running import Pair

from lanlab.errors import EngineError

#: What a server does with a connection.
Behaviour = Callable[[socket.socket], None]


def says(*answers: bytes) -> Behaviour:
    """It greets with the first answer, and has the next one for each line."""

    def behave(there: socket.socket) -> None:
        with there.makefile("rb") as lines:
            for answer in answers:
                there.sendall(answer + b"\r\n")
                lines.readline()

    return behave


def answers(status: str, body: str = "", **of_methods: str) -> Behaviour:
    """It answers each request of HTTP with a status (and fields); some methods with another."""

    def behave(there: socket.socket) -> None:
        with there.makefile("rb") as requests:
            while line := requests.readline():
                head = b"".join(iter(requests.readline, b"\r\n"))
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                if b"100-continue" in head:
                    there.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                requests.read(int(length[1]) if length else 0)
                method = line.split()[0].decode()
                said, text = (of_methods[method], "") if method in of_methods else (status, body)
                fields = f"HTTP/1.1 {said}\r\nContent-Length: {len(text)}\r\n\r\n"
                there.sendall((fields + text).encode())

    return behave


def sends(octets: bytes) -> Behaviour:
    """It answers whatever comes first with these octets, and waits until the client has gone."""

    def behave(there: socket.socket) -> None:
        there.recv(1 << 16)
        there.sendall(octets)
        while there.recv(1 << 16):
            pass

    return behave


def closes(there: socket.socket) -> None:
    there.recv(1 << 16)


def hangs_up(there: socket.socket) -> None:
    """It ends each connection at once."""


def s3_error(code: str, more: str = "", status: str = "403 Forbidden") -> Behaviour:
    return answers(status, f"<Error><Code>{code}</Code><Message>m</Message>{more}</Error>")


@dataclass(frozen=True)
class Shown:
    """A hint, a server at which it is shown, and a similar one at which it is not."""

    hint: str
    url: str
    where: Behaviour
    not_where: Behaviour
    #: The URL at the similar one, if it is not the same.
    not_url: str = ""


FTP, DAV, S3 = "ftp://me@127.0.0.1:%d/", "webdav://me@127.0.0.1:%d/", "s3://me@127.0.0.1:%d/bucket"
SMB1, NFS = "smb1://me@127.0.0.1:%d/share", "nfs://127.0.0.1:%d/export"
SSH = b"SSH-2.0-OpenSSH_9.2\r\n"
TLS_ALERT = b"\x15\x03\x01\x00\x02\x02\x46"
WRONG = says(b"220 x", b"331 x", b"530 Login incorrect.")
PLAIN_FTP = says(b"220 x", b"530 Non-anonymous sessions must use encryption.")


def _made(put: str) -> Behaviour:
    """A server of WebDAV that makes directories, and answers PUT with a status."""
    return answers(
        "201 Created", PUT=put, PROPFIND="405 Not Allowed", OPTIONS="200 OK\r\nDAV: 1, 2"
    )


TABLE = (
    Shown("accepts no more sessions now", FTP, says(b"421 Too many connections"), WRONG),
    Shown("no more sessions", FTP, says(b"220 x", b"331 x", b"421 Too many"), WRONG),
    Shown("check the user name and the password", FTP, WRONG, PLAIN_FTP),
    Shown("log in as `anonymous`", FTP, says(b"220 x", b"331 x", b"530 anonymous only"), WRONG),
    Shown("requires TLS for logins", FTP, PLAIN_FTP, WRONG),
    Shown(
        "name a user, as in `ftp",
        "ftp://127.0.0.1:%d/",
        says(b"220 x", b"530 No anonymous login here."),
        says(b"220 x", b"530 No anonymous login here."),
        FTP,
    ),
    Shown(
        "this server does not support TLS",
        "ftps://me@127.0.0.1:%d/",
        says(b"220 x", b"500 What?"),
        says(b"421 Too many connections"),
    ),
    Shown("a server of this service listens on this port", FTP, says(SSH.strip()), WRONG),
    Shown(
        "a server of this service listens on this port", DAV, sends(SSH), answers("400 Bad Request")
    ),
    Shown(
        "a server of this service listens on this port", S3, sends(SSH), answers("400 Bad Request")
    ),
    Shown("a server of this service listens on this port", S3, answers("200 OK"), answers("500 x")),
    Shown("a server of this service listens on this port", NFS, sends(SSH), closes),
    Shown("a server of this service listens on this port", SMB1, sends(SSH), closes),
    Shown("this port requires TLS", DAV, sends(TLS_ALERT), sends(SSH)),
    Shown("this port requires TLS", DAV, answers("400 x", "sent to HTTPS port"), answers("400 x")),
    Shown("this port requires TLS", S3, answers("400 x", "sent to HTTPS port"), answers("400 x")),
    Shown(
        "this port does not support TLS", "webdavs://me@127.0.0.1:%d/", sends(SSH), sends(TLS_ALERT)
    ),
    Shown("allow TLS 1.2 or 1.3", "webdavs://me@127.0.0.1:%d/", sends(TLS_ALERT), sends(SSH)),
    Shown("and accepts this host", FTP, hangs_up, WRONG),
    Shown("it did not answer an offer of SMB 2", "smb://me@127.0.0.1:%d/s", closes, sends(b"")),
    Shown("does not support implicit TLS", "ftps://me@127.0.0.1:%d/", sends(b""), hangs_up),
    Shown("if it answers slowly", NFS, sends(b""), closes),
    Shown("the resource moved", S3, answers("301 Moved"), answers("404 Not Found")),
    Shown(
        "http://nas/dav", DAV, answers("301 Moved\r\nLocation: http://nas/dav"), answers("404 x")
    ),
    Shown("a directory where the server allows", DAV, _made("405 x"), _made("403 Forbidden")),
    Shown("a proxy does not reach the server", DAV, answers("502 x"), answers("500 Broken")),
    Shown("or a proxy with a login", S3, answers("401 x"), s3_error("AccessDenied")),
    Shown("the server is overloaded: try later", S3, answers("503 Busy"), answers("500 Broken")),
    Shown("accepts no file of this size", DAV, _made("413 Too Large"), _made("507 No Room")),
    Shown("make room at the server", DAV, _made("507 No Room"), _made("413 Too Large")),
    Shown("check the user's permissions", DAV, _made("403 Forbidden"), _made("423 Locked")),
    Shown(
        "name a user, as in `webdav",
        "webdav://127.0.0.1:%d/",
        answers("401 x\r\nWWW-Authenticate: Basic realm=x"),
        answers("401 x\r\nWWW-Authenticate: Basic realm=x"),
        DAV,
    ),
    Shown(
        "rejected the user name or password (Basic",
        DAV,
        answers("401 x\r\nWWW-Authenticate: Basic realm=x"),
        answers("401 x\r\nWWW-Authenticate: Digest realm=x, nonce=y, qop=auth"),
    ),
    Shown(
        "the server rejected the user name or password (Digest",
        DAV,
        answers("401 x\r\nWWW-Authenticate: Digest realm=x, nonce=y, qop=auth"),
        answers("401 x\r\nWWW-Authenticate: Basic realm=x"),
    ),
    Shown(
        "have the server take one of these",
        DAV,
        answers("401 x\r\nWWW-Authenticate: Negotiate"),
        answers("401 x\r\nWWW-Authenticate: Basic realm=x"),
    ),
    Shown("give the path of its WebDAV directory", DAV, answers("200 OK"), answers("500 Broken")),
    Shown("bucket or directory exists", S3, s3_error("NoSuchBucket"), s3_error("AccessDenied")),
    Shown(
        "whether a proxy changes `Host`",
        S3,
        s3_error("SignatureDoesNotMatch"),
        s3_error("InvalidAccessKeyId"),
    ),
    Shown("check the access key", S3, s3_error("InvalidAccessKeyId"), s3_error("AccessDenied")),
    Shown("set the clock", S3, s3_error("RequestTimeTooSkewed"), s3_error("ExpiredToken")),
    Shown(
        "name the region",
        S3,
        s3_error("AuthorizationHeaderMalformed", status="400 Bad Request"),
        s3_error("InvalidAccessKeyId"),
    ),
    Shown(
        "the bucket is at `there`",
        S3,
        s3_error("PermanentRedirect", "<Endpoint>there</Endpoint>", "301 Moved"),
        s3_error("PermanentRedirect", "", "301 Moved"),
    ),
)


@contextlib.contextmanager
def server(behave: Behaviour) -> Iterator[int]:
    """A server that does this with each connection, on a port of this machine."""

    def one(there: socket.socket) -> None:
        with contextlib.suppress(OSError), there:
            behave(there)

    def listen() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield listener.getsockname()[1]


def hint_at(pair: Pair, url: str, behave: Behaviour) -> str:
    trust = {"trust": "sha256:" + "0" * 64} if url.startswith(("ftps", "webdavs")) else {}
    with server(behave) as port:
        error = copy(pair.engines, server=url % port, timeout_s=4, **trust).error
    assert isinstance(error, EngineError)
    return error.hint or ""


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.url.partition(':')[0]} {row.hint}")
def test_a_hint_is_shown_only_for_its_own_cause(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, row: Shown
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    assert row.hint in hint_at(pair, row.url, row.where)
    assert row.hint not in hint_at(pair, row.not_url or row.url, row.not_where)
