"""
How a client is served by `lanlab serve`, over TCP and on an Ethernet, and by `lanlab web`, among
silent strangers and those that begin and do not go on. A stranger that is dropped comes again a
second after it came, or at once, which is a flood and takes all processors.

    python bench/serve_crowds.py --strangers 3000
    python bench/serve_crowds.py --strangers 3000 --again 0 echo
    python bench/serve_crowds.py --strangers 3000 smb web nbf
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from crowd import COMMAND, Crowd, cpu_s, memory_bytes
from raw_engine import RawEngine
from test_hostile_crowds import BEGUN, SECRET, logs_in

from lanlab.engine import engine_path
from lanlab.testbeds.namespaces import Namespaces

_PROMISED_S, _PROMISED_BYTES, _PROMISED_LINES = 1.0, 64 * 2**20, 100
_WITHIN_S = 30.0
_HERE = "127.0.0.1"
_SERVER_MAC = "02:00:00:00:00:01"
_SMALL_STACK = "10.9.0.2"


class _DroppedError(Exception):
    """The server ended the connection."""


def _echoed(port: int) -> None:
    with socket.create_connection((_HERE, port), _WITHIN_S) as client:
        for _ in range(100):
            client.sendall(bytes(1000))
            _read(client, 1000)


def _discarded(port: int) -> None:
    with socket.create_connection((_HERE, port), _WITHIN_S) as client:
        client.sendall(bytes(100_000))
        client.shutdown(socket.SHUT_WR)
        if client.recv(1):
            raise SystemExit("discard answered")


def _generated(port: int) -> None:
    with socket.create_connection((_HERE, port), _WITHIN_S) as client:
        _read(client, 1 << 20)


def _read(client: socket.socket, left: int) -> None:
    while left:
        got = len(client.recv(left))
        if not got:
            raise _DroppedError
        left -= got


def _asked(port: int) -> None:
    with socket.create_connection((_HERE, port), _WITHIN_S) as client:
        client.sendall(b"y" * 36 + b"\0")
        if client.recv(1) != b"\x09":
            raise _DroppedError


#: What a client does at each peer, and what strangers begin with.
_PEERS: dict[str, tuple[Callable[[int], None], bytes]] = {
    "echo": (_echoed, b"x"),
    "discard": (_discarded, b"x"),
    "chargen": (_generated, b""),
    "iperf3": (_asked, b"x" * 36 + b"\0"),
}
#: What strangers send to `lanlab web`.
_AT_WEB = {
    "byte by byte": b"G",
    "endless head": b"GET / HTTP/1.1\r\n" + b"X-Many: " + 8000 * b"x" + b"\r\n",
    "wrong token": b"GET /wrong/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
#: Services on an Ethernet, by what carries them.
_CARRIERS = {
    "llc": ("smb1", "nbf"),
    "nbf": ("smb1", "nbf"),
    "ipx": ("smb1", "ipx"),
    "nbipx": ("smb1", "nbipx"),
    "spp": ("smb1", "spp"),
    "ncp": ("ncp", "ncp"),
}


class _Server(NamedTuple):
    """A listener: what a client does there, its process, its lines, and how a crowd gets there."""

    does: Callable[[], object]
    pid: int
    lines: Callable[[], int]
    crowd: Sequence[str]
    prefix: Sequence[str] = ()


@contextlib.contextmanager
def _command(*argv: str, until: str) -> Iterator[tuple[int, str, Callable[[], int]]]:
    """A command of lanlab: its process, what it printed, and how many lines it has by now."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "lines").open("w+") as lines:
        printed = Path(folder, "lines")
        command = [COMMAND, *argv]
        environment = os.environ | {"LANLAB_STORE": str(Path(folder, "s.sqlite"))}
        server = subprocess.Popen(command, stdout=lines, stderr=subprocess.STDOUT, env=environment)
        try:
            while until not in printed.read_text():
                if server.poll() is not None:
                    raise SystemExit(f"{shlex.join(command)}: {printed.read_text()}")
                time.sleep(0.1)
            yield server.pid, printed.read_text(), lambda: len(printed.read_text().splitlines())
        finally:
            server.terminate()
            server.wait()


