"""
The page's server, on loopback. Python's own server is sufficient for one user on this machine.

It answers GET and HEAD, writes nothing and keeps no log. Connections wait for their requests in
`admission`; only a complete request gets a thread.
"""

from __future__ import annotations

import contextlib
import functools
import html
import io
import os
import queue
import re
import socket
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote, urlsplit

from lanlab.disk import TemporaryFolder, entry
from lanlab.errors import UsageError
from lanlab.web.access import NO_TOKEN, has_token, new_token, refusal
from lanlab.web.admission import MOST_WAITING, Admission, Waiting
from lanlab.web.answers import Answer, Answers, refused
from lanlab.web.pages import POLICY, rendered
from lanlab.web.watch import Page, Watch

ADDRESS = "127.0.0.1"
_MOST_ANSWERED = 64
#: Time limit for a browser to accept a part of an answer, in seconds.
_PATIENCE_S = 20.0
#: Interval of keep-alive events on a page without news, which reveal a closed browser.
_KEEP_ALIVE_S = 5.0
_PLAIN_REQUEST = re.compile(rb"[A-Z]+ [/*]\S* HTTP/1\.[01]\r?\n")
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NICENESS = 10


class WebServer(HTTPServer):
    # Allows reusing the port of a server that has just ended.
    allow_reuse_address = True
    # Queue of new connections. If it is full, the system drops further ones, and clients retry
    # after 1 s.
    request_queue_size = MOST_WAITING

    def __init__(self, where: str | None, port: int = 0) -> None:
        """
        Args:
            where: The store, as for `open_store`.
            port: 0 selects a free port.

        Raises:
            UsageError: The port is in use or not allowed.
        """
        try:
            super().__init__((ADDRESS, port), BaseHTTPRequestHandler)
        except OSError as error:
            raise UsageError(
                f"--port: {port} cannot be used: {error.strerror}",
                hint="name another, or omit --port to use any free port",
            ) from None
        self._token = new_token()
        self.answers = Answers(where, self._token)
        self.watch = Watch(where, rendered_for(self._token))
        self._admission = Admission(self.socket, self._answer)
        self._free = threading.BoundedSemaphore(_MOST_ANSWERED)
        self.watch.start()

    @property
    def token(self) -> str:
        return self._token

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_address[1]}/{self._token}/"

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Accept connections until `shutdown`."""
        self._admission.run(poll_interval)

    def shutdown(self) -> None:
        """Make `serve_forever` return."""
        self._admission.stop()

    def _answer(self, waiting: Waiting, head: bytes | None) -> None:
        is_known = head is not None and has_token(head, self._token)
        if head is None or not is_known:
            # Short, so that no stranger can block the thread that writes it.
            if head is None or _PLAIN_REQUEST.match(head):
                self._refuse(waiting, head)
            else:
                self._answer_here(waiting, head, is_known)
        elif self._free.acquire(blocking=False):
            threading.Thread(target=self._answer_known, args=(waiting, head), daemon=True).start()
        else:
            self.shutdown_request(waiting.connection)

    def _refuse(self, waiting: Waiting, head: bytes | None) -> None:
        fields, body = _refused(head is None)
        with contextlib.suppress(OSError):
            is_short = head is not None and head.startswith(b"HEAD")
            waiting.connection.send(fields if is_short else fields + body)
        if self._admission.is_crowded():
            waiting.connection.close()
            return
        self._end(waiting)

    def _answer_known(self, waiting: Waiting, head: bytes) -> None:
        try:
            self._answer_here(waiting, head, True)
        finally:
            self._free.release()

    def _answer_here(self, waiting: Waiting, head: bytes, is_known: bool) -> None:
        is_over = True
        # The browser has disconnected, or this page has a defect. Other pages continue.
        with contextlib.suppress(Exception):
            is_over = _Handler(waiting, self, head).close_connection
        if not is_over:
            waiting.is_known = is_known
            self._admission.give_back(waiting)
            return
        self._end(waiting)

    def _end(self, waiting: Waiting) -> None:
        try:
            waiting.connection.shutdown(socket.SHUT_WR)
        except OSError:
            waiting.connection.close()
            return
        waiting.drained_bytes = 0
        waiting.received.clear()
        self._admission.give_back(waiting)

    def close(self) -> None:
        self.watch.stop()
        self.server_close()


@functools.cache
def _refused(is_too_long: bool) -> tuple[bytes, bytes]:
    """Header and body of the answer to a request without the token, or with a too long header."""
    answer = refused(NO_TOKEN.status, NO_TOKEN.sentence)
    if is_too_long:
        answer = refused(431, "The request was refused: it has too many fields, or too long ones.")
    status = HTTPStatus(answer.status)
    fields = {
        "Content-Type": answer.kind,
        "Content-Security-Policy": answer.policy,
        **_HEADERS,
        "Content-Length": str(len(answer.body)),
        "Connection": "close",
    }
    lines = (f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{''.join(lines)}\r\n".encode(), answer.body


def rendered_for(token: str) -> Callable[..., str]:
    return lambda template, **values: rendered(f"part-{template}", home=f"/{token}/", **values)


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE_S
    server_version, sys_version = "lanlab", ""

    def __init__(self, waiting: Waiting, server: WebServer, head: bytes) -> None:
        self._head = head
        super().__init__(waiting.connection, (waiting.address, 0), server)

    def setup(self) -> None:
        super().setup()
        # Each answer is written in one call, so waiting to fill packets would only delay it.
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rfile.close()
        self.rfile = io.BufferedReader(io.BytesIO(self._head))

    def handle(self) -> None:
        self.handle_one_request()

    def _handle(self) -> None:
        try:
            target = urlsplit(self.path)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        peer = str(self.client_address[0])
        found = refusal(
            self.command, target.path, dict(self.headers.items()), peer, self.server.token
        )
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            # The body is not read, so the bytes after the header are not a request.
            self.close_connection = True
        if found is not None:
            self._send(refused(found.status, found.sentence))
            return
        parts = [unquote(part) for part in target.path.split("/")[2:]] or [""]
        if parts[-1:] == ["events"] and parts[:-1] in ([], ["run", *parts[1:2]]):
            self._stream(parts[1] if len(parts) == 3 else None)
            return
        self._send(self.server.answers.answer(parts, target.query))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _handle  # noqa: N815

    def _send(self, answer: Answer) -> None:
        if answer.status >= HTTPStatus.BAD_REQUEST:
            self.close_connection = True
        self.send_response(answer.status)
        self._send_headers(answer.kind, answer.policy)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _send_headers(self, kind: str, policy: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", policy)
        for name, value in _HEADERS.items():
            self.send_header(name, value)

    def _stream(self, run_id: str | None) -> None:
        """Server-sent events (HTML standard, section 9.2) until the browser disconnects."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self._send_headers("text/event-stream; charset=utf-8", POLICY)
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        page = Page(run_id)
        self.server.watch.open(page)
        try:
            while not page.is_lost:
                try:
                    event = page.events.get(timeout=_KEEP_ALIVE_S)
                except queue.Empty:
                    self.wfile.write(b": here\n\n")
                    continue
                if event is None:
                    break
                name, data = event
                self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
        finally:
            self.server.watch.close(page)

    def handle_one_request(self) -> None:
        """Handle one request. A browser that disconnects meanwhile is not an error."""
        with contextlib.suppress(OSError):
            super().handle_one_request()
            return
        self.close_connection = True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        self.close_connection = True
        self.command = getattr(self, "command", None) or "GET"
        words = HTTPStatus(code).phrase.lower() if code in set(HTTPStatus) else "not understood"
        self._send(refused(code, f"The request was refused: {words}."))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the path contains the token."""


def lower_priority() -> None:
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)


@contextlib.contextmanager
def opened_in_browser(url: str | None) -> Iterator[None]:
    """
    Open a URL in the default browser through a file that only this user can read, and remove the
    file afterwards. The token must not be in the arguments of the browser's process, because every
    user can see those.

    Args:
        url: `None` opens nothing.
    """
    if url is None:
        yield
        return
    import webbrowser

    with TemporaryFolder("lanlab-web-") as folder:
        file = folder / "open.html"
        escaped = html.escape(url, quote=True)
        text = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>lanlab</title>'
            f'<meta http-equiv="refresh" content="0; url={escaped}">'
            f'<p><a href="{escaped}">Open the page</a></p>'
        )
        with entry(folder, file.name) as place, place.create(0o600) as opened:
            opened.write(text.encode())
        webbrowser.open(file.as_uri())
        yield
