"""
Compute what a bus carries under load, draw the figures of docs/virtual-lan.md and print its tables.

    cargo build --release --package lanlab-medium --example medium_load
    .venv/bin/python bench/medium_load.py > medium.md

Takes about 40 s of processor time. Time is virtual and the seeds are fixed: it prints the same on
any machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medium_charts import (
    LoadedMedium,
    delay_chart,
    metcalfe_boggs_efficiency,
    utilisation_chart,
)
from medium_lan import bus_on_virtual_time

from lanlab.figures.render_matplotlib import to_bytes

IMAGES = Path(__file__).parents[1] / "docs/img"
RATE_BPS = 10_000_000
PROPAGATIONS_NS = (2_500, 25_600)
FRAMES_BYTES = (64, 512, 832, 1518)
FIGURE_FRAME_BYTES = 512
STATIONS = (2, 5, 15)
OFFERED_PERCENT = (10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 100, 110, 120, 140)
SEEDS = (1, 2, 3, 4, 5)
_SECOND_NS = 1_000_000_000


def load(**changes: Any) -> Mapping[str, Any]:
    """What a bus carries that is loaded like this."""
    plan = {
        "rate_bps": RATE_BPS,
        "propagation_ns": PROPAGATIONS_NS[0],
        "duration_ns": 60 * _SECOND_NS,
        "warmup_ns": 5 * _SECOND_NS,
    }
    return bus_on_virtual_time(**plan | changes)


def saturated(propagation_ns: int) -> None:
    """Efficiency and fairness of saturated stations, each figure over 300 s."""
    print(f"Propagation time {propagation_ns / 1000:g} µs:\n")
    head = ("frame", *(f"{stations} stations" for stations in STATIONS))
    print("|", " | ".join((*head, "Metcalfe & Boggs, 15", "given up, 15", "Jain's index, 15")), "|")
    print("|---" * (len(STATIONS) + 4) + "|")
    for frame_bytes in FRAMES_BYTES:
        results = [
            load(
                stations=stations,
                frame_bytes=frame_bytes,
                propagation_ns=propagation_ns,
                duration_ns=300 * _SECOND_NS,
            )
            for stations in STATIONS
        ]
        last = results[-1]
        given_up = last["lost_excessive_collisions_frames"]
        frames = given_up + last["delivered_frames"]
        cells = (
            f"{frame_bytes} B",
            *(f"{result['utilisation_ratio']:.3f}" for result in results),
            f"{metcalfe_boggs_efficiency(frame_bytes, STATIONS[-1]):.3f}",
            f"{100 * given_up / frames:.2f} %",
            f"{last['jain_index']:.3f}",
        )
        print("|", " | ".join(cells), "|")
    print()


def offered() -> list[LoadedMedium]:
    """Loads from little to more than the bus carries."""
    loads = []
    print("| stations | offered | utilisation | mean delay | p95 | p99 | lost in adapters |")
    print("|---" * 7 + "|")
    for stations in STATIONS:
        for percent in OFFERED_PERCENT:
            results = [
                load(
                    stations=stations,
                    frame_bytes=FIGURE_FRAME_BYTES,
                    offered_ratio=percent / 100,
                    # Other numbers of stations get other loads, not the same ones again.
                    seed=1000 * stations + seed,
                )
                for seed in SEEDS
            ]
            utilisations = tuple(result["utilisation_ratio"] for result in results)
            delays = tuple(result["mean_delay_ns"] for result in results)
            came = sum(result["offered_ratio"] for result in results) / len(results)
            loads.append(LoadedMedium(stations, came, utilisations, delays))
            if percent in (20, 50, 80, 100, 140):
                _print_load(stations, percent, results)
    print()
    return loads


def _print_load(stations: int, percent: int, results: list[Mapping[str, Any]]) -> None:
    def mean(key: str) -> float:
        return sum(float(result[key]) for result in results) / len(results)

    def digits(delay_ns: float) -> int:
        return 2 if delay_ns < 1e7 else 0

    lost, delivered = mean("lost_adapter_queue_frames"), mean("delivered_frames")
    cells = (
        f"{stations}",
        f"{percent} %",
        f"{100 * mean('utilisation_ratio'):.1f} %",
        *(
            f"{mean(key) / 1e6:.{digits(mean(key))}f} ms"
            for key in ("mean_delay_ns", "p95_delay_ns", "p99_delay_ns")
        ),
        f"{100 * lost / (lost + delivered):.1f} %",
    )
    print("|", " | ".join(cells), "|")


def main() -> int:
    """Print the tables and write the figures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for propagation_ns in PROPAGATIONS_NS:
        saturated(propagation_ns)
    loads = offered()
    charts = {"utilisation": utilisation_chart, "delay": delay_chart}
    for name, chart in charts.items():
        path = IMAGES / f"medium-load-{name}.svg"
        path.write_bytes(to_bytes(chart(loads, FIGURE_FRAME_BYTES), "svg"))
        print(f"{path} is written", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
