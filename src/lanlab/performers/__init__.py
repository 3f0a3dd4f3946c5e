"""Performers run trials. `performer_for` chooses one for a condition."""

from lanlab.performers.base import OnProgress, Performer, SimulatedTrial, trial_seed
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.hosts import Hosts
from lanlab.performers.registry import SIMULATORS, metrics_of, perform_between, performer_for

__all__ = [
    "SIMULATORS",
    "EngineHost",
    "Hosts",
    "OnProgress",
    "Performer",
    "SimulatedTrial",
    "metrics_of",
    "perform_between",
    "performer_for",
    "trial_seed",
]