@contextlib.contextmanager
def _peer(name: str) -> Iterator[_Server]:
    """`lanlab peer`."""
    with socket.socket() as free:
        free.bind((_HERE, 0))
        port = free.getsockname()[1]
    argv = ("peer", name, "--port", str(port))
    # Who reads all that a character generator sends is a client.
    how = "unread" if name == "chargen" else "read"
    with _command(*argv, until="Ctrl-C") as (pid, _, lines):
        engine = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        yield _Server(lambda: _PEERS[name][0](port), engine, lines, ["tcp", _HERE, str(port), how])


@contextlib.contextmanager
def _web() -> Iterator[_Server]:
    """`lanlab web`, and a reader with the token."""
    with _command("web", until="http://") as (pid, said, lines):
        parts = urlsplit(next(one for one in said.split() if one.startswith("http://")))
        assert parts.port is not None

        def reads() -> None:
            client = http.client.HTTPConnection(_HERE, parts.port, timeout=_WITHIN_S)
            with contextlib.closing(client):
                client.request("GET", parts.path)
                answer = client.getresponse()
                answer.read()
            if answer.status != 200:
                raise SystemExit(f"the reader got status {answer.status}")

        yield _Server(reads, pid, lines, ["tcp", _HERE, str(parts.port), "read"])


def _request(service: str, root: str, **others: Any) -> dict[str, Any]:
    credentials = None if service == "nfs" else {"user": "me", "secret": SECRET}
    asked = {"type": "serve", "service": service, "bind": _HERE, "root": root}
    return asked | {"says_clients": True, "credentials": credentials} | others


@contextlib.contextmanager
def _file_service(name: str) -> Iterator[_Server]:
    """The engine of `lanlab serve --service`, and a client that logs in and makes a directory."""
    with tempfile.TemporaryDirectory() as root, RawEngine() as server, RawEngine() as client:
        ready = server.wait(server.send(_request(name, root)), "ready", "error")
        port = ready["ports"][0]
        yield _Server(
            lambda: logs_in(client, name, port, ready),
            server.process.pid,
            lambda: len(server.lines),
            ["tcp", _HERE, str(port), "read"],
        )


@contextlib.contextmanager
def _on_ethernet(name: str) -> Iterator[_Server]:
    """The same on an Ethernet of two hosts, with strangers on the client's; `small`: FTP."""
    with contextlib.ExitStack() as stack:
        namespaces = Namespaces()
        stack.callback(namespaces.close)
        here, there = namespaces.add(2)
        ends = "type veth peer name right address"
        for host, said in (
            (here, f"link add left {ends} {_SERVER_MAC} netns {there.pid}"),
            (here, "address add 10.9.0.1/16 dev left"),
            (here, "link set left up"),
            (there, "link set right up"),
        ):
            subprocess.run([*host.command_prefix, "ip", *said.split()], check=True, timeout=20)
        root = stack.enter_context(tempfile.TemporaryDirectory())
        server, client = (
            stack.enter_context(RawEngine([*host.command_prefix, engine_path()]))
            for host in (there, here)
        )
        link, own = {"interface": "right"}, {"interface": "left"}
        if name == "small":
            small = {"link": link, "address": _SMALL_STACK, "memory_bytes": 2_000_000}
            ready = _ready(server, _request("ftp", root, options={"ftp": {"stack": small}}))
            yield _Server(
                lambda: logs_in(client, "ftp", 21, ready, address=_SMALL_STACK),
                server.process.pid,
                lambda: len(server.lines),
                ["tcp", _SMALL_STACK, "21", "read"],
                here.command_prefix,
            )
            return
        service, carrier = _CARRIERS[name]
        ipx = {"framing": "ethernet-ii", "network": 7} if name in {"ipx", "nbipx", "ncp"} else {}
        common = {"carrier": carrier, "ipx": ipx}
        station = {"name": "LANLAB", "link": link, **common}
        ready = _ready(server, _request(service, root, station=station))
        target = {"address": None, "server_name": "LANLAB", "link": own, **common}
        yield _Server(
            lambda: logs_in(client, service, None, ready, **target),
            server.process.pid,
            lambda: len(server.lines),
            ["frames", name, "left", _SERVER_MAC],
            here.command_prefix,
        )


