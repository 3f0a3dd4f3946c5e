"""
All studies that have machines, by one command: fit, accuracy with what print alone makes of it,
what the fit leaves open, how often an interval holds a held-out value, and assumed numbers.

A study is copied into a temporary folder first, so that nothing of it changes; what a fit would
change is printed. Programs run one after another, each of which uses all processors.

    python bench/simulations.py                         # all studies
    python bench/simulations.py brutman-mtcp manford-kolahi
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lanlab.studies.load import load_study

_BENCH = Path(__file__).parent
#: Scales at which all is simulated that is compared with print, and options of single programs.
_SCALES = {"schomer-claason": "full"}
_ENSEMBLES = {"manford-kolahi": ("--metric", "goodput_bps")}
_SENSITIVITIES = {
    "manford-kolahi": ("--only", "r.abs."),
    "poo-tan": ("--only", "x."),
    "schomer-claason": ("--only", "t.w2ksp2.tcpip."),
}
#: Its costs stand on several machines and are fitted to one value each: no ensemble is drawn.
_WITHOUT_ENSEMBLE = ("poo-tan",)
STUDIES = ("milanovic-srbljic", "manford-kolahi", "schomer-claason", "brutman-mtcp", "poo-tan")


def commands(study: str, path: str) -> Iterator[list[str]]:
    """
    What is run for a study, in this order.

    Args:
        study: Its name.
        path: Its file.
    """
    scale = ("--scale", _SCALES.get(study, "quick"))
    # A fit ends with the accuracy of what it found.
    yield ["fit.py", path, *scale]
    if study not in _WITHOUT_ENSEMBLE:
        yield ["ensemble.py", path, *scale, "--check", *_ENSEMBLES.get(study, ())]
    yield ["sensitivity.py", path, *scale, *_SENSITIVITIES.get(study, ())]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    given = parser.parse_args()
    begin, failed = time.monotonic(), []
    for study in given.studies or STUDIES:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "study")
            shutil.copytree(load_study(study).path.parent, copy)
            for command in commands(study, str(copy / "study.toml")):
                shown = " ".join([command[0], study, *command[2:]])
                print(f"\n== bench/{shown}", flush=True)
                own = time.monotonic()
                done = subprocess.run([sys.executable, str(_BENCH / command[0]), *command[1:]])
                print(f"-- {time.monotonic() - own:.0f} s", flush=True)
                if done.returncode:
                    failed.append(shown)
    print(f"\nall: {time.monotonic() - begin:.0f} s" + "".join(f"; FAILED: {x}" for x in failed))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
