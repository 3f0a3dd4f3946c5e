"""The drivers installed on this machine."""

from __future__ import annotations

from lanlab.errors import UnmetNeed
from lanlab.frozen import dataclass
from lanlab.workloads.drivers.base import Driver
from lanlab.workloads.drivers.registry import DRIVERS


@dataclass(frozen=True)
class DriverNeed:
    name: str
    found: bool
    detail: str
    how_to_get: str


def driver_needs() -> list[DriverNeed]:
    return [_look(entry) for entry in DRIVERS.values()]


def _look(entry: Driver) -> DriverNeed:
    programs = dict.fromkeys(
        program
        for workload, abilities in entry.abilities().items()
        for transport in abilities.sizes
        for program in entry.programs(workload, transport)
    )
    try:
        for program in programs:
            entry.path(program)
    except UnmetNeed as missing:
        detail = missing.message.partition("needs ")[2]
        return DriverNeed(entry.name, False, detail, entry.how_to_get)
    return DriverNeed(entry.name, True, entry.version(next(iter(programs))), entry.how_to_get)
