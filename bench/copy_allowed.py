"""
What the counted frames of a copy allow, and how much of that was reached, from its record.

A record of the virtual LAN has the frames and bytes that each end sent while a copy was timed
(`setup.medium.sent`). Each frame takes its bytes, preamble (8) and gap (12) at the rate of the
link. No copy is faster than

- **all frames, one after another**, where two frames never overlap: on a bus or hub, and with one
  file at a time over IPX and NetWare, whose client sends nothing until the last reply is there;
- **the busier direction**, otherwise: acknowledgements and requests overlap with data.

    reached = that time / measured time

Nothing is added for programs, for waits, or for a switch that stores frames.

    lanlab copy 1x62300kB --service smb1+ipx --link 10M --trials 3
    python bench/copy_allowed.py last        # on a quiet machine
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from lanlab.errors import LabError
from lanlab.store import RunRecord, TrialRecord, open_store

#: Preamble with start delimiter, and the gap.
AROUND_BYTES = 8 + 12
#: Carriers with one message in flight, in either direction.
TAKE_TURNS = ("ipx", "ncp")
SHARED = ("bus", "hub")


def least_s(sent: Mapping[str, Mapping[str, int]], rate_bps: float, overlaps: bool) -> float:
    """Time of all frames on the wire, or of the busier direction if both overlap, seconds."""
    times = [8 * (end["bytes"] + AROUND_BYTES * end["frames"]) / rate_bps for end in sent.values()]
    return max(times) if overlaps else sum(times)


def line(run: RunRecord, trial: TrialRecord) -> str:
    """What a trial reached."""
    of = trial.parameters
    name = f"trial {trial.number + 1}, {of['service']} {of['dataset']} {of['direction']}"
    sent = ((trial.raw.get("setup") or {}).get("medium") or {}).get("sent")
    link = run.testbed.get("link_facts") or {}
    if trial.status != "done" or not sent or not link.get("rate_bps"):
        return f"{name}: no frames were counted"
    carrier = "ncp" if of["service"] == "ncp" else of.get("carrier")
    takes_turns = carrier in TAKE_TURNS and of["parallel_files"] == 1
    overlaps = not takes_turns and link["topology"] not in SHARED
    time_s, elapsed_s = least_s(sent, link["rate_bps"], overlaps), float(trial.metrics["elapsed_s"])
    allowed_mbps = 8e-6 * float(trial.metrics["copied_bytes"]) / time_s
    which = "the busier direction" if overlaps else "all, one after another"
    frames = sum(end["frames"] for end in sent.values())
    disturbed = ", disturbed" if trial.is_disturbed else ""
    return (
        f"{name}: {elapsed_s:.3f} s; {frames} frames, {which}: {time_s:.3f} s, "
        f"{allowed_mbps:.1f} Mbit/s; reached {time_s / elapsed_s:.1%}{disturbed}"
    )


def main() -> int:
    """Print a line for each trial of a copy."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n\n")[0])
    asked.add_argument("run", help="id of a run of copies on the virtual LAN, or `last`")
    asked.add_argument("--store", help="the store it is in; default: that of lanlab")
    options = asked.parse_args()
    try:
        with open_store(options.store) as records:
            run = records.run(options.run)
            trials = records.trials(run.id)
    except LabError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    for trial in trials:
        if trial.workload == "copy":
            print(line(run, trial), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