def _ready(server: RawEngine, request: dict[str, Any]) -> dict[str, Any]:
    line = server.wait(server.send(request), "ready", "error")
    if line["type"] != "ready":
        raise SystemExit(str(line))
    return line


def _is_served(does: Callable[[], object]) -> bool:
    """Whether a client is served; one that is dropped beside the strangers tries again."""
    try:
        does()
    except (AssertionError, OSError, http.client.HTTPException, _DroppedError):
        return False
    return True


def _longest_wait_s(server: _Server, seconds: float) -> tuple[float, int, int]:
    """The longest time until a client is served, how often it tried again, and most memory."""
    longest_s, refused, most_bytes = 0.0, 0, 0
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        began_s = time.monotonic()
        while not _is_served(server.does):
            refused += 1
            if time.monotonic() - began_s > _WITHIN_S:
                break
        longest_s = max(longest_s, time.monotonic() - began_s)
        most_bytes = max(most_bytes, memory_bytes(server.pid))
        time.sleep(0.05)
    return longest_s, refused, most_bytes


def _server(name: str) -> contextlib.AbstractContextManager[_Server]:
    if name == "web":
        return _web()
    if name in _PEERS:
        return _peer(name)
    return _on_ethernet(name) if name in {*_CARRIERS, "small"} else _file_service(name)


def _row(name: str, kind: str, piece: bytes, asked: argparse.Namespace) -> bool:
    """Print a row; whether all promises were kept."""
    with _server(name) as server:
        server.does()  # The client's station starts.
        alone_s, _, before_bytes = _longest_wait_s(server, 1)
        where, *rest = server.crowd
        crowd = Crowd([where, str(asked.strangers), str(asked.again), *rest], piece, server.prefix)
        began_s, used_s = time.monotonic(), [crowd.cpu_s(), cpu_s(server.pid)]
        longest_s, refused, most_bytes = _longest_wait_s(server, asked.seconds)
        took_s = time.monotonic() - began_s
        shares = [
            (now_s - before_s) / took_s
            for now_s, before_s in zip([crowd.cpu_s(), cpu_s(server.pid)], used_s, strict=True)
        ]
        connections = crowd.end()
        count = server.lines()
    grown_bytes = most_bytes - before_bytes
    print(
        f"| {name} | {asked.strangers} {kind} | {connections} | {alone_s:.3f} s | "
        f"{longest_s:.3f} s | {refused} | {grown_bytes / 2**20:.1f} MiB | {count} | "
        f"{shares[0]:.2f} | {shares[1]:.2f} |",
        flush=True,
    )
    kept = (longest_s <= _PROMISED_S, grown_bytes <= _PROMISED_BYTES, count <= _PROMISED_LINES)
    return all(kept)


def _kinds(name: str) -> dict[str, bytes]:
    """Kinds of strangers at a listener, and what each sends."""
    if name == "web":
        return {"silent": b"", **_AT_WEB}
    if name in _CARRIERS:
        return {"begin": b"", "go on": b"x"}
    begins = _PEERS[name][1] if name in _PEERS else BEGUN["ftp" if name == "small" else name][:4000]
    return {"silent": b""} | ({"begin": begins} if begins else {})


def main() -> int:
    """Print a row for each listener and kind of strangers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each row")
    parser.add_argument("--again", type=float, default=1.0, help="a stranger comes again, seconds")
    everything = [*_PEERS, *BEGUN, "web", *_CARRIERS, "small"]
    parser.add_argument("names", nargs="*", default=everything, help=", ".join(everything))
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in everything]:
        parser.error(f"found `{unknown[0]}`; allowed: {', '.join(everything)}")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))
    print(
        "| listener | strangers | connections | alone | longest wait | tried again | more memory "
        "| lines | processors of crowd | of server |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    kept = [
        _row(name, kind, piece, asked)
        for name in asked.names
        for kind, piece in _kinds(name).items()
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
