"""
Try lanlab's clients on users' servers, and write the table of bench/results/counterparts.md.

    .venv/bin/python bench/counterparts.py                       # all, in a temporary folder
    .venv/bin/python bench/counterparts.py --only vsftpd --only Samba --folder ~/counterparts

Each product is installed in a folder of its own, in the pinned version of its registry; nothing is
installed on the system. Packages of Debian are unpacked there, and the large ones (Samba, OpenSSH,
nginx, NFS-Ganesha) are named and skipped where they are missing. A server runs on loopback; as root
in a network namespace that ends with it. Then, with `lanlab copy URL`: several files up, compared
byte by byte, and down, and `lanlab stations` once. Files left at the server are a failure. With
`--keep` results go into the page; without, they are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import counterpart_ftp
import counterpart_mounts
import counterpart_ssh
import counterpart_stores
import counterpart_streams
import counterpart_web
from counterpart_base import Launch, NotToBeHad, Place, Row, free_port
from counterpart_page import write_table

ROWS: tuple[Row, ...] = (
    *counterpart_ftp.ROWS,
    *counterpart_ssh.ROWS,
    *counterpart_web.ROWS,
    *counterpart_mounts.ROWS,
    *counterpart_stores.ROWS,
    *counterpart_streams.ROWS,
)
LANLAB = Path(sys.executable).parent / "lanlab"
_LISTENS_WITHIN_S = 60
_COMMAND_WITHIN_S = 120
#: Names that are in somebody's way, and sizes at which clients and servers change their ways.
_FILES = {
    "empty": 0,
    "one": 1,
    "with a blank": 6000,
    "100%25": 6000,
    "größe 大": 6000,
    "a#b;c=1": 70_000,
    "folder/-l": 6000,
    "folder/deeper/~user": 1_048_577,
    "large": 9_000_000,
}


_DOS_FILES = {"ONE.DAT": 6000, "EMPTY": 0, "SUB/TWO.DAT": 70_000, "LARGE.BIN": 3_000_000}


@dataclass(frozen=True)
class Cell:
    """What one service of one product gave."""

    name: str
    version: str
    service: str
    works: str
    differs: str

    @property
    def holds(self) -> bool:
        """All that was tried worked."""
        return self.works in (_COPIES, *_ALL.values())


#: What a cell says where all held.
_ALL = {"iperf3": "streams up and down"}
_COPIES = "copies up and down, stations"


class Namespace:
    """A network of its own for servers and clients, or without root that of this machine."""

    def __init__(self) -> None:
        self._holder: subprocess.Popen[bytes] | None = None
        self.prefix: list[str] = []
        if os.geteuid():
            return
        script = "ip link set lo up && echo up && exec cat"
        self._holder = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._holder.stdout is not None
        self._holder.stdout.readline()
        self.prefix = ["nsenter", "-t", str(self._holder.pid), "-n"]

    def listens(self, port: int) -> bool:
        """Whether anything listens at a port, without a connection to it."""
        of = "self" if self._holder is None else str(self._holder.pid)
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{of}/net/{table}").read_text().splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                if state == "0A" and int(local.rsplit(":", 1)[1], 16) == port:
                    return True
        return False

    def end(self) -> None:
        """Remove it."""
        if self._holder is not None and self._holder.stdin is not None:
            self._holder.stdin.close()
            self._holder.wait(10)


@contextlib.contextmanager
def running(launch: Launch, port: int, namespace: Namespace, log: Path) -> Iterator[None]:
    """A server, and with it whatever it started, until the end."""
    # Its first process is number 1 of a process namespace: with it all others end.
    alone = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    alone = [*alone, "sh", "-c", '"$@"; exit $?', "sh"] if namespace.prefix else []
    with log.open("wb") as to:
        server = subprocess.Popen(
            [*namespace.prefix, *alone, *launch.argv],
            env={**os.environ, **launch.environment},
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=to,
            stderr=to,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + _LISTENS_WITHIN_S
        while not namespace.listens(port):
            if server.poll() is not None or time.monotonic() > until:
                raise NotToBeHad(f"it did not start: {log.read_text(errors='replace')[-400:]}")
            time.sleep(0.1)
        if launch.after:
            argv = [*namespace.prefix, *launch.after]
            subprocess.run(argv, check=True, timeout=_COMMAND_WITHIN_S, capture_output=True)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(10)


def lanlab(
    arguments: Sequence[str], launch: Launch, namespace: Namespace, folder: Path
) -> tuple[int, Any, str]:
    """A command of lanlab: how it ended, its JSON, and its last error."""
    environment = {
        **os.environ,
        "LANLAB_STORE": str(folder / "store.sqlite"),
        "LANLAB_PASSWORD": launch.password,
    }
    if "--password-file" in launch.arguments:
        del environment["LANLAB_PASSWORD"]
    argv = [*namespace.prefix, str(LANLAB), *arguments, *launch.arguments, "--json"]
    ran = subprocess.run(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_COMMAND_WITHIN_S,
        check=False,
    )
    errors = [line for line in ran.stderr.splitlines() if line.startswith(("error", "hint"))]
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        found = None
    return ran.returncode, found, " ".join(errors) or ran.stderr.strip()[-300:]


def _tree(root: Path, kept: Sequence[str]) -> set[str]:
    found = (path.relative_to(root) for path in root.rglob("*"))
    return {str(path) for path in found if not set(path.parts) & set(kept)}


def _copied(sizes: Mapping[str, int]) -> Callable[[Any], bool]:
    def is_right(found: Any) -> bool:
        return bool(
            found
            and found["failed_trials"] == 0
            and found["copied_files"] == len(sizes)
            and found["copied_bytes"] == sum(sizes.values())
        )

    return is_right


def _stations_ran(found: Any) -> bool:
    trials = found["trials"] if found else []
    return bool(trials) and all(
        one["status"] == "done"
        and one["operations_per_s"] > 0
        and one["errors"] == one["wrong_data"] == one["setup_errors"] == 0
        for one in trials
    )


def _streamed(found: Any) -> bool:
    return bool(found and found["failed_trials"] == 0 and _rate(found) > 0)


def _rate(found: Any) -> float:
    keys = ("goodput_bps", "acknowledged_bps", "peer_goodput_bps")
    return max(float(found.get(key) or 0) for key in keys)


#: What is tried: its name, the arguments of lanlab, and whether its JSON is right.
Try = tuple[str, list[str], Callable[[Any], bool]]


def _copies(url: str, files: str, sizes: Mapping[str, int]) -> tuple[Try, ...]:
    copied = _copied(sizes)
    stations = ["stations", url, "--stations", "2", "--trials", "1", "--time", "0.5s"]
    return (
        ("copy up", ["copy", files, url, "--trials", "1"], copied),
        ("copy down", ["copy", url, files, "--trials", "1", "--download"], copied),
        ("stations", stations, _stations_ran),
    )


def tried(launch: Launch, namespace: Namespace, place: Place, row: Row, files: Path) -> list[str]:
    """What failed, in words; nothing if all worked."""
    before = _tree(place.root, row.keeps)
    tries: tuple[Try, ...]
    if place.service == "iperf3":
        stream = ["stream", "--peer", launch.url, "--time", "1s", "--trials", "1"]
        ways = {"TCP up": [], "TCP down": ["--reverse"], "UDP up": ["--transport", "udp"]}
        tries = tuple((what, [*stream, *ways[what]], _streamed) for what in ways)
    else:
        sizes = _DOS_FILES if row.dos_names else _FILES
        tries = _copies(launch.url, str(files / ("DOS" if row.dos_names else "files")), sizes)
    failed = []
    for what, arguments, is_right in tries:
        try:
            code, found, error = lanlab(arguments, launch, namespace, place.private)
        except subprocess.TimeoutExpired:
            failed.append(f"{what}: not ended after {_COMMAND_WITHIN_S} s")
            continue
        if code:
            failed.append(f"{what}: {error}")
        elif not is_right(found):
            failed.append(f"{what}: exit 0 with {json.dumps(found)[:300]}")
        if left := sorted(_tree(place.root, row.keeps) - before):
            failed.append(f"{what}: left at the server: {', '.join(left[:5])}")
            before |= set(left)
    return failed


def try_row(row: Row, services: Sequence[str], folder: Path, files: Path) -> Iterator[Cell]:
    """Install a product, and try each of its services."""
    if not services:
        return
    product = folder / re.sub(r"\W+", "-", row.folder or row.name)
    try:
        if row.needs_root and os.geteuid():
            raise NotToBeHad("it needs root")
        if not (product / ".installed").exists():
            shutil.rmtree(product, ignore_errors=True)
            product.mkdir(parents=True)
            row.install(product)
            (product / ".installed").touch()
    except (NotToBeHad, subprocess.TimeoutExpired) as error:
        for service in services:
            yield Cell(row.name, "", service, f"not tried: {error}", row.differs)
        return
    version = row.version if isinstance(row.version, str) else row.version(product)
    for service in services:
        namespace = Namespace()
        with tempfile.TemporaryDirectory(prefix="lanlab-counterpart-") as private:
            Path(private).chmod(0o711)
            root = Path(private, "served")
            root.mkdir()
            root.chmod(0o777)
            (own := Path(private, "own")).mkdir(mode=0o700)
            place = Place(service, product, own, root, free_port())
            try:
                launch = row.launch(place)
                port = launch.port or place.port
                with running(launch, port, namespace, own / "server.log"):
                    failed = tried(launch, namespace, place, row, files)
                works = "; ".join(failed) or _ALL.get(service, _COPIES)
            except Exception as error:  # A row that fails is a row of the table.
                works = f"not tried: {type(error).__name__}: {error}"
            finally:
                namespace.end()
        yield Cell(row.name, version, service, works, row.differs)


def main() -> int:
    """Try what is asked for; exit 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--only", action="append", help="products whose name contains this")
    parser.add_argument("--service", help="this service only")
    parser.add_argument("--folder", type=Path, help="where products are installed and stay")
    parser.add_argument(
        "--keep", action="store_true", help="write the table to bench/results/counterparts.md"
    )
    given = parser.parse_args()
    # Servers end also when this is ended from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = [word.lower() for word in given.only or ()]
    rows = [r for r in ROWS if not wanted or any(word in r.name.lower() for word in wanted)]
    cells = []
    with contextlib.ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="counterparts-")))
        files = temporary / "sources"
        for folder, sizes in (("files", _FILES), ("DOS", _DOS_FILES)):
            for name, size in sizes.items():
                (files / folder / name).parent.mkdir(parents=True, exist_ok=True)
                (files / folder / name).write_bytes(os.urandom(size))
        for row in rows:
            services = [s for s in row.services if given.service in (None, s)]
            for cell in try_row(row, services, given.folder or temporary / "products", files):
                print(f"{cell.name} {cell.version} {cell.service}: {cell.works}", flush=True)
                cells.append(cell)
    if given.keep:
        write_table(
            "servers",
            ("counterpart", "version", "service", "works", "differs"),
            [(c.name, c.version, c.service, c.works, c.differs) for c in cells],
        )
    print(f"{sum(c.holds for c in cells)} of {len(cells)} hold")
    return 0 if all(cell.holds for cell in cells) else 1


if __name__ == "__main__":
    sys.exit(main())
