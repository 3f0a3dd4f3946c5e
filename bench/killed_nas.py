"""
`lanlab nas` killed at random moments: what stays at the servers, and what `lanlab doctor` removes.

    python bench/killed_nas.py [--kills 20] [--seed 1] [--longest 20]

Each time `lanlab nas` measures stock Samba, OpenSSH, vsftpd and nginx, and lanlab's S3 server, and
is killed by SIGKILL after 0 to --longest seconds. Everything in the served directories is then
compared with what `lanlab doctor` names, and `lanlab doctor --remove` must leave them as they were.
Exits with 1 if it does not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nas_repeated import WHO, targets

from lanlab.testbeds.registry import testbed

_HOST = "127.0.0.1"
_SERVICES = ("smb", "sftp", "ftp", "webdav", "s3")
_LANLAB = str(Path(sys.executable).with_name("lanlab"))


def _doctor(*options: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [_LANLAB, "doctor", _HOST, "--json", *options], capture_output=True, text=True, check=False
    )
    left = json.loads(done.stdout)["left"] if done.stdout else []
    return done.returncode, [one["folder"].rpartition("/")[2] for one in left]


def _killed(words: list[str], after_s: float, place: str) -> None:
    command = [
        _LANLAB,
        "nas",
        _HOST,
        *words,
        "--quick",
        "--yes",
        "--store",
        f"{place}/store.sqlite",
    ]
    with Path(place, "said").open("w") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        time.sleep(after_s)
        if process.poll() is not None:
            sys.exit(f"it ended by itself: {Path(place, 'said').read_text()}")
        process.send_signal(signal.SIGKILL)
        process.wait()
    # Its engines end when their input does.
    time.sleep(2)


def main() -> int:
    """Print a row for each kill; 1 if something was left that doctor did not name or remove."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=20.0)
    asked = parser.parse_args()
    moments = random.Random(asked.seed)
    wrong = 0
    print("| kill | after | left at the servers | named by doctor | after removal |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir="/tmp") as place, testbed("loopback", 2) as bed:
        os.environ |= {"LANLAB_CACHE": f"{place}/cache", "LANLAB_PASSWORD": WHO.secret}
        Path(place).chmod(0o755)
        roots = [Path(place, name) for name in _SERVICES]
        with targets(bed.hosts[1], Path(place), _SERVICES) as (urls, login):
            for number in range(1, asked.kills + 1):
                after_s = moments.uniform(0, asked.longest)
                _killed([*urls, *login], after_s, place)
                left = sorted(path.name for root in roots for path in root.iterdir())
                _, named = _doctor()
                code, _ = _doctor("--remove", *login)
                stays = sorted(path.name for root in roots for path in root.iterdir())
                is_right = set(left) <= set(named) and not stays and code == 0
                wrong += not is_right
                row = (number, f"{after_s:.1f} s", ", ".join(left) or "nothing")
                told = ", ".join(named) or "nothing"
                end = "nothing" if is_right else f"WRONG: {stays}, code {code}"
                print(f"| {' | '.join(map(str, (*row, told, end)))} |", flush=True)
    print(f"\n{asked.kills} kills, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
