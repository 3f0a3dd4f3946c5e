"""The table of drivers. `lanlab` is the engine itself, and the default everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanlab.errors import UnknownName
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
        raise UnknownName("driver", name, DRIVER_NAMES) from None
