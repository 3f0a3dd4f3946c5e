"""The drivers that there are. `lanlab` is the engine itself, and the default everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.errors import UnknownName
from lanlab.workloads.drivers.base import Driver
from lanlab.workloads.drivers.iperf2 import Iperf2
from lanlab.workloads.drivers.iperf3 import Iperf3
from lanlab.workloads.drivers.neper import Neper
from lanlab.workloads.drivers.netperf import Netperf
from lanlab.workloads.drivers.ntttcp import Ntttcp
from lanlab.workloads.drivers.nuttcp import Nuttcp
from lanlab.workloads.drivers.qperf import Qperf
from lanlab.workloads.drivers.sockperf import Sockperf

#: The engine's own name among the drivers.
OWN = "lanlab"

DRIVERS: Mapping[str, Driver] = {
    entry.name: entry
    for entry in (
        Iperf3(),
        Iperf2(),
        Nuttcp(),
        Sockperf(),
        Qperf(),
        Netperf(),
        Neper(),
        Ntttcp(),
    )
}

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
