"""
Work on names at each file server until it has answered many requests, and print by how much its
memory grew. Each round logs in anew, and makes, looks up, lists, opens, renames and removes files.

    python bench/soak_services.py --requests 1000000 sftp webdav smb smb1 s3 ftps webdavs s3s
    sudo unshare -n python bench/soak_services.py ncp nbf ipx nbipx spp small

NetWare, the carriers of SMB 1 and FTP over the small TCP (`small`) need a network namespace of
their own, in which a pair of interfaces is made. Memory is read
after the first tenth and at the end. Exit code 1 if a server grew by more than 1 MiB.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engine"))

from raw_engine import Line, RawEngine, start_together
from soak_requests import HEAD, PROMISED_BYTES, soaked

_SECRET = "s3cret-words"
_NAMES = ("sftp", "webdav", "smb", "smb1", "s3", "ftp", "nfs", "ftps", "webdavs", "s3s")
#: FTP over the small TCP has connections for three clients.
_CLIENTS, _FILES, _LONGEST_S = 3, 1000, 300
_SMALL_STACK = "10.9.0.2"
#: Services on an Ethernet, and what carries them.
_ON_ETHERNET = {
    "ncp": ("ncp", "ncp"),
    "nbf": ("smb1", "nbf"),
    "ipx": ("smb1", "ipx"),
    "nbipx": ("smb1", "nbipx"),
    "spp": ("smb1", "spp"),
    "small": ("ftp", None),
}


def _served(name: str, root: str) -> Line:
    """The request that lets an engine serve."""
    service, carrier = _ON_ETHERNET.get(name, (name, None))
    asked: Line = {"type": "serve", "service": service, "root": root, "bind": "127.0.0.1"}
    if name != "nfs":
        asked["credentials"] = {"user": "me", "secret": _SECRET}
    link = {"interface": "right"}
    if carrier is not None:
        asked["station"] = {
            "carrier": carrier,
            "ipx": _ipx(carrier),
            "link": link,
            "name": "SOAKED",
        }
    elif name == "small":
        stack = {"link": link, "address": _SMALL_STACK, "memory_bytes": 2_000_000}
        asked["options"] = {"ftp": {"stack": stack}}
    return asked


def _ipx(carrier: str) -> Line:
    return {"framing": "ethernet-ii", "network": 7} if carrier in {"ipx", "nbipx"} else {}


def _target(name: str, ready: Line) -> Line:
    """Where a client finds that server."""
    served = ready["served"]
    service, carrier = _ON_ETHERNET.get(name, (name, None))
    target: Line = {"service": service, "share": served["share"]}
    if carrier is not None:
        target |= {"carrier": carrier, "ipx": _ipx(carrier), "link": {"interface": "left"}}
        target["server_name"] = "SOAKED"
    elif name == "small":
        target |= {"address": _SMALL_STACK, "port": 21}
    else:
        trust = "system" if served["trust_sha256"] is None else {"sha256": served["trust_sha256"]}
        target |= {"address": "127.0.0.1", "port": ready["ports"][0], "trust": trust}
    if name != "nfs":
        target["credentials"] = {"user": "me", "secret": _SECRET}
    return target


def _done(client: RawEngine, kind: str, spec: Line) -> Line:
    """The result of a request; one that is armed begins at once."""
    asked = client.send({"type": kind, "spec": spec})
    first = ("ready", "error") if kind == "metadata" else ("result", "error")
    line = client.wait(asked, *first, patience_s=_LONGEST_S)
    if line["type"] == "ready":
        start_together((client, asked), lead_ns=1_000_000_000)
        line = client.wait(asked, patience_s=_LONGEST_S)
    if line["type"] == "error":
        raise SystemExit(f"{kind}: {line}")
    result: Line = line["result"]
    return result


def _round(client: RawEngine, target: Line) -> int:
    """Requests of clients that log in, work on their names and remove them."""
    spec = {
        "service": target,
        "working_name": f"{secrets.token_hex(4)}.lab",
        "token": secrets.token_hex(16),
        "clients": _CLIENTS,
        "files": _FILES,
        "width": 5,
        "depth": 1,
        "longest_ns": _LONGEST_S * 10**9,
    }
    _done(client, "metadata_prepare", spec)
    phases = _done(client, "metadata", spec)["phases"]
    _done(client, "metadata_empty", spec)
    # Services whose client does not count requests have one or more in each operation.
    return sum(
        phase["exchanges"]["answered"] if phase["exchanges"] else phase["operations"]
        for phase in phases
    )


def _soaked(name: str, requests: int) -> int:
    """Bytes by which the server grew; prints a row."""
    with tempfile.TemporaryDirectory() as root, RawEngine() as server, RawEngine() as client:
        ready = server.wait(server.send(_served(name, root)), "ready", "error")
        if ready["type"] == "error":
            raise SystemExit(f"{name}: {ready}")
        target = _target(name, ready)
        return soaked(name, requests, server.process.pid, lambda: _round(client, target))


def _make_cable() -> None:
    """A pair of interfaces in this namespace, which has nothing else."""
    for argv in (
        ("link", "add", "left", "type", "veth", "peer", "name", "right"),
        ("link", "set", "left", "up"),
        ("link", "set", "right", "up"),
        ("link", "set", "lo", "up"),
        ("address", "add", "10.9.0.1/16", "dev", "left"),
    ):
        subprocess.run(["ip", *argv], check=True)


def main() -> int:
    """Print a row for each server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="to each server")
    parser.add_argument("names", nargs="*", default=_NAMES)
    asked = parser.parse_args()
    if not _ON_ETHERNET.keys().isdisjoint(asked.names):
        _make_cable()
    print(HEAD)
    grown = [_soaked(name, asked.requests) for name in asked.names]
    return 0 if max(grown) <= PROMISED_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
