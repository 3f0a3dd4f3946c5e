"""A server of the live page for tests, and plain requests to it."""

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S

from lanlab.web.server import ADDRESS, WebServer


@contextmanager
def serving(store: Path) -> Iterator[WebServer]:
    server = WebServer(str(store))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.close()
        thread.join()


def asked(
    server: WebServer,
    path: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(ADDRESS, server.server_address[1], timeout=PATIENCE_S)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


@contextmanager
def events(server: WebServer, path: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """The events of a page, as they come."""
    connection = http.client.HTTPConnection(ADDRESS, server.server_address[1], timeout=PATIENCE_S)
    try:
        connection.request("GET", f"/{server.token}/{path}")
        answer = connection.getresponse()
        assert answer.status == 200

        def read() -> Iterator[tuple[str, dict[str, Any]]]:
            name = ""
            while True:
                line = answer.readline().decode()
                if not line:
                    return
                if line.startswith("event: "):
                    name = line[7:].strip()
                elif line.startswith("data: "):
                    yield name, json.loads(line[6:])

        yield read()
        # It has the socket, too.
        answer.close()
    finally:
        connection.close()
