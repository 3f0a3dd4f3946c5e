"""The drivers, and which are installed. `lanlab` is the engine itself, the default everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanlab.errors import UnknownName, UnmetNeed
from lanlab.frozen import dataclass
from lanlab.lazily import instances

if TYPE_CHECKING:
    from lanlab.workloads.drivers.base import Driver

OWN = "lanlab"


_NAMES = ("iperf3", "iperf2", "nuttcp", "sockperf", "qperf", "netperf", "neper", "ntttcp")
DRIVERS: Mapping[str, Driver] = instances("lanlab.workloads.drivers", _NAMES)

DRIVER_NAMES = (OWN, *DRIVERS)


def driver(name: str) -> Driver:
    """The driver of that name.

    Raises:
        UnknownName: There is none.
    """
    try:
        return DRIVERS[name]
    except KeyError:
        raise UnknownName("tool", name, DRIVER_NAMES) from None


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
