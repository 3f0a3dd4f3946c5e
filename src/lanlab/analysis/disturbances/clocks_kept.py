"""How the clocks of a trial's hosts are synchronised."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.messages import ClockFacts
from lanlab.roles import ROLES, host_places
from lanlab.store import TrialRecord
from lanlab.units import format_time


def clocks_kept(trials: Sequence[TrialRecord]) -> str:
    """
    How the clocks of both ends are synchronised, and how accurate their kernels estimate them to
    be, as in `pc1 by chronyd, right to within 1.20 ms; nas by nothing`.

    Args:
        trials: Trials of one workload; the last one with this information counts.

    Returns:
        Empty if it is not known for both ends.
    """
    for trial in reversed(trials):
        setup, facts = trial.setup, trial.facts
        hosts = (facts.get("before") or {}).get("hosts") or {}
        names = setup.get("hosts") or {}
        places = host_places(ROLES[trial.workload], trial.parameters.get("traffic_direction"))
        ends = [
            (names.get(role), (hosts.get(f"host{place}") or {}).get("clock"))
            for role, place in places.items()
        ]
        said = [f"{name} {_kept(clock)}" for name, clock in ends if name and clock]
        if len(said) == len(ends):
            return "; ".join(said)
    return ""


def _kept(clock: ClockFacts) -> str:
    by = " and ".join(clock["disciplined_by"])
    if not clock["synchronised"]:
        return f"by {by}, not synchronised" if by else "by nothing"
    error = format_time(clock["maximum_error_ns"] / 1e9)
    # In a container, the synchronising program may run outside the container.
    return f"by {by or 'a program that is not seen'}, right to within {error}"
