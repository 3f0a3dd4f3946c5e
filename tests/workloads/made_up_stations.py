"""Readings of stations that never ran: a closed queue whose law is known."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

OUTCOMES = ("ok", "timed_out", "reset", "refused", "protocol_error", "short_transfer", "wrong_data")


def columns(rows: list[tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """Readings from rows of station, intended, start, end, bytes, outcome, attempt."""
    rows = sorted(rows, key=lambda row: row[2])
    parts = list(zip(*rows, strict=True)) if rows else [()] * 7
    kinds = {
        "station": np.uint32,
        "intended_ns": np.int64,
        "start_ns": np.int64,
        "end_ns": np.int64,
        "bytes": np.int64,
        "outcome": np.uint8,
        "attempt": np.uint8,
    }
    return {
        name: np.array(part, dtype=kind)
        for (name, kind), part in zip(kinds.items(), parts, strict=True)
    }


def closed_queue(
    stations: int,
    operations: int,
    *,
    service_ns: float,
    think_ns: float = 0.0,
    servers: int = 1,
    latency_ns: float = 0.0,
    size: int = 750,
    seed: int = 1,
    deterministic: bool = False,
) -> dict[str, NDArray[Any]]:
    """
    Stations in a closed loop at one queue, first come first served: M/M/c//N, or with times that
    are always the same.

    Args:
        operations: Begun in all; the stations end together, when so many have ended.
        latency_ns: Of each operation, on a way that takes any number at once.
    """
    rng = np.random.default_rng(seed)

    def drawn(mean: float) -> float:
        return mean if deterministic or mean == 0 else float(rng.exponential(mean))

    free = [0.0] * servers
    heapq.heapify(free)
    # Arrivals at the queue, in order of time: (at the queue, began, station).
    waiting: list[tuple[float, float, int]] = []
    for station in range(stations):
        began = 0.0
        waiting.append((began + drawn(latency_ns), began, station))
    heapq.heapify(waiting)
    rows: list[tuple[int, ...]] = []
    while len(rows) < operations:
        at, began, station = heapq.heappop(waiting)
        ended = max(at, heapq.heappop(free)) + drawn(service_ns)
        heapq.heappush(free, ended)
        rows.append((station, round(began), round(began), round(ended), size, 0, 0))
        again = ended + drawn(think_ns)
        heapq.heappush(waiting, (again + drawn(latency_ns), again, station))
    return columns(rows)
