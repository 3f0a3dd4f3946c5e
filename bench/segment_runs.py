"""
Whether runs with segmentation come to one rate or to two.

    .venv/bin/python bench/segment_runs.py > segment-runs.md

Each run is a command of its own, with engines that try anew how to receive. With lanlab's room for
joined datagrams and with the system's usual one, in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_USUAL = Path("/proc/sys/net/core/rmem_default")
_WITHIN_S = 60.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs of `lanlab stream --io segment`.")
    parser.add_argument("--runs", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--time", type=float, default=1.0, help="of a run, seconds (1)")
    parser.add_argument("--size", default="1408")
    parser.add_argument("--testbed", default="virtual", choices=("loopback", "virtual"))
    return parser.parse_args()


def _run(asked: argparse.Namespace, store: str, more: list[str]) -> dict[str, Any]:
    """What one command told of its trial."""
    command = [str(Path(sys.executable).with_name("lanlab")), "stream", "--io", "segment", "--json"]
    command += ["--size", asked.size, "--time", str(asked.time), "--testbed", asked.testbed]
    done = subprocess.run(
        [*command, "--store", store, *more],
        check=True,
        capture_output=True,
        text=True,
        timeout=_WITHIN_S + asked.time,
    )
    told: dict[str, Any] = json.loads(done.stdout)["trials"][0]
    return told


def main() -> int:
    """Print every run, then the spread of each kind."""
    asked = _arguments()
    # Linux doubles what it is asked for (socket(7)).
    usual = str(int(_USUAL.read_text()) // 2)
    kinds = {"lanlab's room": [], "the system's": ["--receive-buffer", usual]}
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    print(f"# Segmentation, {asked.size} bytes, {asked.testbed}\n")
    print("| room | received, 1000 messages/s | of what was sent | receive | one way p99 |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.runs):
            for kind, more in kinds.items():
                told = _run(asked, str(Path(folder, "store.sqlite")), more)
                rates[kind].append(told["received_messages_per_s"] / 1e3)
                cells = [f"{rates[kind][-1]:.0f}", f"{told['received_ratio']:.3f}"]
                cells += [told["modes"]["receive"], f"{told['one_way_delay_p99_ns'] / 1e3:.0f} µs"]
                print(f"| {kind} | {' | '.join(cells)} |", flush=True)
    print()
    for kind, found in rates.items():
        middle = statistics.median(found)
        below = sum(rate < middle / 2 for rate in found)
        print(f"{kind}: median {middle:.0f}, {min(found):.0f} … {max(found):.0f}; ", end="")
        print(f"{below} of {len(found)} below half of the median")
    return 0


if __name__ == "__main__":
    sys.exit(main())
