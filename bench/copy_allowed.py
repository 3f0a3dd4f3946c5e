"""
What the frames that were counted in a copy, and its protocol's own waits, allow, and how much of
that was reached: from one record.

A record of the virtual LAN has the frames and bytes that each end sent while a copy was timed
(`setup.medium.sent`). Each frame takes its bytes, preamble (8) and gap (12) at the rate of the
link. How long a protocol waits by itself (a request for the reply before it, an acknowledgement
that is delayed) follows from its own code: the same copy between two simulated machines that
compute in no time, over the same link. So

    waits   = time of that copy - time of its frames
    allowed = time of the counted frames + waits
    reached = allowed / measured time

Frames of both directions are added up; where they overlap, `waits` is negative by as much. With
over 100 % the real copy waited less than the simulated one, as a kernel's TCP may.

    lanlab copy 1x62300kB --service smb1+ipx --link 10M --trials 3
    python bench/copy_allowed.py last        # on a quiet machine
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from lanlab.engine import Engine, engine_path
from lanlab.errors import LabError
from lanlab.performers import SimulatedTrial
from lanlab.performers.simulated import simulate_request
from lanlab.store import RunRecord, TrialRecord, open_store
from lanlab.testbeds.worlds import Worlds
from lanlab.workloads import workload

#: Preamble with start delimiter, and the gap.
AROUND_BYTES = 8 + 12


def wire_s(sent: Mapping[str, Mapping[str, int]], rate_bps: float) -> float:
    """Time of all frames on the wire, one after another, seconds."""
    octets = sum(end["bytes"] + AROUND_BYTES * end["frames"] for end in sent.values())
    return 8 * octets / rate_bps


def ideal(worlds: Worlds, run: RunRecord, trial: TrialRecord) -> dict[str, Any]:
    """The same copy between machines that compute in no time: the world's result."""
    kind = workload("copy")
    parameters = kind.Parameters.model_validate({**trial.parameters, "medium": "memory"})
    # What does not cost is 0; a TCP of today holds nothing back.
    machine = {"tcp": {"nagle": False}}
    link = str(run.testbed["link"])
    asked = SimulatedTrial(("client", "server"), (machine, machine), link, seed=1)
    request = simulate_request(kind, parameters, asked)
    request["work"]["profile"] = (
        "lanlab"  # Real copies wait as this profile does, not as Windows NT.
    )
    return worlds.result(request)


def line(worlds: Worlds, run: RunRecord, trial: TrialRecord) -> str:
    """What a trial reached."""
    name = f"trial {trial.number + 1}, {trial.parameters['service']} {trial.parameters['dataset']}"
    sent = ((trial.raw.get("setup") or {}).get("medium") or {}).get("sent")
    rate_bps = (run.testbed.get("link_facts") or {}).get("rate_bps")
    if trial.status != "done" or not sent or not rate_bps:
        return f"{name}: no frames were counted"
    world = ideal(worlds, run, trial)
    alike = dict(zip(("client", "server"), world["world"]["timed"], strict=True))
    waits_s = world["outcomes"][0]["elapsed_ns"] / 1e9 - wire_s(alike, rate_bps)
    counted_s, elapsed_s = wire_s(sent, rate_bps), float(trial.metrics["elapsed_s"])
    frames = [sum(end["frames"] for end in of.values()) for of in (sent, alike)]
    disturbed = ", disturbed" if trial.is_disturbed else ""
    return (
        f"{name}: {elapsed_s:.3f} s; frames {counted_s:.3f} s ({frames[0]} of them, simulated "
        f"{frames[1]}), waits {waits_s:+.3f} s, reached {(counted_s + waits_s) / elapsed_s:.1%}"
        f"{disturbed}"
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
        worlds = Worlds(lambda: Engine("simulator", [str(engine_path())]))
        try:
            for trial in trials:
                if trial.workload == "copy":
                    print(line(worlds, run, trial), flush=True)
        finally:
            worlds.close()
    except LabError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
