"""
`lanlab load` beside flent and netperf over one and the same virtual link.

    .venv/bin/python bench/load_flent.py --blocks 8 > load-flent.md
    .venv/bin/python bench/load_flent.py --blocks 8 --load both > load-flent-both.md

In each block, in random order: lanlab's echo alone, the same beside lanlab's TCP streams, and
flent: `tcp_nup` for streams up, `rrul_be` for four streams each way. flent pings alone first and
beside its streams (netperf's) then. A request and flent's ping have the same length on the wire;
both count the same part of the streams' time, as TCP's queue depends on it. Beside lanlab's trials
a ping runs as well: it sees lanlab's own streams, so that the echo is judged apart from them. The
tables have by how much the median round trip grows; the exit code says whether, for flent and for
that ping, zero lies within the 95 % interval of the difference, paired by block, or the difference
is below one frame's time.

It takes `flent`, `fping`, `netperf` and `netserver`, and says how to get what is missing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from load_judge import WARMUP_S, Seen, in_blocks, judge, lanlab_trial, ping, seen_of

from lanlab.engine import Engine
from lanlab.testbeds.base import Testbed
from lanlab.workloads import Progress

#: How the second table names what pings beside lanlab.
_BESIDE = "ping beside lanlab"
#: A trial that has not begun by then fails by itself.
_SETUP_S = 60.0
_TESTS = {"up": "tcp_nup", "both": "rrul_be"}
_FROM_DEBIAN = "apt install --no-install-recommends flent fping"
_FROM_SOURCE = """\
apt install autoconf automake gcc make git texinfo
git clone https://github.com/HewlettPackard/netperf && cd netperf
./autogen.sh && ./configure --enable-demo CFLAGS="-O2 -fcommon" && make && make install"""
_HOW_TO_GET = {
    "flent": _FROM_DEBIAN,
    "fping": _FROM_DEBIAN,
    "netperf": _FROM_SOURCE,
    "netserver": _FROM_SOURCE,
}
_PING = "Ping (ms) ICMP"
#: Payload of fping's echo request; ICMP's header is as long as that of UDP.
_ECHO_BYTES = 56
#: What netperf hands over at once where it is not told.
_MESSAGE_BYTES = 16_384
_STEP_S = 0.05
#: Seconds in which flent pings alone, before its streams and after them.
_ALONE_S = 3
#: A ping on its way at the edge of a part is of neither.
_EDGE_S = 0.2


def main() -> int:
    """Measure, print a table, and judge."""
    asked = _arguments()
    missing = [name for name in _HOW_TO_GET if shutil.which(name) is None]
    if missing:
        print(f"needs {', '.join(missing)}, not found on PATH. To get it:", file=sys.stderr)
        for how in dict.fromkeys(_HOW_TO_GET[name] for name in missing):
            print(how, file=sys.stderr)
        return 2
    ways = ("none", asked.load, "flent")
    seen = in_blocks(asked, ways, lambda way, *where: _measured(way, *where, asked))
    heading = (
        f"Link {asked.link}, TCP with {asked.congestion_control}, {asked.flows} streams "
        f"{'each way' if asked.load == 'both' else 'up'}, {asked.blocks} blocks."
    )
    verdicts = [judge(seen, _peer(asked), heading, asked.link)]
    print()
    about = "The same trials of lanlab, by its echo and by a ping that ran beside it."
    verdicts.append(judge(seen, _BESIDE, about, asked.link))
    return max(verdicts)


def _peer(asked: argparse.Namespace) -> str:
    return f"flent {_TESTS[asked.load]}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="lanlab load beside flent and netperf.")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--link", default="10M:cable+tbf")
    parser.add_argument("--load", choices=tuple(_TESTS), default="up")
    parser.add_argument("--congestion-control", default="cubic")
    parser.add_argument("--flows", type=int, default=4, help="up; rrul_be has four each way")
    parser.add_argument("--time", type=int, default=5, help="of each trial, whole seconds")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.time < 2:
        parser.error(f"--time: found {asked.time}; allowed: 2 or more")
    if asked.blocks < 2:
        parser.error(f"--blocks: found {asked.blocks}; allowed: 2 or more, for an interval")
    if asked.load == "both" and asked.flows != 4:
        parser.error(f"--flows: found {asked.flows}; allowed with --load both: 4, as rrul_be has")
    asked.transport = "tcp"
    return asked


def _measured(
    way: str, bed: Testbed, engines: list[Engine], asked: argparse.Namespace
) -> dict[str, Seen]:
    """What one trial saw, by the names that `judge` knows."""
    if way != "flent":
        sizes = {"message_size_bytes": _MESSAGE_BYTES, "echo_size_bytes": _ECHO_BYTES}
        found, beside = _with_ping(bed, engines, asked, way, sizes)
        part = "alone" if way == "none" else "loaded"
        # What the streams carried is counted once.
        beside = replace(beside, goodput_mbps=found.goodput_mbps)
        return {f"lanlab {part}": found, f"{_BESIDE} {part}": beside}
    alone, loaded = flent_trial(bed, asked)
    return {f"{_peer(asked)} alone": alone, f"{_peer(asked)} loaded": loaded}


def _with_ping(
    bed: Testbed,
    engines: list[Engine],
    asked: argparse.Namespace,
    load: str,
    sizes: Mapping[str, int],
) -> tuple[Seen, Seen]:
    """A trial of lanlab, and a ping in the time in which its requests count."""
    counts = threading.Event()

    def told(now: Progress) -> None:
        if now.elapsed_s >= WARMUP_S:
            counts.set()

    def beside() -> Seen:
        counts.wait(_SETUP_S)
        return ping(bed, asked.time - 1, _ECHO_BYTES)

    with ThreadPoolExecutor(1) as pool:
        pinged = pool.submit(beside)
        found = lanlab_trial(bed, engines, asked, load, told, **sizes)
        return found, pinged.result()


def flent_trial(bed: Testbed, asked: argparse.Namespace) -> tuple[Seen, Seen]:
    """
    One test of flent: its pings alone, and beside the streams.

    Raises:
        SystemExit: flent or netserver failed, or left no data.
    """
    first, second = bed.hosts
    # Not a daemon, so that what is started is what is ended.
    server = subprocess.Popen(
        [*second.command_prefix, "netserver", "-D", "-4"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with tempfile.TemporaryDirectory(prefix="lanlab-flent-") as folder:
            length = str(math.ceil(WARMUP_S) + asked.time + 1)
            command = ["flent", _TESTS[asked.load], "-4", "-H", second.addresses["ipv4"]]
            command += ["-l", length, "-d", str(_ALONE_S), "-s", str(_STEP_S), "-D", folder]
            command += ["--test-parameter", f"tcp_cong_control={asked.congestion_control}"]
            if asked.load == "up":
                command += ["--test-parameter", f"upload_streams={asked.flows}"]
            done = subprocess.run(
                [*first.command_prefix, *command],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=60 + 4 * asked.time,
                check=False,
            )
            files = list(Path(folder).glob("*.flent.gz"))
            if done.returncode or len(files) != 1 or server.poll() is not None:
                raise SystemExit(f"flent: {done.stdout}{done.stderr}")
            with gzip.open(files[0], "rt", encoding="utf-8") as told:
                return parts_of(json.load(told), asked.time)
    finally:
        server.terminate()
        server.communicate()


def parts_of(told: Mapping[str, Any], time_s: float) -> tuple[Seen, Seen]:
    """
    The pings of a data file of flent before its streams, and beside them after the warm-up.

    Args:
        told: The file's content.
        time_s: How long pings beside the streams count.

    Raises:
        SystemExit: There are no pings or no streams in it.
    """
    raw = told["raw_values"]
    pings = [(one["t"], one["val"]) for one in raw.get(_PING, ()) if one.get("val") is not None]
    streams = [values for name, values in raw.items() if name.startswith("TCP ") and values]
    if not pings or not streams:
        raise SystemExit(f"flent left no pings or no streams; it has {', '.join(sorted(raw))}")
    began = min(one["t"] - one["dur"] for values in streams for one in values)
    low, high = began + WARMUP_S, began + WARMUP_S + time_s
    # A time stamp is that of the reply.
    sent = [(t - ms / 1e3, t, ms) for t, ms in pings]
    alone = [ms for _, came, ms in sent if came < began - _EDGE_S]
    loaded = [ms for left, _, ms in sent if low <= left < high]
    if not alone or not loaded:
        raise SystemExit(f"flent left {len(alone)} pings alone and {len(loaded)} beside streams")
    goodput = sum(_mean_mbps(values, low, high) for values in streams)
    return seen_of(alone), seen_of(loaded, goodput)


def _mean_mbps(values: Sequence[Mapping[str, float]], low: float, high: float) -> float:
    """What one stream carried in a part of the time, by netperf's own word at its sender."""
    within = [
        (max(0.0, min(one["t"], high) - max(one["t"] - one["dur"], low)), one["val"])
        for one in values
    ]
    total = math.fsum(share for share, _ in within)
    return math.fsum(share * mbps for share, mbps in within) / total if total else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
