"""A host of a trial: its engine, its address, and what is started in addition to the engine."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lanlab.addresses import AddressFamily
from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, EngineOverdue, LabError
from lanlab.frozen import dataclass

if TYPE_CHECKING:
    from lanlab.testbeds.remote.programs import RemotePrograms

#: Time to answer that a request is cancelled, and again to tell what it has measured, seconds. An
#: engine that takes longer hangs.
CANCEL_S = 5.0
#: Resolvers ask several servers several times (resolv.conf(5)).
RESOLVE_S = 60.0


@dataclass(frozen=True)
class EngineHost:
    engine: Engine
    address: str
    #: Identifies the kernel that the engine runs on; `None` if that is not known, or if the
    #: engine's clock is not the kernel's.
    boot_id: str | None
    command_prefix: tuple[str, ...] = ()
    #: See `lanlab.testbeds.base.Host.programs_there`.
    programs_there: RemotePrograms | None = None
    start_server: Callable[..., Any] | None = None
    #: Least time that a frame takes from this host to another, as far as it is known before.
    delay_ns: int = 0
    #: See `lanlab.testbeds.base.Host.raw_link`.
    raw_link: Mapping[str, Any] | None = None
    #: See `lanlab.testbeds.base.Host.spare_address`.
    spare_address: str | None = None
    #: Finds a server that was there before, by address and port, to watch its CPU time (`cpu_s`,
    #: `unknown`); gives `None` if it is on another machine.
    find_server: Callable[[str, int], Any] | None = None


def ask(
    host: EngineHost,
    request: Mapping[str, object],
    within_s: float,
    too_long_hint: str | None = None,
) -> dict[str, Any]:
    """Have an engine do a request to its end. One that is not waited for is cancelled.

    Args:
        too_long_hint: See `too_long`.

    Raises:
        EngineError: It could not, or waited for another for too long.
        EngineLost: It is gone, or was not done in time.
    """
    asked = host.engine.start(request)
    try:
        return asked.result(within_s)
    except BaseException as error:
        cancel(host.engine, asked)
        if isinstance(error, EngineOverdue):
            raise too_long(error, (host,), within_s, too_long_hint) from None
        raise


@dataclass(frozen=True)
class NetbiosNames:
    """How a name that may be one of NetBIOS is looked up in addition to the system's names."""

    #: Address of a WINS server that is asked first, which takes up to 4.5 s; `None`: there is none.
    wins: str | None = None


def resolved(
    host: EngineHost,
    name: str,
    family: AddressFamily,
    netbios: NetbiosNames | None = None,
    port: int | None = None,
) -> str:
    """
    The address of a name, as a host sees it.

    Args:
        netbios:
            How a NetBIOS name is looked up. The hosts of its networks are asked for one that
            nothing else knows, which takes up to 0.75 s. `None`: it is none.
        port: That a server listens on: of several addresses the first is taken where one does.

    Raises:
        EngineError: It has none of that family.
    """
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(name))
    request: dict[str, object] = {"type": "resolve", "name": name, "family": family, "port": port}
    if netbios is not None:
        request |= {"netbios": True, "wins": netbios.wins}
    answer = ask(host, request, RESOLVE_S)
    return str(answer["address"])


def too_long(
    overdue: EngineOverdue, hosts: Iterable[EngineHost], within_s: float, hint: str | None
) -> LabError:
    """
    Why a request was not done in time: engines that answer that they are cancelled wait for
    another, those that do not are lost.

    Args:
        hosts: Hosts whose requests were cancelled.
        hint: What to do about another that is slow; `None` if they wait for no other.
    """
    if hint is None or any(host.engine.is_lost for host in hosts):
        return overdue
    return EngineError(
        "trial.too_long",
        f"{overdue.host}: not done within {within_s:g} s",
        hint=hint,
        host=overdue.host,
    )


def cancel(
    engine: Engine,
    asked: Measurement,
    others: list[EngineError] | None = None,
    within_s: float = CANCEL_S,
) -> dict[str, Any] | None:
    """
    End a request; an engine that does not answer is ended.

    Args:
        others: Takes the error that the request ended with.
        within_s: How long it may take to end.

    Returns:
        What it had measured; `None` if there is nothing to be had.
    """
    if engine.is_lost or asked.is_over:
        return None
    try:
        # It may have ended by itself meanwhile, and is unknown then.
        with contextlib.suppress(EngineError):
            engine.ask({"type": "cancel", "target": asked.id}, CANCEL_S)
        return asked.result(within_s)
    except EngineError as error:
        if others is not None:
            others.append(error)
        return None if error.partial is None else dict(error.partial)
    except EngineLost:
        engine.give_up(CANCEL_S)
        return None
