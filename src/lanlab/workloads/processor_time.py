"""Processor time of a trial: at either end, and in interrupts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.trial_data import Capabilities, CpuTime, Setup
from lanlab.workloads.outcome import TrialOutcome

Metrics = dict[str, float | int]


def cpu_metrics(name: str, cpu: CpuTime, capabilities: Capabilities) -> Metrics:
    """
    CPU time of the threads at one end that moved the data.

    Args:
        name: Name of the end, as in `sender`.
        cpu: CPU times reported by the end.
        capabilities: The abilities of its engine. An engine that cannot measure the CPU time of a
            thread reports zeros: there are no metrics then.

    Returns:
        `…_cpu_s` and its parts `…_cpu_user_s` and `…_cpu_system_s`, seconds.
    """
    if not capabilities.get("thread_usage"):
        return {}
    user_ns, system_ns = cpu["user_ns"], cpu["system_ns"]
    return {
        f"{name}_cpu_s": (user_ns + system_ns) / 1e9,
        f"{name}_cpu_user_s": user_ns / 1e9,
        f"{name}_cpu_system_s": system_ns / 1e9,
    }


def cost_metrics(name: str, metrics: Mapping[str, float | int]) -> Metrics:
    """
    CPU time of one end per message, and per 10⁹ bytes, that arrived.

    Args:
        name: Name of the end, as in `sender`.
        metrics: With `…_cpu_s`, `received_messages` and `received_bytes`; if one is unknown, or
            nothing arrived, there is no result.
    """
    cpu_s = metrics.get(f"{name}_cpu_s")
    found: Metrics = {}
    if cpu_s is None:
        return found
    if metrics.get("received_messages", 0) > 0:
        found[f"{name}_cpu_ns_per_message"] = 1e9 * cpu_s / metrics["received_messages"]
    if metrics.get("received_bytes", 0) > 0:
        found[f"{name}_cpu_s_per_gb"] = 1e9 * cpu_s / metrics["received_bytes"]
    return found


def interrupt_metrics(outcome: TrialOutcome, roles: Sequence[str] = ()) -> Metrics:
    """
    Time that the hosts of a trial spent in hard and soft interrupts, of all programs, during the
    measurement.

    Args:
        roles: Roles of the hosts that report; empty: all that have results.

    Returns:
        `interrupt_cpu_s`, seconds: of both hosts together. Hosts that share a kernel share its
            interrupts; these are counted once, from the end that watched longer. Empty if an end
            does not report.
    """
    results = [outcome.results[role] for role in roles or outcome.results]
    windows = [result.get("host") for result in results]
    if shares_a_kernel(outcome.setup):
        known = [window for window in windows if window is not None]
        windows = [max(known, key=lambda window: int(window["elapsed_ns"]))] if known else []
    if not windows or None in windows:
        return {}
    spent_ns = sum(
        window["processors"][kind]
        for window in windows
        if window is not None
        for kind in ("interrupt_ns", "soft_interrupt_ns")
    )
    return {"interrupt_cpu_s": spent_ns / 1e9}


def shares_a_kernel(setup: Setup) -> bool:
    """Whether both hosts of a trial are one machine: their boot ids are equal."""
    return bool((setup.get("clocks") or {}).get("same_kernel"))
