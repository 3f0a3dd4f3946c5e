"""Whether the network limits copies, by comparing their rate with the speed of the adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.limits import reaches_limit, tcp_limit_bps
from lanlab.store import Level, TrialRecord
from lanlab.units import format_rate


def network_sentence(
    trials: Sequence[TrialRecord], names: Mapping[Level, str], speed_bps: float | None
) -> str:
    """Which services copy large files as fast as the network; empty if none does, or if the
    speed of the network is unknown.
    """
    if speed_bps is None:
        return ""
    limit_bps = tcp_limit_bps(speed_bps, 4)
    fast = []
    for level, name in names.items():
        rates: dict[str, list[float]] = {}
        for trial in trials:
            if trial.experiment.startswith("large-") and trial.factors.get("server") == level:
                rates.setdefault(trial.experiment, []).append(trial.metrics.get("goodput_bps", 0))
        if rates and all(reaches_limit(own, limit_bps) for own in rates.values()):
            fast.append(name)
    if not fast:
        return ""
    limit = f"{format_rate(limit_bps)} over this host's adapter of {format_rate(speed_bps)}"
    if len(fast) == len(names):
        return f"The network is the limit for large files ({limit}): use any service."
    return f"For large files the network is the limit of {', '.join(fast)} ({limit})."
