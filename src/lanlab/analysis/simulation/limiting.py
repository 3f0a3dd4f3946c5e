"""The bottleneck of a simulated trial: the sender's rate or processor, the wire, or the place in
the receiver that dropped frames. For a file service, the busiest part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from lanlab.messages import SimulatedFacts, SimulatedHostFacts
from lanlab.store import TrialRecord

#: A part that is busy for at least this share of the time is the bottleneck.
BUSY_RATIO = 0.95
LOST_RATIO = 0.01
#: Places in the receiver that drop frames, by the simulation's counters, with their names.
_LOSSES = (
    ("ring_dropped_frames", "receiver's ring"),
    ("queue_dropped_frames", "receiver's queue"),
    ("socket_dropped_datagrams", "receiver's socket buffer"),
)


def limiting(trial: TrialRecord) -> str | None:
    """
    The bottleneck of a trial; `None` if it failed or was not simulated.

    One of `sending rate`, `sender's processor`, `wire`, `receiver's processor`, a place that drops
    frames with the cause of its overflow, or `window or waiting`. For a file service a processor, a
    disk, `cache misses`, or `wire`; `mostly` comes first if the part has pauses. The sender is the
    end that sends more bytes: in a download, the server.
    """
    world = trial.setup.get("world")
    if trial.status != "done" or world is None:
        return None
    request = trial.setup["requests"]["simulate"]
    active_ns = _active_ns(trial, world)
    first, *_, last = world["hosts"]
    sender, receiver = (last, first) if _is_from_last(world) else (first, last)
    busy = [min(1.0, _busy_ns(host) / active_ns) for host in (sender, receiver)]
    ratio = request["world"]["machines"][0]["adapter_rate_ratio"]
    used_ns = world["bus_busy_ns"] or max(port["busy_ns"] for port in world["medium"])
    wire = min(1.0, used_ns / ratio / active_ns)
    came = max(1, receiver["received_frames"])
    counts = cast("dict[str, int]", receiver)
    lost = {name: counts[key] / came for key, name in _LOSSES}
    place = max(lost, key=lambda name: lost[name])
    spec = request["work"].get("spec", request["work"])
    is_paced = any(spec.get(name) is not None for name in ("rate", "rate_requests_per_s"))
    if "client" in trial.raw:
        return _longest_part(world, used_ns / ratio, active_ns)
    if sum(lost.values()) > LOST_RATIO:
        interrupts = receiver["interrupt_ns"] / active_ns
        why = "interrupts" if interrupts > 0.5 * busy[1] else "processor"
        return f"receiver's {why}" if busy[1] >= BUSY_RATIO else place
    if is_paced and trial.metrics.get("goodput_ratio", 0.0) >= 1 - LOST_RATIO:
        # All arrived as it was sent: what is nearly busy limits nothing yet.
        return "sending rate"
    if wire >= BUSY_RATIO and wire >= busy[0]:
        return "wire"
    if busy[0] >= BUSY_RATIO:
        return "sender's processor"
    if busy[1] >= BUSY_RATIO:
        return "receiver's processor"
    return "sending rate" if is_paced else "window or waiting"


def _is_from_last(world: SimulatedFacts) -> bool:
    *others, last = (port["offered_bytes"] for port in world["medium"])
    return bool(last > sum(others))


def _longest_part(world: SimulatedFacts, wire_ns: float, active_ns: float) -> str:
    """The busiest part of a file service. If a client waits for each reply, no part is busy all the
    time, and this part takes most of a request's time.
    """
    *clients, server = world["hosts"]
    busy_ns = {
        "server's processor": _busy_ns(server),
        "server's disk": _disk_ns(server),
        "server that stood still": server.get("frozen_ns") or 0,
        "client's processor": max(map(_busy_ns, clients)),
        "client's disk": max(map(_disk_ns, clients)),
        "wire": wire_ns,
    }
    part = max(busy_ns, key=lambda name: busy_ns[name])
    is_all = busy_ns[part] >= BUSY_RATIO * active_ns
    store = server["store"] if part == "server's disk" else None
    if store is not None and 2 * store["cache_misses"] > store["disk_accesses"]:
        part = "cache misses"
    return part if is_all else f"mostly {part}"


def cause_of(trials: Sequence[TrialRecord]) -> str | None:
    """The most common bottleneck of a condition's trials; `None` if none was simulated."""
    found = [cause for trial in trials if (cause := limiting(trial)) is not None]
    return Counter(found).most_common(1)[0][0] if found else None


def _disk_ns(host: SimulatedHostFacts) -> int:
    """Time that a host's disk was busy; 0 if no disk is modelled."""
    return int((host.get("store") or {}).get("disk_busy_ns", 0))


def _busy_ns(host: SimulatedHostFacts) -> int:
    return host["interrupt_ns"] + host["protocol_ns"] + host["program_ns"]


def _active_ns(trial: TrialRecord, world: SimulatedFacts) -> float:
    warmup_ns = 1e9 * float(trial.parameters.get("warmup_s") or 0)
    result = trial.result("sender") or trial.result("requester")
    measured_ns = float(result.get("elapsed_ns") or 0)
    return max(1.0, warmup_ns + measured_ns if measured_ns else float(world["virtual_ns"]))
