"""
What a client's call costs in a directory with many names, beside one with 100: an existing name, a
missing one, and a page of a listing.

    TMPDIR=/dev/shm python bench/many_names.py --names 1000000
    sudo TMPDIR=/dev/shm unshare -n python bench/many_names.py --names 1000000 ncp
"""

from __future__ import annotations

import argparse
import contextlib
import ftplib
import http.client
import itertools
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from crowd_frames import CARRIERS, Stranger
from old_machine import CORE, OldMachine
from raw_engine import Line, RawEngine
from soak_services import _make_cable

_FEW, _PAGE, _PATIENCE_S = 100, 64, 600.0
_HERE = "127.0.0.1"
_ETHERTYPE = 0x8137
_ON_ETHERNET: Line = {
    "station": {
        "carrier": "ncp",
        "ipx": {"framing": "ethernet-ii", "network": 7},
        "link": {"interface": "right"},
        "name": "LANLAB",
    }
}

#: Calls of a client: an existing name, a missing one, and a page. What one returns is called after
#: its time was taken.
Calls = dict[str, Callable[[], Callable[[], object] | None]]


def _name(number: int) -> str:
    return f"F{number:07}.DAT"


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise SystemExit(f"found another answer: {what}")


@contextlib.contextmanager
def _ftp(port: int, names: Iterator[str]) -> Iterator[Calls]:
    client = ftplib.FTP(timeout=_PATIENCE_S)
    client.connect(_HERE, port)
    client.login()
    client.sendcmd("TYPE I")

    def misses() -> None:
        with contextlib.suppress(ftplib.error_perm):
            raise SystemExit(client.size("NONE"))

    def page() -> Callable[[], None]:
        with client.transfercmd("MLSD") as data, data.makefile("rb") as lines:
            _check(len(list(itertools.islice(lines, _PAGE))) == _PAGE, "MLSD")
        return ends

    def ends() -> None:
        with contextlib.suppress(ftplib.Error):
            client.voidresp()

    yield {
        "open": lambda: _check(client.size(next(names)) == 0, "SIZE"),
        "miss": misses,
        "page": page,
    }
    client.close()


def _http(
    port: int, method: str, path: str, headers: dict[str, str], most: int
) -> tuple[int, bytes]:
    client = http.client.HTTPConnection(_HERE, port, timeout=_PATIENCE_S)
    with contextlib.closing(client):
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer.status, answer.read(most)


@contextlib.contextmanager
def _webdav(port: int, names: Iterator[str]) -> Iterator[Calls]:
    def page() -> None:
        status, _ = _http(port, "PROPFIND", "/", {"Depth": "1"}, 16_384)
        _check(status == 207, "PROPFIND")

    yield {
        "open": lambda: _check(_http(port, "HEAD", f"/{next(names)}", {}, 0)[0] == 200, "HEAD"),
        "miss": lambda: _check(_http(port, "HEAD", "/NONE", {}, 0)[0] == 404, "HEAD"),
        "page": page,
    }


@contextlib.contextmanager
def _s3(port: int, names: Iterator[str]) -> Iterator[Calls]:
    def page() -> None:
        query = f"?list-type=2&delimiter=/&max-keys={_PAGE}&start-after={_name(7)}"
        status, said = _http(port, "GET", f"/lanlab{query}", {}, 1 << 20)
        _check((status, said.count(b"<Key>")) == (200, _PAGE), "GET")

    def asks(name: str) -> int:
        return _http(port, "HEAD", f"/lanlab/{name}", {}, 0)[0]

    yield {
        "open": lambda: _check(asks(next(names)) == 200, "HEAD"),
        "miss": lambda: _check(asks("NONE") == 404, "HEAD"),
        "page": page,
    }


