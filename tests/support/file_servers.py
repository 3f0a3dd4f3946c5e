"""Embedded servers as users' own, and what stands in between: it cuts, delays, alters."""

from __future__ import annotations

import contextlib
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from lanlab.engine import Engine
from lanlab.errors import EngineError

SECRET = "s3cret &/ word"
#: Services whose server comes with the engine.
EMBEDDED = ("ftp", "ftps", "sftp", "webdav", "webdavs", "nfs", "smb", "s3", "s3s")
#: Those of them that know users.
WITH_USERS = tuple(service for service in EMBEDDED if service != "nfs")
#: Three that differ in kind, thrice: files as streams of their own, files by blocks, HTTP.
KINDS = (("ftp", "sftp", "s3s"), ("ftp", "nfs", "webdavs"), ("ftps", "smb", "webdav"))


def each_at_three(
    *faults: tuple[object, ...], services: Iterable[str] = EMBEDDED
) -> list[ParameterSet]:
    """
    Each fault at all services, as parameters of a test.

    Three services, of each kind one, are for the ordinary tests, others for each fault, and the
    plain directory; the rest is for the long ones.
    """
    return [
        pytest.param(
            *fault,
            service,
            marks=() if service in ("directory", *KINDS[turn % len(KINDS)]) else pytest.mark.long,
            id="-".join(map(str, (*fault, service))),
        )
        for turn, fault in enumerate(faults)
        for service in services
    ]


class Served:
    """An embedded server on a directory, as a user's own: its URL and whom to trust."""

    def __init__(
        self,
        engine: Engine,
        service: str,
        root: Path,
        bind: str = "127.0.0.1",
        *,
        read_only: bool = False,
    ) -> None:
        self._engine = engine
        credentials = None if service == "nfs" else {"user": "me", "secret": SECRET}
        self._serving = self._engine.start(
            {
                "type": "serve",
                "service": service,
                "root": str(root),
                "bind": bind,
                "credentials": credentials,
                "read_only": read_only,
            }
        )
        ready = self._serving.wait_ready(10)
        told = ready["served"]
        assert told is not None
        share = (told["share"] or "").removeprefix("/")
        user = "" if credentials is None else "me@"
        host = f"[{bind}]" if ":" in bind else bind
        self._url = f"{service}://{user}{host}:{ready['ports'][0]}/{share}"
        sha256 = told["trust_sha256"]
        self._trust = None if sha256 is None else f"sha256:{sha256}"

    def __enter__(self) -> tuple[str, str | None]:
        return self._url, self._trust

    def __exit__(self, *_: object) -> None:
        if self._engine.is_lost:
            return
        self._engine.ask({"type": "cancel", "target": self._serving.id})
        with pytest.raises(EngineError) as ended:
            self._serving.result(5)
        assert ended.value.code == "cancelled"


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


#: What one direction is to pass on of the octets that came, before which so many had come;
#: `None`: both connections are cut.
Pass = Callable[[bytes, int], bytes | None]

#: How often a thread looks whether its connection was cut from the other side.
_LOOK_S = 0.05


def everything(octets: bytes, before: int) -> bytes:
    return octets


class _Connection:
    def __init__(self, relay: Relay, near: socket.socket, far: socket.socket) -> None:
        self._relay = relay
        self._is_cut = threading.Event()
        self._left = 2
        self._lock = threading.Lock()
        self._both = (near, far)
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not relay.has_nagle)
        far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, way in ((near, far, "there"), (far, near, "back")):
            threading.Thread(target=self._pass_on, args=(source, target, way), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, way: str) -> None:
        with contextlib.suppress(OSError):
            self._pass_all(source, target, way)
        # A host that is silent does not say either that a connection has ended.
        while self._relay.is_silent and not self._is_cut.is_set():
            time.sleep(_LOOK_S)
        with self._lock:
            self._left -= 1
            is_last = self._left == 0
        if not is_last and not self._is_cut.is_set():
            # One direction has ended as it should; the other may go on.
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)
        if is_last:
            for each in self._both:
                if self._is_cut.is_set():
                    # Closed like this it is reset, as by a router that has forgotten it.
                    linger = struct.pack("ii", 1, 0)
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                each.close()

    def _pass_all(self, source: socket.socket, target: socket.socket, way: str) -> None:
        before = 0
        while not self._is_cut.is_set():
            if not select.select([source], [], [], _LOOK_S)[0]:
                continue
            octets = source.recv(65_536)
            if not octets:
                return
            passed = getattr(self._relay, way)(octets, before)
            before += len(octets)
            if passed is None:
                self._is_cut.set()
                return
            if way == "back":
                passed = self._relay.with_our_port(passed)
            if way == "back" and self._relay.has_nagle and len(passed) > 1:
                # The second waits until the first is acknowledged, which the other end delays.
                target.sendall(passed[:1])
                passed = passed[1:]
            target.sendall(passed)


class Relay:
    """
    Passes connections on to the server of a URL; those for the data of FTP, too.

    What becomes of octets is said by `there` (towards the server) and `back`, which may be set at
    any time. With `has_nagle` it sends answers as a careless server does: in two writes, without
    `TCP_NODELAY`.
    """

    def __init__(self, url: str, *, has_nagle: bool = False) -> None:
        found = re.search(r"127\.0\.0\.1:(\d+)", url)
        assert found is not None, url
        self.has_nagle = has_nagle
        self.there: Pass = everything
        self.back: Pass = everything
        #: Whether the ends of connections are kept to itself.
        self.is_silent = False
        #: Connections that it has taken.
        self.accepted = 0
        self._listeners: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        port = self._listen(("127.0.0.1", int(found[1])))
        self.url = url.replace(found[0], f"127.0.0.1:{port}")

    def cut_once(self, after: int, way: str) -> None:
        """Cut the connection over which so many octets have come, of all together from now on."""
        left = [after]
        lock = threading.Lock()

        def pass_on(octets: bytes, before: int) -> bytes | None:
            with lock:
                left[0] -= len(octets)
                if left[0] < 0:
                    setattr(self, way, everything)
                    return None
            return octets

        setattr(self, way, pass_on)

    def cut_always(self, after: int, way: str) -> None:
        setattr(self, way, lambda octets, before: octets if before < after else None)

    def _listen(self, server: tuple[str, int]) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(_LOOK_S)
        self._listeners.append(listener)
        thread = threading.Thread(target=self._accept, args=(listener, server), daemon=True)
        self._threads.append(thread)
        thread.start()
        return int(listener.getsockname()[1])

    def _accept(self, listener: socket.socket, server: tuple[str, int]) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self.accepted += 1
            try:
                far = socket.create_connection(server)
            except OSError:
                near.close()
                continue
            near.settimeout(None)
            _Connection(self, near, far)

    def with_our_port(self, octets: bytes) -> bytes:
        found = re.search(rb"^229 .*\(\|\|\|(\d+)\|\)", octets, re.MULTILINE)
        if found is None:
            return octets
        port = self._listen(("127.0.0.1", int(found[1])))
        return octets.replace(b"|||" + found[1], b"|||" + str(port).encode())

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_silent = False
        for listener in self._listeners:
            listener.close()
