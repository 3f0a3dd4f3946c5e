"""
Measure `lanlab copy` and the clients that people use, against the same real servers, in one run.

    .venv/bin/python bench/copy_clients.py > copy-clients.md

Each service has one real server that lanlab starts (`lanlab.testbeds.servers`), or with
`--servers` also lanlab's own, on loopback or on the two hosts of a virtual LAN, unshaped without
`--link`, which NFS-Ganesha needs; files are in memory (tmpfs) at both sides. One block has every
cell of every client once, in random order; there are as many blocks as `--runs`. A trial is a new
directory at the server, memory made ready for the copy, the copy, and a comparison octet by octet,
which is not timed. Over SFTP OpenSSH's client is told to take the cipher that lanlab takes; what
it does by itself is a client of its own in the tables. The time of a client is that of its process,
login included; that of lanlab is from its first connection to the last close.
Clients that are not found are named.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from copy_peers import PEERS as OWN_TOOLS
from copy_peers import Copying, Peer, dataset_files, lanlab_copy, same_content
from copy_rclone import Rclone
from copy_servers import Server, started
from copy_tables import OWN, Trial, tables
from peer_tables import median

from lanlab import __version__
from lanlab.engine.locate import engine_path
from lanlab.engine.process import Engine
from lanlab.errors import LabError
from lanlab.testbeds import testbed
from lanlab.testbeds.servers import Credentials
from lanlab.workloads.copy.datasets import NAMED

_MEMORY = Path("/dev/shm")
_WHO = Credentials("lab", "Secret-1")
_SERVICES = ("ftp", "sftp", "webdav", "smb", "smb1", "s3", "nfs")
#: Without a real server that lanlab starts: S3 is spoken to lanlab's own alone.
_ONLY_EMBEDDED = ("s3",)
PEERS: tuple[Peer, ...] = (*OWN_TOOLS, Rclone())
#: Of lanlab: files at once.
_STREAMS = (1, 4)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="lanlab copy beside the clients people use.")
    parser.add_argument(
        "--services", default="ftp,sftp,webdav,smb,s3", help="of " + ", ".join(_SERVICES)
    )
    parser.add_argument("--testbed", default="loopback", choices=("loopback", "virtual"))
    parser.add_argument("--link", default="unshaped", help="of the virtual LAN, e.g. 100M")
    parser.add_argument(
        "--servers", default="real", help="real, embedded or both, with a comma between"
    )
    parser.add_argument("--datasets", default="schomer-large,schomer-many,many-small")
    parser.add_argument("--directions", default="upload,download")
    parser.add_argument("--clients", default=None, help="only these, by name; `lanlab` is one")
    parser.add_argument("--runs", type=int, default=7, help="how often each (7)")
    parser.add_argument("--seed", type=int, default=None, help="of the order; drawn if not given")
    parser.add_argument("--json", metavar="FILE", help="every trial, for programs")
    asked = parser.parse_args()
    known = {
        "services": _SERVICES,
        "servers": ("real", "embedded"),
        "datasets": (),
        "directions": ("upload", "download"),
    }
    for name, allowed in known.items():
        setattr(asked, name, getattr(asked, name).split(","))
        for each in getattr(asked, name):
            if allowed and each not in allowed:
                parser.error(f"--{name}: found `{each}`; allowed: {', '.join(allowed)}")
    if asked.seed is None:
        asked.seed = random.SystemRandom().randrange(2**32)
    return asked


@contextlib.contextmanager
def _folder(prefix: str) -> Iterator[Path]:
    """A folder in memory that the server's user can reach."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=_MEMORY))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _places(asked: argparse.Namespace) -> Iterator[tuple[str, str, bool]]:
    """Of each server a name for the tables, its service, and whether it is lanlab's own."""
    for service in asked.services:
        if "real" in asked.servers and service not in _ONLY_EMBEDDED:
            yield service, service, False
        if "embedded" in asked.servers or service in _ONLY_EMBEDDED:
            yield service + OWN, service, True


