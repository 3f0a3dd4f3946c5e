"""A server for programs that are not lanlab's, for the block, and clients of it that have ended."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from missing import missing

from lanlab.performers.peer_serving import WantedPeers, serving_peers

Client = dict[str, Any]
#: For what only a machine that stands still does not do in time.
WITHIN_S = 40


class Server:
    def __init__(self, address: str) -> None:
        self.address, self.port = address, 0
        self._clients: list[Client] = []
        self._changed = threading.Condition()

    def take(self, client: Client) -> None:
        with self._changed:
            self._clients.append(client)
            self._changed.notify_all()

    def client(self, cookie: str) -> Client:
        return self._ended("cookie", cookie)

    def numbered(self, number: int) -> Client:
        """The client with this number, counted from 1, once it has ended."""
        return self._ended("number", number)

    def _ended(self, key: str, value: object) -> Client:
        def found() -> Client | None:
            return next((one for one in self._clients if one[key] == value), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, WITHIN_S), value
            client = found()
        assert client is not None
        return client

    def wait_for_error(self, words: str) -> None:
        """Wait until a client whose flows were open has ended with these words."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(
                    one["said"] is not None and words in (one["error"] or {}).get("message", "")
                    for one in self._clients
                ),
                WITHIN_S,
            ), words

    def connect(self) -> tuple[socket.socket, str]:
        connection = socket.create_connection((self.address, self.port), 10)
        connection.settimeout(WITHIN_S)
        cookie = os.urandom(18).hex()
        connection.sendall(cookie.encode() + b"\0")
        return connection, cookie

    def start(self, *options: str, is_json: bool = True) -> subprocess.Popen[str]:
        found = shutil.which("iperf3") or missing("need `iperf3`")
        argv = [found, "-c", self.address, "-p", str(self.port), *options]
        return subprocess.Popen(
            [*argv, "-J"] if is_json else argv, stdout=subprocess.PIPE, text=True
        )


@contextmanager
def served(
    address: str = "127.0.0.1", clients: int = 64, service: str = "iperf3", **bounds: Any
) -> Iterator[Server]:
    server = Server(address)
    wanted = WantedPeers(
        service, address, 0, clients, **{"longest_s": 60, "rate_bps": None, **bounds}
    )
    with serving_peers(wanted, server.take) as running:
        server.port = running.port
        yield server
    assert running.done is not None
