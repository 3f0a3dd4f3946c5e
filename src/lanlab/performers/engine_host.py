"""A host of a trial: its engine, its address, and a directory there for the trial."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from lanlab.addresses import AddressFamily
from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, EngineOverdue, LabError
from lanlab.frozen import dataclass
from lanlab.messages import Result
from lanlab.testbeds.base import Host

#: Time to confirm a cancellation, and to report the results so far, seconds each. An engine that
#: takes longer hangs.
CANCEL_S = 5.0
#: Resolvers query several servers several times (resolv.conf(5)).
RESOLVE_S = 60.0
_MAKE_S = 60.0
_REMOVE_S = 300.0


@dataclass(frozen=True)
class EngineHost:
    engine: Engine
    address: str
    #: Identifies the engine's kernel; `None` if unknown, or if the engine's clock is not the
    #: kernel's.
    boot_id: str | None
    on: Host = Host("here", {}, ())
    #: Minimum time of a frame from this host to another, as far as known in advance.
    delay_ns: int = 0


def ask(
    host: EngineHost,
    request: Mapping[str, object],
    within_s: float,
    too_long_hint: str | None = None,
    asked: list[Measurement] | None = None,
) -> Result:
    """Run a request to its end. If waiting is interrupted, the request is cancelled.

    Args:
        too_long_hint: See `too_long`.
        asked: Receives the request.

    Raises:
        EngineError: It failed, or waited for another host for too long.
        EngineLost: The engine is gone, or timed out.
    """
    asked = [] if asked is None else asked
    before = len(asked)
    try:
        return host.engine.start(request, asked=asked).result(within_s)
    except BaseException as error:
        for started in asked[before:]:
            cancel(host.engine, started)
        if isinstance(error, EngineOverdue):
            raise too_long(error, (host,), within_s, too_long_hint) from None
        raise


@dataclass(frozen=True)
class NetbiosNames:
    """How to look up a name that may be a NetBIOS name, in addition to the system's names."""

    #: Address of a WINS server to ask first, which takes up to 4.5 s; `None` for none.
    wins: str | None = None


def resolved(
    host: EngineHost,
    name: str,
    family: AddressFamily,
    netbios: NetbiosNames | None = None,
    port: int | None = None,
) -> str:
    """
    The address of a name, from the view of a host.

    Args:
        netbios: How to look up a NetBIOS name: if nothing else knows the name, hosts of its
            networks are queried, which takes up to 0.75 s. `None`: it is not a NetBIOS name.
        port: The server's port: of several addresses, the first that accepts connections is chosen.

    Raises:
        EngineError: It has none of that family.
    """
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(name))
    request: dict[str, object] = {"type": "resolve", "name": name, "family": family, "port": port}
    if netbios is not None:
        request |= {"netbios": True, "wins": netbios.wins}
    try:
        answer = ask(host, request, RESOLVE_S)
    except EngineError as error:
        # A user's server is looked up from this machine, which needs no name.
        error.message = error.message.removeprefix("host0: ")
        error.hint = error.hint or "check the name, or give the address"
        raise
    return str(answer["address"])


def too_long(
    overdue: EngineOverdue, hosts: Iterable[EngineHost], within_s: float, hint: str | None
) -> LabError:
    """
    The error for a request that timed out: engines that confirm the cancellation were waiting for
    another host, the others are lost.

    Args:
        hosts: Hosts whose requests were cancelled.
        hint: What to do about a slow peer; `None` if they wait for none.
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
) -> Result | None:
    """
    Cancel a request; an engine that does not answer is ended.

    Args:
        others: Receives the error that the request ended with.
        within_s: Time limit.

    Returns:
        Its results so far; `None` if there are none.
    """
    if engine.is_lost or asked.is_over:
        return None
    try:
        # If the request has just ended, the engine no longer knows it.
        with contextlib.suppress(EngineError):
            engine.ask({"type": "cancel", "target": asked.id}, CANCEL_S)
        return asked.result(within_s)
    except EngineError as error:
        if others is not None:
            others.append(error)
        return None if error.partial is None else error.partial.copy()
    except EngineLost:
        engine.give_up(CANCEL_S)
        return None


@contextlib.contextmanager
def temporary_directory(
    host: EngineHost, medium: str, *, for_server: bool = False
) -> Iterator[str]:
    """
    A directory for one trial, removed with its content. If its engine was killed, the next trial of
    the same user there removes it.

    Args:
        medium: `disk` or `tmpfs`.
        for_server: Whether a server that runs as another user must reach it.

    Raises:
        EngineError: It cannot be made there.
    """
    request = {"type": "trial_directory", "medium": medium, "for_server": for_server}
    held = host.engine.start(request)
    try:
        yield str(held.wait_ready(_MAKE_S)["directory"])
    finally:
        cancel(host.engine, held, within_s=_REMOVE_S)
