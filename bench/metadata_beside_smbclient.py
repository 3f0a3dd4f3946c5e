"""
Files created and removed a second over SMB: `lanlab metadata` beside Samba's smbclient.

    python bench/metadata_beside_smbclient.py [--runs 9] [--files 1000]

smbtorture of Samba 4.17 has no test that creates and removes files over SMB 2 or 3: its tests with
counts open one file, or speak SMB 1. So `smbclient` puts and removes as many empty files in one
session, in turns with lanlab, on one tree at stock Samba. Its login is measured and subtracted.
lanlab counts its own requests; those of smbclient are counted once by a relay, untimed. The last
lines compare the clients by file and by request.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from socket import create_connection, create_server, socket

from copy_servers import started

from lanlab.testbeds import testbed
from lanlab.testbeds.servers import Credentials

_WHO = Credentials("lab", "Secret-1")
_HOST = "127.0.0.1"


class _Counter:
    """Passes one connection on, and counts the messages of the client (MS-SMB2, section 2.1)."""

    def __init__(self, port: int) -> None:
        self.requests = 0
        self._listener = create_server((_HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        self._server = port
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            near, _ = self._listener.accept()
            far = create_connection((_HOST, self._server))
            threading.Thread(target=self._there, args=(near, far), daemon=True).start()
            threading.Thread(target=_back, args=(far, near), daemon=True).start()

    def _there(self, near: socket, far: socket) -> None:
        with near, far, near.makefile("rb") as file:
            while len(head := file.read(4)) == 4:
                self.requests += 1
                far.sendall(head + file.read(int.from_bytes(head[1:], "big")))


def _back(far: socket, near: socket) -> None:
    try:
        while part := far.recv(1 << 16):
            near.sendall(part)
    except OSError:
        return


def _own(port: int, files: int, store: str) -> tuple[float, float]:
    """Time for all files, and requests for each."""
    lanlab = str(Path(sys.executable).with_name("lanlab"))
    url = f"smb://{_WHO.user}@{_HOST}:{port}/data"
    command = [lanlab, "metadata", url, "--files", str(files), "--trials", "1", "--json"]
    done = subprocess.run([*command, "--store", store], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    time_s = files / float(found["files_created_and_removed_per_s"])
    return time_s, found["create_exchanges"] + found["remove_exchanges"]


def _smbclient(port: int, files: int, place: Path) -> float:
    names = [f"d{number * 10 // files}\\f{number}" for number in range(files)]
    words = [f"mkdir d{number}" for number in range(10)] if files else []
    words += [f"put empty {name}" for name in names]
    words += [f"rm {name}" for name in names]
    words += [f"rmdir d{number}" for number in range(10)] if files else []
    command = ["smbclient", f"//{_HOST}/data", "-p", str(port), "-m", "SMB3"]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "-U", f"{_WHO.user}%{_WHO.secret}"],
        cwd=place,
        input="\n".join(words),
        capture_output=True,
        text=True,
        check=True,
    )
    if "NT_STATUS" in done.stdout + done.stderr:
        sys.exit(f"smbclient: {done.stdout}{done.stderr}")
    return time.monotonic() - began


def _requests(port: int, place: Path) -> float:
    """Requests of smbclient for each file: those of 110 files without those of 10."""
    counted = []
    for files in (10, 110):
        counter = _Counter(port)
        _smbclient(counter.port, files, place)
        counted.append(counter.requests)
    return (counted[1] - counted[0]) / 100


def main() -> None:
    """Print the times of all runs, the requests for each file, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=int, default=1000)
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="lanlab-metadata-", dir="/dev/shm"))
    place.chmod(0o755)
    os.environ |= {"LANLAB_CACHE": str(place / "cache"), "LANLAB_PASSWORD": _WHO.secret}
    store = str(place / "store.sqlite")
    try:
        (place / "root").mkdir()
        (place / "empty").touch()
        with (
            testbed("loopback", 2) as bed,
            started(bed.hosts[1], "smb", False, place / "root", _WHO) as samba,
        ):
            print(samba.version)
            peer_requests = _requests(samba.port, place)
            own, peer = [], []
            for _ in range(asked.runs):
                time_s, own_requests = _own(samba.port, asked.files, store)
                own.append(time_s)
                login_s = _smbclient(samba.port, 0, place)
                peer.append(_smbclient(samba.port, asked.files, place) - login_s)
                print(f"lanlab {own[-1]:.3f} s   smbclient {peer[-1]:.3f} s", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    own_s, peer_s = statistics.median(own), statistics.median(peer)
    print(f"requests for each file: lanlab {own_requests:g}, smbclient {peer_requests:g}")
    print(f"time for each file, lanlab / smbclient: {own_s / peer_s:.2f}")
    print(f"time for each request: {own_s / own_requests / (peer_s / peer_requests):.2f}")


if __name__ == "__main__":
    main()
