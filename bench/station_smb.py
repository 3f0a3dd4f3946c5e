"""
Stations beside smbtorture, at one Samba server.

`smb2.bench.echo` asks the server for nothing but an answer: it opens no file, so that it is
the most that a connection of SMB can do there. As it comes, Samba hands each read to a thread
beside the process of its client (`aio read size = 1`), which costs it more than the read: so it is
measured with reads in that process, too, where an echo is answered.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from station_trials import ends, median, trial

from lanlab.errors import LabError
from lanlab.testbeds import testbed
from lanlab.testbeds.servers import Credentials, RunningServer, start
from lanlab.testbeds.servers.samba import Samba
from lanlab.workloads.services.server_url import remember_password

_MEMORY = Path("/dev/shm")
_WHO = Credentials("lab", "Secret-1")
_STATIONS = (1, 15)
_SERVERS = {
    "as it comes": Samba(),
    "`aio read size = 0`": Samba("aio read size = 0", "aio write size = 0"),
}
#: So many connect, which is more than a server takes at the same moment.
_MANY = 300
_WITHIN_S = 60.0
#: What it says once a second and at its end, of the time since it began.
_RATE = re.compile(r"echo\[num/s=([0-9.]+)")


def measured(runs: int, time_s: float) -> Iterator[str]:
    """Reads of 750 octets and echoes in turns, then many stations: tables, by lines."""
    yield "## Beside smbtorture, at Samba"
    yield ""
    if shutil.which("smbtorture") is None:
        yield "Not installed: smbtorture (`apt install samba-testsuite`)."
        yield ""
        return
    conditions = [(kind, stations) for kind in _SERVERS for stations in _STATIONS]
    reads: dict[tuple[str, int], list[float]] = {each: [] for each in conditions}
    echoes: dict[tuple[str, int], list[float]] = {each: [] for each in conditions}
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=_MEMORY)), "served")
        root.mkdir()
        root.chmod(0o755)
        root.parent.chmod(0o755)
        host = stack.enter_context(testbed("loopback", 2)).hosts[0]
        servers = {
            kind: stack.enter_context(start(host, "smb", root, "127.0.0.1", _WHO, server=server))
            for kind, server in _SERVERS.items()
        }
        for _ in range(runs):
            for kind, stations in random.sample(conditions, len(conditions)):
                server = servers[kind]
                reads[kind, stations].append(_reads(server, stations, time_s)[0])
                echoes[kind, stations].append(_echoes(server, stations, time_s))
        version = server.version
        setup_errors, errors = _reads(servers["as it comes"], _MANY, time_s)[1:]
    yield f"{version}; reads of 750 octets and echoes, {time_s:g} s; medians of {runs}."
    yield ""
    yield "| Samba | stations | lanlab, reads/s | smbtorture, echoes/s | reads / echoes |"
    yield "|---|---|---|---|---|"
    for kind, stations in conditions:
        read, echo = median(reads[kind, stations]), median(echoes[kind, stations])
        ratios = sorted(
            a / b for a, b in zip(reads[kind, stations], echoes[kind, stations], strict=True)
        )
        yield (
            f"| {kind} | {stations} | {read:,.0f} | {echo:,.0f} | {median(ratios):.2f} "
            f"({ratios[0]:.2f} … {ratios[-1]:.2f}) |"
        )
    yield ""
    yield f"{_MANY} stations: {setup_errors:.0f} errors before the start, {errors:.0f} after."
    yield ""


def _reads(server: RunningServer, stations: int, time_s: float) -> tuple[float, float, float]:
    """Reads a second, errors before the start and after it."""
    url = f"smb://{_WHO.user}@127.0.0.1:{server.port}/{server.share}"
    remember_password(url, _WHO.secret)
    with ends() as both:
        metrics, _ = trial(
            both,
            server=url,
            stations=stations,
            message_size_bytes=750,
            file_size_bytes=75_000,
            time_s=time_s,
        )
    return float(metrics["operations_per_s"]), metrics["setup_errors"], metrics["errors"]


def _echoes(server: RunningServer, stations: int, time_s: float) -> float:
    """Echoes a second of all connections, one under way on each."""
    with tempfile.NamedTemporaryFile("w", suffix=".authentication") as who:
        # Its command line is for everybody to read.
        who.write(f"username = {_WHO.user}\npassword = {_WHO.secret}\n")
        who.flush()
        command = ["smbtorture", f"//127.0.0.1/{server.share}", "smb2.bench.echo", "-A", who.name]
        command += ["-p", str(server.port), f"--option=torture:nprocs={stations}"]
        command += [f"--option=torture:timelimit={max(1, round(time_s))}"]
        command += ["--option=torture:qdepth=1"]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_WITHIN_S
        )
    rates = _RATE.findall(done.stdout + done.stderr)
    if done.returncode or not rates:
        said = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise LabError(f"smbtorture: {said[0] if said else 'said nothing'}")
    return float(rates[-1])
