"""
A WebDAV server that wants a login by a scheme of its own: Digest (RFC 7616), Basic, or one that
lanlab does not speak. It is written apart from lanlab's client, and judges each answer.
"""

import base64
import hashlib
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

USER, SECRET, REALM = "alice", "secret", "here, and there"


class DavServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, root: Path, scheme: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root, self.scheme = root, scheme
        #: Where everything is, as a redirection says; `None`: here.
        self.elsewhere: str | None = None
        #: Requests after which the nonce is old, and whether that is said.
        self.nonce_lasts = 10**9
        self.says_stale = True
        #: Whether everybody may look.
        self.is_public = False
        #: Of this number of files one is refused at first.
        self.busy_each = 10**9
        self._puts = 0
        self.answered = 0
        #: Nonces of both ends with their counts, which come once.
        self.turns: set[tuple[str, str, str]] = set()
        #: Passwords that were sent as they are.
        self.seen_passwords: list[str] = []

    def is_busy(self) -> bool:
        self._puts += 1
        return self._puts % self.busy_each == 0

    @property
    def nonce(self) -> str:
        return f"nonce-{self.answered // self.nonce_lasts}"

    @property
    def url(self) -> str:
        return f"webdav://{USER}@127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DavServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, status: int, body: bytes = b"", **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _challenge(self) -> str:
        algorithm = self.server.scheme.partition(" ")[2]
        if not self.server.scheme.startswith("Digest"):
            return f'{self.server.scheme} realm="{REALM}"'
        return (
            f'Digest realm="{REALM}", qop="auth,auth-int", nonce="{self.server.nonce}", '
            f'opaque="o", algorithm={algorithm}'
        )

    def _is_let_in(self) -> tuple[bool, bool]:
        """Whether the request proves the password, and whether its nonce was an old one."""
        said = self.headers.get("Authorization", "")
        if said.startswith("Basic "):
            found = base64.b64decode(said.removeprefix("Basic ")).decode()
            self.server.seen_passwords.append(found)
            return self.server.scheme == "Basic" and found == f"{USER}:{SECRET}", False
        fields = {
            key: quoted or plain
            for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^", ]+))', said)
        }
        scheme, _, algorithm = self.server.scheme.partition(" ")
        if scheme != "Digest" or fields.get("username") != USER:
            return False, False
        name = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}[
            algorithm.removesuffix("-sess")
        ]

        def digest(*parts: str) -> str:
            return hashlib.new(name, ":".join(parts).encode()).hexdigest()

        secret = digest(USER, REALM, SECRET)
        if algorithm.endswith("-sess"):
            secret = digest(secret, fields["nonce"], fields["cnonce"])
        request = digest(self.command, fields["uri"])
        middle = (fields["nonce"], fields["nc"], fields["cnonce"], "auth")
        is_right = fields["response"] == digest(secret, *middle, request)
        is_right = is_right and fields["uri"] == self.path and fields["opaque"] == "o"
        # All clients are given the same nonce here: it is theirs by what they add.
        turn = (fields["nonce"], fields["cnonce"], fields["nc"])
        is_new = turn not in self.server.turns
        self.server.turns.add(turn)
        is_old = fields["nonce"] != self.server.nonce
        return is_right and is_new and not is_old, is_right and is_old

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65_537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_let_in, is_stale = self._is_let_in()
        looks = self.command == "PROPFIND" and "Authorization" not in self.headers
        is_let_in |= self.server.is_public and looks
        is_stale &= self.server.says_stale
        if self.server.elsewhere is not None:
            self._answer(301, Location=self.server.elsewhere)
        elif is_let_in:
            self.server.answered += 1
            self._serve(body)
        else:
            stale = ", stale=true" if is_stale else ""
            self._answer(401, WWW_Authenticate=self._challenge() + stale)
        self.wfile.flush()

    def _serve(self, body: bytes) -> None:
        place = self.server.root / unquote(self.path).strip("/")
        if self.command == "PROPFIND":
            self._list(place)
        elif self.command == "MKCOL":
            place.mkdir()
            self._answer(201)
        elif self.command == "PUT" and self.server.is_busy():
            self._answer(503)
        elif self.command == "PUT":
            place.write_bytes(body)
            self._answer(201)
        elif self.command == "GET" and place.is_file():
            self._answer(200, place.read_bytes())
        elif self.command == "DELETE" and place.exists():
            shutil.rmtree(place) if place.is_dir() else place.unlink()
            self._answer(204)
        else:
            self._answer(404)

    def _list(self, place: Path) -> None:
        if not place.exists():
            self._answer(404)
            return
        below = sorted(place.iterdir()) if self.headers.get("Depth") == "1" else []
        base = self.path.rstrip("/")
        entries = [(f"{base}/", place)]
        entries += [(f"{base}/{one.name}" + "/" * one.is_dir(), one) for one in below]
        text = "".join(
            f"<response><href>{href}</href><propstat><prop><resourcetype>"
            f"{'<collection/>' if one.is_dir() else ''}</resourcetype>"
            f"<getcontentlength>{one.stat().st_size}</getcontentlength></prop>"
            "<status>HTTP/1.1 200 OK</status></propstat></response>"
            for href, one in entries
        )
        self._answer(207, f'<multistatus xmlns="DAV:">{text}</multistatus>'.encode())


@contextmanager
def dav_server(root: Path, scheme: str) -> Iterator[DavServer]:
    """A server that serves a directory to those who prove their password by a scheme."""
    with DavServer(root, scheme) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