class _Nfs:
    """Calls of RFC 1813 in records of RFC 5531."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((_HERE, port), _PATIENCE_S)
        mounted = self.call(100005, 1, _opaque(b"/lanlab"))
        self.root = _opaque(_taken(mounted, 4)[0])

    def call(self, program: int, procedure: int, arguments: bytes) -> bytes:
        message = struct.pack(">10I", 7, 0, 2, program, 3, procedure, 0, 0, 0, 0) + arguments
        self._socket.sendall(struct.pack(">I", 1 << 31 | len(message)) + message)
        length = struct.unpack(">I", self._read(4))[0] & ~(1 << 31)
        return self._read(length)[24:]

    def _read(self, length: int) -> bytes:
        got = b""
        while len(got) < length:
            got += self._socket.recv(length - len(got))
        return got

    def status(self, name: str) -> int:
        found = self.call(100003, 3, self.root + _opaque(name.encode()))
        return int(struct.unpack_from(">I", found)[0])

    def page(self, after: int) -> tuple[int, int]:
        """How many names follow, and the number of the last one."""
        said = self.call(100003, 16, self.root + struct.pack(">QQI", after, 0, 1500))
        _check(said[:4] == bytes(4), "READDIR")
        at = 4 + (4 + 84 if said[4:8] == b"\0\0\0\1" else 4) + 8
        count = 0
        while said[at : at + 4] == b"\0\0\0\1":
            _, at = _taken(said, at + 12)
            after, count, at = struct.unpack_from(">Q", said, at)[0], count + 1, at + 8
        return count, after


def _opaque(octets: bytes) -> bytes:
    return struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)


def _taken(octets: bytes, at: int) -> tuple[bytes, int]:
    length = struct.unpack_from(">I", octets, at)[0]
    return octets[at + 4 : at + 4 + length], at + 4 + length + -length % 4


@contextlib.contextmanager
def _nfs(port: int, names: Iterator[str]) -> Iterator[Calls]:
    client = _Nfs(port)
    began_s = time.monotonic()
    _, second = client.page(0)
    print(f"| nfs | first page | {1e3 * (time.monotonic() - began_s):.1f} ms | | |")
    yield {
        "open": lambda: _check(client.status(next(names)) == 0, "LOOKUP"),
        "miss": lambda: _check(client.status("NONE") == 2, "LOOKUP"),
        "page": lambda: _check(client.page(second)[0] > 0, "READDIR"),
    }


class _Sftp:
    """Calls of draft-ietf-secsh-filexfer-02, over OpenSSH's client."""

    def __init__(self, ssh: subprocess.Popen[bytes]) -> None:
        assert ssh.stdin is not None
        assert ssh.stdout is not None
        self._out, self._in = ssh.stdin, ssh.stdout
        self._send(1, struct.pack(">I", 3))

    def _send(self, kind: int, body: bytes) -> tuple[int, bytes]:
        self._out.write(struct.pack(">IB", 1 + len(body), kind) + body)
        self._out.flush()
        length, said = struct.unpack(">IB", self._in.read(5))
        return said, self._in.read(length - 1)

    def call(self, kind: int, of: bytes) -> tuple[int, bytes]:
        said, body = self._send(kind, struct.pack(">II", 7, len(of)) + of)
        return said, body[4:]


@contextlib.contextmanager
def _sftp(port: int, names: Iterator[str]) -> Iterator[Calls]:
    asked = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
    options = itertools.chain.from_iterable(("-o", one) for one in asked)
    argv = ["ssh", *options, "-p", str(port), "-s", f"x@{_HERE}", "sftp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ssh:
        client = _Sftp(ssh)

        def page() -> None:
            handle = client.call(11, b"/")[1][4:]
            said, body = client.call(12, handle)
            _check(said == 104 and body[:4] >= struct.pack(">I", _PAGE), "READDIR")
            client.call(4, handle)

        yield {
            "open": lambda: _check(client.call(17, next(names).encode())[0] == 105, "STAT"),
            "miss": lambda: _check(client.call(17, b"NONE")[1][:4] == b"\0\0\0\2", "STAT"),
            "page": page,
        }
        ssh.terminate()


@contextlib.contextmanager
def _smb1(port: int, names: Iterator[str]) -> Iterator[Calls]:
    client = OldMachine(port)
    client.negotiate(CORE)
    client.connect("LANLAB")

    def asks(name: str) -> tuple[int, int]:
        # SMB_COM_QUERY_INFORMATION ([MS-CIFS] 2.2.4.9).
        return client.ask(0x08, data=f"\4\\{name}\0".encode()).error

    began_s = time.monotonic()
    asks("NONE.DAT")
    print(f"| smb1 | first miss | {1e3 * (time.monotonic() - began_s):.1f} ms | | |")
    yield {
        "open": lambda: _check(asks(next(names)) == (0, 0), "QUERY_INFORMATION"),
        # ERRDOS, ERRbadfile.
        "miss": lambda: _check(asks("NONE.DAT") == (1, 2), "QUERY_INFORMATION"),
        "page": lambda: _check(len(client.names()) > 20, "SEARCH"),
    }
    client.close()


class _Ncp:
    """Requests of NetWare's shells, in packets of IPX on Ethernet II."""

    def __init__(self) -> None:
        self._link, other = (
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHERTYPE))
            for _ in range(2)
        )
        self._link.bind(("left", _ETHERTYPE))
        other.bind(("right", _ETHERTYPE))
        # The requests of a stranger, whose packets have the right addresses.
        self._station: Stranger = CARRIERS["ncp"](
            self._link.getsockname()[4], other.getsockname()[4]
        )
        other.close()
        self._connection, self._sequence = b"\xff\xff", -1
        self._call(0x1111, b"")
        self.ask(0x17, _part(0x14, b"\0\1" + _named("GUEST") + b"\0"))
        self.root = self.ask(0x16, _part(0x12, b"\0F" + _named("SYS:")))[1][:1]

    def ask(self, function: int, data: bytes) -> tuple[int, bytes]:
        """Completion code and data of a reply."""
        return self._call(0x2222, bytes([function]) + data)

    def _call(self, kind: int, data: bytes) -> tuple[int, bytes]:
        self._sequence = (self._sequence + 1) % 256
        low, high = self._connection
        head = struct.pack(">HBBBB", kind, self._sequence, low, 1, high)
        packet = self._station.packet(17, head + data)  # type: ignore[attr-defined]
        end_s = time.monotonic() + _PATIENCE_S
        self._link.settimeout(2)
        while time.monotonic() < end_s:
            self._link.send(packet)
            with contextlib.suppress(TimeoutError):
                while (said := self._link.recv(2048)[44:])[:3] != b"\x33\x33" + head[2:3]:
                    continue
                self._connection = bytes([said[3], said[5]])
                return said[6], said[8:]
        raise SystemExit("the NetWare server does not answer")


