"""Workloads: what a trial does. One file each; `WORKLOADS` is the registry."""

from lanlab.workloads.exchange import End, Exchange, Progress
from lanlab.workloads.registry import WORKLOADS, Workload, workload

__all__ = ["WORKLOADS", "End", "Exchange", "Progress", "Workload", "workload"]
