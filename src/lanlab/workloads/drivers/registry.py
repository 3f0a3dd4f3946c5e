"""The table of drivers. `lanlab` is the engine itself, and the default everywhere."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lanlab.errors import UnknownName
from lanlab.lazily import Lazily

if TYPE_CHECKING:
    from lanlab.workloads.drivers.base import Driver

OWN = "lanlab"


def _maker(name: str) -> Callable[[], Driver]:
    def make() -> Driver:
        module = importlib.import_module(f"lanlab.workloads.drivers.{name}")
        made: Driver = getattr(module, name.capitalize())()
        return made

    return make


#: Each in a module of its name, imported on first use.
_NAMES = ("iperf3", "iperf2", "nuttcp", "sockperf", "qperf", "netperf", "neper", "ntttcp")
DRIVERS: Mapping[str, Driver] = Lazily({name: _maker(name) for name in _NAMES})

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
