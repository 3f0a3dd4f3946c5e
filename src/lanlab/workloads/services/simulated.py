"""File services between modelled machines: the supported ones, and the server's CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.errors import UsageError
from lanlab.ipx import segment
from lanlab.service_options import engine_options
from lanlab.services import SERVICES
from lanlab.trial_data import Spec, Target, World

if TYPE_CHECKING:
    from lanlab.workloads.services.parameters import ServiceParameters

#: The directory of a trial, always the same, because each world is new. Machines may only know
#: short names.
SIMULATED_DIRECTORY: Spec = {"working_name": "00000000.lab", "token": "0" * 32}


def simulated_target(parameters: ServiceParameters, *, waits_on: bool = False) -> Target:
    """
    The service of a condition, in the form that an engine simulates.

    Args:
        waits_on: As in `engine_options`.

    Raises:
        UsageError: It cannot be simulated.
    """
    service = SERVICES[parameters.service]
    if not service.is_simulated:
        allowed = ", ".join(name for name, one in SERVICES.items() if one.is_simulated)
        raise UsageError(
            f"service: found `{service.name}`; allowed on testbed `simulated`: {allowed}",
            hint="run it on testbed `virtual`",
        )
    return {
        "service": service.engine_name,
        "carrier": service.carrier,
        **engine_options(service, parameters, waits_on=waits_on),
        **segment(service, parameters.ipx_framing, parameters.ipx_network),
    }


def simulated_server_cpu_s(result: World) -> float:
    """CPU time of the server's machine, the last one, seconds."""
    busy = result["world"]["hosts"][-1]
    busy_ns = busy["interrupt_ns"] + busy["protocol_ns"] + busy["program_ns"]
    return float(busy_ns / 1e9)
