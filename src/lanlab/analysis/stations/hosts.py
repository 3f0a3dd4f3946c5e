"""The results of each client host, if a trial's stations were spread over several."""

from __future__ import annotations

from lanlab.frozen import dataclass
from lanlab.store import TrialRecord


@dataclass(frozen=True)
class HostShare:
    host: str
    stations: int
    operations: int
    operations_per_s: float
    operations_ratio: float
    goodput_bps: float
    response_mean_ns: float
    #: The engine's `Stationed.start_skew_ns`.
    start_skew_ns: int
    clock_error_ns: int


def host_shares(trial: TrialRecord) -> list[HostShare]:
    """The results by host, in order; empty if there was only one host."""
    parts = trial.result("client").get("hosts") or []
    if not parts:
        return []
    setup = trial.setup
    clocks = setup.get("clocks") or {}
    errors_ns = [
        0 if clocks.get("shared_clock") else int(reading["error_ns"])
        for name, reading in (clocks.get("before") or {}).items()
        if name in (setup.get("hosts") or {})
    ]
    # A failed host has no result here, so results do not match the order of hosts.
    if len(parts) != len(errors_ns):
        return []
    done = [int(part["readings"]) - sum(part["errors"].values()) for part in parts]
    return [
        HostShare(
            host=part["name"],
            stations=int(part["stations"]),
            operations=operations,
            operations_per_s=1e9 * operations / max(1, part["elapsed_ns"]),
            operations_ratio=operations / max(1, sum(done)),
            goodput_bps=8e9 * part["bytes"] / max(1, part["elapsed_ns"]),
            response_mean_ns=float(part["response"]["mean_ns"]),
            start_skew_ns=int(part["start_skew_ns"]),
            clock_error_ns=0 if place == 0 else error_ns + errors_ns[0],
        )
        for place, (part, operations, error_ns) in enumerate(
            zip(parts, done, errors_ns, strict=True)
        )
    ]
