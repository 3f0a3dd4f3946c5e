"""Workloads: what a trial does. One file each; `WORKLOADS` is the registry."""

from lanlab.workloads.exchange import CounterChanges, End, Exchange, Progress, counter_changes
from lanlab.workloads.registry import WORKLOADS, Workload, workload

__all__ = [
    "WORKLOADS",
    "CounterChanges",
    "End",
    "Exchange",
    "Progress",
    "Workload",
    "counter_changes",
    "workload",
]
