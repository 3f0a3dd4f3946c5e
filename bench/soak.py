"""
Run mixed conditions for a stated time, and say whether anything grows.

    .venv/bin/python bench/soak.py --time 600

Conditions are drawn from a seed: `stream` and `echo`, UDP and TCP, IPv4 and IPv6, 1 to
60,000 bytes, 1 to 200 flows, every way to send and to receive, paced and not, some of them refused
by the engine. Now and then an engine is killed, a peer is dead for a while, or the link loses. All
trials go one after another through the same engines into one store, by what `lanlab run` uses.
After each one it is noted what lanlab and both engines hold and how long the commit took; at the
end `soak_growth.py` judges it. Exit code 1 if something grew.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import random
import sys
import tempfile
from pathlib import Path

from soak_run import Soaked, soak

from lanlab import __version__
from lanlab.errors import LabError, UsageError

_LONGEST_S = 7 * 86_400


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mixed conditions for a time: does anything grow?")
    parser.add_argument("--time", type=float, default=600, metavar="S", help="seconds (600)")
    parser.add_argument("--trials", type=int, metavar="N", help="end after so many, if in time")
    parser.add_argument("--testbed", choices=("virtual", "loopback"), default="virtual")
    parser.add_argument("--link", help="as `lanlab run` takes it; virtual: 100M+tbf")
    parser.add_argument("--store", metavar="FILE", help="keeps the trials; else they are removed")
    parser.add_argument("--seed", type=int, help="of conditions and faults; drawn if not given")
    parser.add_argument("--json", metavar="FILE", help="every sample and judgement, for programs")
    asked = parser.parse_args()
    if not 1 <= asked.time <= _LONGEST_S:
        parser.error(f"--time: found {asked.time:g}; allowed: 1 to {_LONGEST_S} s")
    if asked.trials is not None and asked.trials < 1:
        parser.error(f"--trials: found {asked.trials}; allowed: 1 or more")
    if asked.link is None:
        asked.link = "unshaped" if asked.testbed == "loopback" else "100M+tbf"
    if asked.seed is None:
        asked.seed = random.SystemRandom().randrange(2**32)
    return asked


def _soak(asked: argparse.Namespace, store: str) -> Soaked:
    return soak(
        time_s=asked.time,
        most_trials=asked.trials,
        testbed=asked.testbed,
        link=asked.link,
        seed=asked.seed,
        store=store,
    )


def main() -> int:
    """Soak, and print what was found."""
    asked = _arguments()
    print(
        f"soak: lanlab {__version__}, testbed {asked.testbed}, link {asked.link}, "
        f"{asked.time:g} s, seed {asked.seed}, {platform.system()} {platform.release()}",
        flush=True,
    )
    try:
        if asked.store:
            soaked = _soak(asked, asked.store)
        else:
            with tempfile.TemporaryDirectory(prefix="lanlab-soak-store-") as folder:
                soaked = _soak(asked, str(Path(folder, "store.sqlite")))
    except LabError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    # Not before: what judges is larger than what is judged, and stays out of its memory.
    from soak_verdict import commits, judge, last_sentence, outcomes, table

    judged = judge(soaked.samples)
    print("", "trials", *outcomes(soaked.samples), "", *table(judged), "", sep="\n")
    print(commits(soaked.samples))
    if asked.json:
        text = json.dumps(
            {
                "asked": vars(asked),
                "judged": [dataclasses.asdict(line) for line in judged],
                "samples": [dataclasses.asdict(sample) for sample in soaked.samples],
            },
            indent=1,
        )
        Path(asked.json).write_text(text + "\n")
    for line in judged:
        if line.finding:
            print(f"found: {line.finding}")
    print(last_sentence(soaked.samples, judged))
    return 1 if any(line.finding for line in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