def _named(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def _part(number: int, data: bytes) -> bytes:
    return struct.pack(">HB", 1 + len(data), number) + data


@contextlib.contextmanager
def _ncp(port: int, names: Iterator[str]) -> Iterator[Calls]:
    client = _Ncp()

    def opens(name: str) -> int:
        code, opened = client.ask(0x4C, client.root + b"\6\1" + _named(name))
        if code == 0:
            client.ask(0x42, b"\0" + opened[:6])
        return code

    def page() -> None:
        after = b"\xff\xff"
        for _ in range(_PAGE):
            code, found = client.ask(0x40, after + client.root + b"\6" + _named("*"))
            _check(code == 0, "search")
            after = found[:2]

    began_s = time.monotonic()
    opens("NONE.DAT")
    print(f"| ncp | first miss | {1e3 * (time.monotonic() - began_s):.1f} ms | | |")
    yield {
        "open": lambda: _check(opens(next(names)) == 0, "open"),
        "miss": lambda: _check(opens("NONE.DAT") == 0xFF, "open"),
        "page": page,
    }


_SERVICES = {
    "smb1": _smb1,
    "ftp": _ftp,
    "sftp": _sftp,
    "webdav": _webdav,
    "s3": _s3,
    "nfs": _nfs,
    "ncp": _ncp,
}


def _best_s(service: str, root: str, count: int, calls: int) -> dict[str, float]:
    """The shortest time of each call."""
    request: Line = {
        "type": "serve",
        "service": service,
        "root": root,
        "bind": _HERE,
        "read_only": True,
    } | (_ON_ETHERNET if service == "ncp" else {})
    names = itertools.cycle(_name(number * 7919 % count) for number in range(calls))
    with RawEngine() as server:
        _, ports = server.ready(request)
        with _SERVICES[service](ports[0] if ports else 0, names) as does:
            best = {}
            for kind, call in does.items():
                times_s = []
                # A call that reads a whole directory takes seconds.
                end_s = time.monotonic() + 20
                while len(times_s) < 3 or (len(times_s) < calls and time.monotonic() < end_s):
                    began_s = time.monotonic()
                    then = call()
                    times_s.append(time.monotonic() - began_s)
                    if then is not None:
                        then()
                best[kind] = min(times_s)
            return best


def main() -> None:
    """Print a row for each call of each service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=300)
    without_cable = [service for service in _SERVICES if service != "ncp"]
    parser.add_argument("services", nargs="*", default=without_cable)
    asked = parser.parse_args()
    if "ncp" in asked.services:
        _make_cable()
    with contextlib.ExitStack() as stack:
        roots = {}
        for count in (_FEW, asked.names):
            roots[count] = stack.enter_context(tempfile.TemporaryDirectory())
            for number in range(count):
                Path(roots[count], _name(number)).touch()
        print(f"| service | call | {_FEW} names | {asked.names} names | ratio |")
        print("|---|---|---:|---:|---:|")
        for service in asked.services:
            found = {
                count: _best_s(service, root, count, asked.calls) for count, root in roots.items()
            }
            for kind, few_s in found[_FEW].items():
                many_s = found[asked.names][kind]
                print(
                    f"| {service} | {kind} | {1e6 * few_s:.0f} µs | {1e6 * many_s:.0f} µs | "
                    f"{many_s / few_s:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
