"""Trials of stations between two engines of this machine, for the benches of `lanlab stations`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS, CounterChanges

_LEAD_S = 0.2


@contextmanager
def ends() -> Iterator[tuple[EngineHost, EngineHost]]:
    """Stations' end and the server's, each an engine of its own."""
    with Engine("client", [engine_path()]) as client, Engine("server", [engine_path()]) as server:
        yield EngineHost(client, "127.0.0.1", "here"), EngineHost(server, "127.0.0.1", "here")


def trial(
    both: tuple[EngineHost, EngineHost], **parameters: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Metrics of a trial, and what its stations told.

    Raises:
        LabError: It failed.
    """
    kind = WORKLOADS["stations"]
    condition = kind.Parameters.model_validate(parameters)
    exchange = perform_between(kind, condition, *both, _LEAD_S)
    if exchange.error is not None:
        raise exchange.error
    return kind.summarise(condition, exchange, CounterChanges()), exchange.results["client"]


def median(values: Iterable[float]) -> float:
    """Of at least one."""
    return statistics.median(values)
