"""
Count false stalls: copies that fill their link must show none.

Each service copies one file of half a second at every rate, up and down; a stall is a wait for a
timer, and nothing here waits for one.

    python bench/false_stalls.py               # 200 copies, writes bench/results
    python bench/false_stalls.py --trials 1    # 40 copies
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

RATES_BPS = {"10M": 10e6, "25M": 25e6, "50M": 50e6, "100M": 100e6, "1G": 1e9}
SERVICES = ("ftp", "webdav", "smb", "sftp")
#: Length of a copy, by the link's rate.
COPY_S = 0.5
#: Share of the time below which reports omit stalls.
SAID_RATIO = 0.02


def copies(
    service: str, link: str, way: str, trials: int, store: Path
) -> list[tuple[float, float]]:
    """The goodput of each copy, bit/s, and the share of its time in stalls."""
    size = round(RATES_BPS[link] / 8 * COPY_S / 1000)
    lanlab = Path(sys.executable).with_name("lanlab")
    command = [str(lanlab), "copy", f"1x{size}kB", "--service", service, "--link", link]
    command += ["--trials", str(trials), "--json", "--store", str(store)]
    command += ["--download"] if way == "download" else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(done.stdout)
    return [(one["goodput_bps"], one["stall_ratio"]) for one in found["trials"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5, help="copies of each kind")
    given = parser.parse_args()
    lines = [
        "| service | link | way | copies | least goodput | in stalls |",
        "|---|---|---|---|---|---|",
    ]
    total = false = 0
    with tempfile.TemporaryDirectory() as folder:
        kinds = itertools.product(RATES_BPS, SERVICES, ("upload", "download"))
        for link, service, way in kinds:
            own = copies(service, link, way, given.trials, Path(folder, "store.sqlite"))
            stalled = sum(ratio >= SAID_RATIO for _, ratio in own)
            total, false = total + len(own), false + stalled
            least = min(goodput for goodput, _ in own) / 1e6
            lines.append(
                f"| {service} | {link} | {way} | {len(own)} | {least:.1f} Mbit/s | {stalled} |"
            )
            print(lines[-1], flush=True)
    said = f"{total} copies, {false} with stalls (at least {SAID_RATIO:.0%} of their time)."
    print(said)
    out = Path(__file__).parent / "results" / f"{date.today():%Y-%m-%d}-false-stalls.md"
    text = "\n".join(["# False stalls in copies", "", said, "", *lines, ""])
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
