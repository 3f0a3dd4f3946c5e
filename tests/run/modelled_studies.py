"""Studies of one experiment between two modelled machines."""

from typing import Any

from lanlab.studies.load import parse_study
from lanlab.studies.machine_numbers import NUMBERS, REQUIRED
from lanlab.studies.model import Study

WHY = {"assumed": "made up for this test"}
SIZES = {
    "ring_frames": 32,
    "queue_frames": 64,
    "transmit_queue_frames": 32,
    "receive_buffer_bytes": 65_536,
    "send_buffer_bytes": 8192,
    "window_bytes": 8760,
}


def modelled_study(
    workload: str,
    metric: str,
    numbers: dict[str, float],
    parameters: dict[str, Any],
    factors: dict[str, list[Any]],
    link: str = "10M:hub",
    trials: dict[str, Any] | None = None,
) -> Study:
    """`numbers` are the machines', beside SIZES; what they leave out is as small as can be."""
    known = {name: {"value": NUMBERS[name].least, **WHY} for name in REQUIRED}
    known |= {name: {"value": value, **WHY} for name, value in (SIZES | numbers).items()}
    experiment = {
        "id": "only",
        "title": "What is measured",
        "workload": workload,
        "on": ["simulated"],
        "metrics": [metric],
        "parameters": {"kind": "slow", **parameters},
        "factors": factors,
    }
    return parse_study(
        {
            "schema": 1,
            "id": "two-machines",
            "title": "Two machines",
            "testbed": {"link": link},
            "experiment": [experiment],
            "simulation": {
                "machine": [{"id": "pc", "title": "a PC", "numbers": known}],
                "place": [{"when": {"kind": "slow"}, "machines": ["pc", "pc"]}],
            },
            "scale": {"quick": {"trials": trials or {"min": 2, "max": 2}}},
        },
        "two-machines.toml",
    )
