"""Servers, sockets that misbehave, and files for `provoked_failures.py`."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from counterpart_base import HOST, PASSWORD, USER, Launch, Place, free_port
from counterparts import LANLAB, ROWS, Namespace, running

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/cli"))
from command_line import SMALL_STUDY

#: Names the folder of installed products.
PRODUCTS = "LANLAB_PROVOKED_PRODUCTS"
WITHIN_S = 120
#: Name in the cases: product of `counterparts.py`, and service.
SERVERS = {
    "vsftpd": ("vsftpd", "ftp"),
    "vsftps": ("vsftpd", "ftps"),
    "ftp": ("pyftpdlib", "ftp"),
    "sftp": ("rclone serve", "sftp"),
    "dav": ("rclone serve", "webdav"),
    "ssh": ("OpenSSH", "sftp"),
    "smb": ("Samba", "smb"),
    "sealed": ("Samba, smb encrypt = required", "smb"),
    "nginx": ("nginx dav-ext", "webdav"),
    "tls": ("nginx dav-ext", "webdavs"),
    "nfs": ("NFS-Ganesha, NFS 3 only", "nfs"),
    "iperf3": ("iperf3", "iperf3"),
}


@dataclasses.dataclass
class Server:
    """A server that runs, for the cases: `{ftp}` is its port."""

    at: int
    url: str = ""
    trust: str = ""

    def __str__(self) -> str:
        return str(self.at)


class Inside(Namespace):
    """The namespace of this script."""

    def __init__(self) -> None:
        self._holder = None
        self.prefix = []


def _silent(there: socket.socket) -> None:
    while there.recv(1 << 16):
        pass


def _says(answer: bytes) -> Callable[[socket.socket], None]:
    def behave(there: socket.socket) -> None:
        if answer.startswith(b"HTTP"):
            there.recv(1 << 16)
        there.sendall(answer)
        _silent(there)

    return behave


def _relays(to: int, most_bytes: int, then: str) -> Callable[[socket.socket], None]:
    """Pass a connection on; after so many bytes close it, or pass nothing more."""

    def behave(there: socket.socket) -> None:
        with socket.create_connection((HOST, to)) as server:

            def back() -> None:
                with contextlib.suppress(OSError):
                    while data := server.recv(1 << 16):
                        there.sendall(data)
                    there.shutdown(socket.SHUT_RDWR)

            threading.Thread(target=back, daemon=True).start()
            passed = 0
            while passed < most_bytes and (data := there.recv(1 << 14)):
                passed += len(data)
                server.sendall(data)
            if passed >= most_bytes and then == "freeze":
                threading.Event().wait(WITHIN_S)

    return behave


def _status(code: str) -> bytes:
    return f"HTTP/1.1 {code}\r\nContent-Length: 0\r\n\r\n".encode()


def behaviours(servers: Mapping[str, Server]) -> dict[str, Callable[[socket.socket], None]]:
    return {
        "silent": _silent,
        "closes": lambda there: None,
        "banner": _says(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "page": _says(_status("200 OK")),
        "broken": _says(_status("500 Internal Server Error")),
        "busy": _says(_status("503 Service Unavailable")),
        "moved": _says(_status("301 Moved\r\nLocation: https://nas.lan/dav/")),
        "noise": _says(bytes(range(256))),
        "dead_dav": _relays(servers["dav"].at, 300_000, "close"),
        "cold_dav": _relays(servers["dav"].at, 300_000, "freeze"),
        "dead_sftp": _relays(servers["sftp"].at, 300_000, "close"),
        "dead_smb": _relays(servers["smb"].at, 300_000, "close"),
        "dead_iperf3": _relays(servers["iperf3"].at, 500_000, "close"),
    }


def listens(behave: Callable[[socket.socket], None]) -> Server:
    listener = socket.create_server((HOST, 0))

    def serve(there: socket.socket) -> None:
        with there, contextlib.suppress(OSError):
            behave(there)

    def accept() -> None:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return Server(listener.getsockname()[1])


@contextlib.contextmanager
def server(name: str, folder: Path) -> Iterator[Server]:
    product, service = SERVERS[name]
    row = next(row for row in ROWS if row.name == product)
    root = folder / name / "served"
    (own := folder / name / "own").mkdir(parents=True)
    root.mkdir()
    (folder / name).chmod(0o755)
    root.chmod(0o777)
    place = Place(service, Path(os.environ[PRODUCTS]), own, root, free_port())
    launch = row.launch(place)
    for inner, options in (("full", "size=64k"), ("readonly", "ro")):
        (at := root / inner).mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(at)], check=True)
        if inner == "full":
            at.chmod(0o777)
    port = launch.port or place.port
    try:
        with running(launch, port, Inside(), own / "server.log"):
            yield Server(port, launch.url, shlex.join(launch.arguments))
    finally:
        subprocess.run(["umount", "-l", root / "full", root / "readonly"], check=False)


@contextlib.contextmanager
def s3(folder: Path) -> Iterator[Server]:
    """No server of S3 is a package of Debian: lanlab's own one."""
    (root := folder / "s3" / "served").mkdir(parents=True)
    port = free_port()
    argv = [str(LANLAB), "serve", str(root), "--service", "s3", "--write", "--port", str(port)]
    launch = Launch([*argv, "--user", USER], "", {"LANLAB_PASSWORD": PASSWORD})
    with running(launch, port, Inside(), folder / "s3" / "server.log"):
        yield Server(port)


def make_files(folder: Path, good: bytes) -> None:
    """What the cases name: files to copy, studies, stores; `good` is a store with a run."""
    for name, mode in (("stores", 0o777), ("home", 0o777), ("homenobody", 0o777), ("few", 0o755)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(mode)
    for name in ("empty", "linked", "secret"):
        (folder / name).mkdir(mode=0o700)
    for name in ("a", "b", "c"):
        (folder / "few" / name).write_bytes(os.urandom(400_000))
    (folder / "linked" / "link").symlink_to("/etc/passwd")
    for name, content, mode in (
        ("file", b"text", 0o644),
        ("wrong", b"wrong-password", 0o600),
        ("open-password", b"x", 0o644),
        ("blob", b"\xff\xfe\x00", 0o600),
        ("hosts.toml", b'[[host]]\nssh = "here"\nrole = "king"\n', 0o644),
        ("small.toml", SMALL_STUDY.encode(), 0o644),
        ("noise.sqlite", os.urandom(8192), 0o644),
    ):
        (folder / name).write_bytes(content)
        (folder / name).chmod(mode)
    os.mkfifo(folder / "fifo")
    (folder / "good.sqlite").write_bytes(good)
    (folder / "held.sqlite").write_bytes(good)
    (folder / "torn.sqlite").write_bytes(good[: len(good) // 2])
    for name, pragma in (("newer", "user_version = 999"), ("foreign", "application_id = 7")):
        (folder / f"{name}.sqlite").write_bytes(good)
        with contextlib.closing(sqlite3.connect(folder / f"{name}.sqlite")) as store:
            store.execute(f"PRAGMA {pragma}")
