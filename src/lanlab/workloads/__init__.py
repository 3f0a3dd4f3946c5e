"""Workloads: what a trial does. One folder each; `WORKLOADS` is the registry."""

from lanlab.workloads.outcome import CounterChanges, Progress, TrialOutcome, counter_changes
from lanlab.workloads.registry import WORKLOADS, Workload, workload

__all__ = [
    "WORKLOADS",
    "CounterChanges",
    "Progress",
    "TrialOutcome",
    "Workload",
    "counter_changes",
    "workload",
]
