"""
How far round trips and data explain the time of copies, at links of three rates.

    python bench/explained_time.py [--trials 3] [--links 10M,100M,1G] [--services smb,nfs,...]

Copies over the virtual LAN to the embedded servers. A row of Markdown for each service, link and
dataset: round trips, response time, measured time and explained share; means over the trials.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lanlab.report.copies.copy_text import explained_words

_SERVICES = "smb,nfs,sftp,ftp,webdav,s3"
#: Dataset and link: a trial takes about a second or two.
_DATASETS = {"10M": ("60x6kB", "1x1MB"), "100M": ("200x6kB", "1x10MB"), "1G": ("400x6kB", "1x60MB")}


def _trials(arguments: list[str], store: Path) -> list[dict[str, Any]]:
    lanlab = Path(sys.executable).with_name("lanlab")
    command = [str(lanlab), "copy", *arguments, "--json", "--store", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    from lanlab.store import open_store

    with open_store(str(store)) as records:
        run = max(records.runs(), key=lambda run: run.started_at)
        trials = [trial for trial in records.trials(run.id) if trial.status == "done"]
    return [{**trial.metrics, "service": trial.parameters["service"]} for trial in trials]


def main() -> int:
    """Print the rows; 1 if the explained share of one is not 90 to 110 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--links", default=",".join(_DATASETS))
    parser.add_argument("--services", default=_SERVICES)
    asked = parser.parse_args()
    shares: list[float] = []
    print("| link | files | direction | service | time of a file, explained | share, by trial |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place
        for link in asked.links.split(","):
            for dataset in _DATASETS[link]:
                for direction in ("upload", "download"):
                    way = ["--download"] if direction == "download" else []
                    services = ["--service", asked.services, "--trials", str(asked.trials)]
                    found = _trials([dataset, *way, "--link", link, *services], Path(place) / "s")
                    for service in asked.services.split(","):
                        own = [one for one in found if one["service"] == service]
                        mean = {
                            key: sum(one[key] for one in own) / len(own)
                            for key in own[0]
                            if key != "service" and all(key in one for one in own)
                        }
                        said = explained_words(mean, mean["copied_files"], mean["copied_bytes"])
                        each = [one.get("explained_ratio", 0.0) for one in own]
                        shares.append(1 - abs(1 - sum(each) / len(each)))
                        listed = ", ".join(f"{100 * one:.0f} %" for one in each)
                        row = (link, dataset, direction, service, said, listed)
                        print(f"| {' | '.join(row)} |", flush=True)
    below = sum(share < 0.9 for share in shares)
    print(f"\n{len(shares)} rows, {below} not within 90 to 110 %")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