def _clients(service: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Who takes part for a service: label to what copies."""
    found: dict[str, Any] = {}
    wanted = None if asked.clients is None else asked.clients.split(",")
    for streams in _STREAMS:
        if wanted is None or "lanlab" in wanted:
            found[f"lanlab {streams}"] = lambda copying, n=streams: lanlab_copy(copying, n)
    for peer in PEERS:
        if service in peer.services and (wanted is None or peer.program in wanted):
            for streams in peer.streams:
                if peer.path() is not None:
                    label = f"{peer.name} {streams}"
                    found[label] = lambda copying, p=peer, n=streams: p.copy(copying, n)
    return found


def _trial(copying: Copying, copy: Any, label: str, record: dict[str, Any]) -> Trial | None:
    """One copy, compared; `None` if it failed, with why in the record."""
    place = copying.prepare()
    # Who comes first shall not wait for memory that a virtual machine's host must give it.
    size = copying.octets + 4096 * copying.files
    command = [engine_path(), "touch-memory", str(size), str(place)]
    subprocess.run(command, check=True, timeout=120)
    cpu_before = copying.server.cpu_s()
    try:
        elapsed_s = copy(copying)
        record["server_cpu_s"] = copying.server.cpu_s() - cpu_before
        if not label.startswith("lanlab") and not same_content(copying.source, place):
            raise LabError("what arrived is not what was sent")
    except LabError as error:
        record["error"] = error.message
        return None
    finally:
        copying.empty()
    record["elapsed_s"] = elapsed_s
    record["agreed"] = copying.agreed
    return Trial(
        record["block"],
        record["service"],
        record["dataset"],
        copying.direction,
        label,
        copying.octets,
        copying.files,
        elapsed_s,
    )


def _measure(asked: argparse.Namespace, log: list[Any], versions: dict[str, str]) -> list[Trial]:
    order = random.Random(asked.seed)
    done: list[Trial] = []
    with contextlib.ExitStack() as stack:
        bed = stack.enter_context(testbed(asked.testbed, 2, asked.link))
        client = bed.hosts[0]
        command = [*client.command_prefix, engine_path()]
        engine = stack.enter_context(Engine(client.name, command))
        datasets = stack.enter_context(_folder("lanlab-datasets-"))
        for name in asked.datasets:
            dataset_files(engine, name, datasets / name)
        servers: dict[str, tuple[Server, Path]] = {}
        for label, service, is_embedded in _places(asked):
            root = stack.enter_context(_folder("lanlab-served-")) / "root"
            root.mkdir()
            who = None if service == "nfs" else _WHO
            begun = started(bed.hosts[1], service, is_embedded, root, who)
            servers[label] = stack.enter_context(begun), root
            versions[label] = f"{servers[label][0].name}: {servers[label][0].version}"
        scratch = stack.enter_context(_folder("lanlab-client-"))
        tasks = [
            (place, dataset, direction, label, copy)
            for place, (server, _) in servers.items()
            for dataset in asked.datasets
            for direction in asked.directions
            for label, copy in _clients(server.service, asked).items()
            if not (label.endswith(" 4") and dataset == "schomer-large")
        ]
        for block in range(asked.runs):
            for place, dataset, direction, label, copy in order.sample(tasks, len(tasks)):
                server, root = servers[place]
                source = datasets / dataset
                copying = Copying(client, engine, server, root, source, direction, scratch)
                record: dict[str, Any] = {
                    "block": block,
                    "service": place,
                    "dataset": dataset,
                    "direction": direction,
                    "label": label,
                    "load": os.getloadavg()[0],
                }
                trial = _trial(copying, copy, label, record)
                if trial is not None:
                    done.append(trial)
                log.append(record)
                said = record.get("error") or f"{record['elapsed_s']:.3f} s"
                where = f"{len(log)}/{asked.runs * len(tasks)} {place} {dataset} {direction}"
                print(f"{where} {label}: {said}", file=sys.stderr, flush=True)
    return done


def main() -> int:
    """Print the tables."""
    asked = _arguments()
    log: list[Any] = []
    versions: dict[str, str] = {}
    trials = _measure(asked, log, versions)
    if asked.json:
        settings = {key: value for key, value in vars(asked).items() if key != "json"}
        text = json.dumps({"asked": settings, "servers": versions, "trials": log})
        Path(asked.json).write_text(text + "\n")
    print("# lanlab copy and the clients people use\n")
    print(f"    {shlex.join(['python', *sys.argv])}   # seed {asked.seed}\n")
    print(f"{datetime.datetime.now(datetime.UTC).date()}, Linux {platform.release()}, ", end="")
    loads = [record["load"] for record in log]
    print(f"{os.cpu_count()} processors; load before each trial: ", end="")
    print(f"median {median(loads):.2f}, greatest {max(loads):.2f}. {asked.runs} runs of each.\n")
    print(f"lanlab {__version__}; files at once: the number behind a client.\n")
    for name in asked.datasets:
        print(f"- `{name}`: {NAMED[name][0] if name in NAMED else name}")
    print("\n| service | server |\n|---|---|")
    for service, version in versions.items():
        print(f"| {service} | {version} |")
    print("\n| service | lanlab agreed on |\n|---|---|")
    agreed = {(record["service"], record["agreed"]) for record in log if record.get("agreed")}
    for service, words in sorted(agreed):
        print(f"| {service} | {words} |")
    print("\n| client | version |\n|---|---|")
    for peer in PEERS:
        print(f"| {peer.name} | {peer.version()} |")
    for line in tables(trials):
        print(line)
    failed = [record for record in log if "error" in record]
    if failed:
        print(f"\n{len(failed)} of {len(log)} trials failed:\n")
        for record in failed:
            where = f"{record['service']}, {record['dataset']}, {record['direction']}"
            print(f"- {where}, {record['label']}: {record['error']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
