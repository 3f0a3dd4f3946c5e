"""
`lanlab nas` at stock servers again and again: its time and memory, and whether its order stays.

    sudo .venv/bin/python bench/nas_repeated.py [--runs 10] [--link 1G] [--usual]
    sudo .venv/bin/python bench/nas_repeated.py --runs 40 --twice

Samba, vsftpd, OpenSSH, nginx, NFS-Ganesha and lanlab's S3 server run on one host of a virtual LAN
and serve from memory; `lanlab nas HOST --quick --yes` runs on the other. An order is contradicted
if a run shows A to be faster than B, and another B than A. With `--twice` two shares of Samba are
one directory, so each difference that a run claims is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from copy_servers import started

from lanlab.testbeds import testbed
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers import Credentials
from lanlab.testbeds.servers.ganesha import EXPORT

#: `lanlab` with a plan of fewer bytes.
_SHORTER = (
    "import lanlab.nas.plan as plan; plan.QUICK = plan.Scale(7, {budget_s}); "
    "from lanlab.cli import main; main()"
)
_MEMORY = Path("/dev/shm")
_SAMPLE_S = 0.25
WHO = Credentials("lab", "Secret-1")
_SERVICES = ("smb", "sftp", "ftp", "webdav", "nfs", "s3")


@contextlib.contextmanager
def targets(
    host: Host, place: Path, services: Sequence[str]
) -> Iterator[tuple[list[str], list[str]]]:
    """URLs of the servers, which run as long as the context, with the options to trust them; and
    the options for their passwords.
    """
    address = host.addresses["ipv4"]
    with contextlib.ExitStack() as stack:
        urls: list[str] = []
        logins: list[str] = []
        trust: list[str] = []
        for service in services:
            root = place / service
            root.mkdir(exist_ok=True)
            who = None if service == "nfs" else WHO
            one = stack.enter_context(started(host, service, service == "s3", root, who))
            login = "" if who is None else f"{one.credentials.user}@" if one.credentials else ""
            port = "" if service == "nfs" else f":{one.port}"
            urls.append(f"{service}://{login}{address}{port}/{(one.share or '').lstrip('/')}")
            if one.credentials is not None and one.credentials.secret != WHO.secret:
                secret = place / f"secret-{service}"
                secret.touch(0o600)
                secret.write_text(one.credentials.secret)
                logins += ["--password-file", f"{service}={secret}"]
            if one.trust_sha256 is not None:
                trust += ["--trust", f"sha256:{one.trust_sha256}"]
            if service == "nfs":
                urls.append(f"nfs4://{address}:{one.port}{EXPORT}")
        yield urls + trust, logins


class _Memory(threading.Thread):
    """The most memory that a process and its descendants have had at once, each counted once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most_bytes, self.over = pid, 0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(_SAMPLE_S):
            self.most_bytes = max(self.most_bytes, sum(map(_used_bytes, _tree(self.pid))))


def _tree(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _used_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def _run(
    client: Host, words: list[str], budget_s: float, store: str
) -> tuple[dict[str, Any], float, int]:
    """The answer of a run, its time in seconds, and its memory in bytes."""
    began = time.monotonic()
    lanlab = [sys.executable, "-c", _SHORTER.format(budget_s=budget_s)]
    process = subprocess.Popen(
        [*client.command_prefix, *lanlab, "nas", *words, "--yes", "--json", "--store", store],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    memory = _Memory(process.pid)
    memory.start()
    answer, said = process.communicate()
    memory.over.set()
    memory.join()
    if process.returncode:
        sys.exit(f"lanlab nas: {process.returncode}: {said}")
    found = json.loads(answer)
    if found["left_out"]:
        sys.exit(f"lanlab nas: left out: {found['left_out']}")
    return found, time.monotonic() - began, memory.most_bytes


def _claims(answer: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Purpose, slower and faster target of each pair that is shown to differ."""
    return {
        (one["purpose"], str(ranked["level"]), str(other))
        for one in answer["purposes"]
        for group in one["groups"]
        for ranked in group
        for other in ranked["shown_behind"]
    }


def main() -> int:
    """Print a row for each run and what they agree on; 1 if they contradict each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--link", default="1G")
    parser.add_argument("--usual", action="store_true", help="not --quick")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--budget", type=float, default=120, help="seconds of all copies, --quick")
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="lanlab-nas-", dir=_MEMORY))
    place.chmod(0o755)
    os.environ |= {"LANLAB_CACHE": str(place / "cache"), "LANLAB_PASSWORD": WHO.secret}
    claims: list[set[tuple[str, str, str]]] = []
    try:
        with testbed("virtual", 2, asked.link) as bed:
            client, server = bed.hosts
            services = ("smb", "smb") if asked.twice else _SERVICES
            with targets(server, place, services) as (urls, logins):
                words = [str(server.addresses["ipv4"]), *urls, *logins]
                words += [] if asked.usual else ["--quick"]
                print("| run | time, s | memory, MB | pairs shown to differ | answer |")
                print("|---|---|---|---|---|")
                for number in range(1, asked.runs + 1):
                    answer, took_s, used = _run(
                        client, words, asked.budget, str(place / "store.sqlite")
                    )
                    claims.append(_claims(answer))
                    row = (number, f"{took_s:.0f}", f"{used / 1e6:.0f}", len(claims[-1]))
                    print(f"| {' | '.join(map(str, row))} | {answer['answer']} |", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if asked.twice:
        wrong = sum(map(bool, claims))
        print(f"\n{wrong} of {len(claims)} runs claim a difference that is not there")
        return 1 if wrong > 0.05 * len(claims) else 0
    seen = Counter(pair for one in claims for pair in one)
    against = {pair for pair in seen if (pair[0], pair[2], pair[1]) in seen}
    for purpose, slower, faster in sorted(against):
        times = seen[purpose, slower, faster]
        print(f"contradicted: {purpose}: {slower} slower than {faster} in {times} runs")
    usual = {pair for pair in seen if 2 * seen[pair] > len(claims)}
    same = sum(not any((p, f, s) in usual for p, s, f in one) for one in claims)
    print(f"\n{len(seen)} pairs shown; the order of {same} of {len(claims)} runs agrees with most")
    return 1 if same < 0.9 * len(claims) else 0


if __name__ == "__main__":
    sys.exit(main())
