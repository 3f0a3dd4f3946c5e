"""
One trial between two engines: set up, start together, end, whatever happens.

The end that listens is set up first, then the end that connects. When both are ready, both are
given the same start, sent ahead: an engine that hears of it too late says so instead of starting
late.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanlab.engine import Engine, Measurement
from lanlab.errors import EngineError, EngineLost, LabError
from lanlab.workloads.clocks import Clocks, clock_record, read_clocks

#: Set-up may take this long; the engines give up earlier by themselves.
_SETUP_S = 40.0
#: Beyond the time that a trial must take, and the silence its ends allow, it may take this long.
_MARGIN_S = 15.0
#: An end of a trial that has failed has so long to answer that it is cancelled, and again to tell
#: what it has measured; then its engine hangs.
_CANCEL_S = 5.0
#: Codes of what an end says of the other, and of an end that we have ended.
_OF_THE_OTHER = "peer."
_CANCELLED = "cancelled"
#: A start that came too late is tried again with twice the lead, so often.
_START_ATTEMPTS = 5


@dataclass(frozen=True)
class End:
    """One end of a trial: an engine and the address it uses."""

    engine: Engine
    address: str
    #: Identifies the kernel that the engine runs on; `None` if that is not known, or if the
    #: engine's clock is not the kernel's.
    boot_id: str | None
    #: Put before a command, starts it on this host.
    command_prefix: tuple[str, ...] = ()
    #: Starts a real file server here: name, service, directory, address, credentials, TLS.
    start_server: Callable[..., Any] | None = None
    #: Finds a server that was there before, by address and port, to watch its CPU time (`cpu_s`,
    #: `unknown`); gives `None` if it is on another machine.
    find_server: Callable[[str, int], Any] | None = None
    #: Of the first host of a testbed: those beyond the second, for what many hosts do together.
    others: tuple[End, ...] = ()


@dataclass(frozen=True)
class CounterChanges:
    """By how much the testbed's interface counters rose over a trial, warm-up included.

    Each by its name (`rx_drops`, `qdisc_drops`, …), summed over a host's interfaces; a name that
    the testbed does not count is not there.
    """

    source: Mapping[str, int] = field(default_factory=dict)
    target: Mapping[str, int] = field(default_factory=dict)
    #: Of what lies between, as the ports of a switch.
    between: Mapping[str, int] = field(default_factory=dict)


def counter_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], source: str, target: str
) -> CounterChanges:
    """What a testbed's counters, read before and after a trial, say of it.

    Args:
        before, after: As `Testbed.counters` gives them (`host0/eth0`, then name, to count).
        source, target: Names of the two hosts. Interfaces that no host has for itself, as the
            one of loopback, are taken for both hosts'.
    """
    sums: dict[str, dict[str, int]] = {}
    for interface, counters in after.items():
        earlier = before.get(interface)
        if not isinstance(counters, Mapping) or not isinstance(earlier, Mapping):
            continue  # They could not be read.
        place = interface.partition("/")[0]
        total = sums.setdefault(place if place in (source, target) else "", {})
        for counter, value in counters.items():
            total[counter] = total.get(counter, 0) + value - earlier.get(counter, 0)
    between = sums.get("", {})
    return CounterChanges(sums.get(source, between), sums.get(target, between), between)


@dataclass(frozen=True)
class Progress:
    """How far a trial is, warm-up included."""

    elapsed_s: float
    #: Messages and octets of payload at the listener: received, or answered.
    messages: int
    bytes: int
    #: Messages that the connector had sent at about the same time, if it said so.
    sent_messages: int | None


@dataclass
class Exchange:
    """What a trial between two ends came to; `listener` and `connector` are their results."""

    listener: dict[str, Any] | None = None
    connector: dict[str, Any] | None = None
    #: What was asked for and how the start went: what is needed to repeat the trial.
    setup: dict[str, Any] = field(default_factory=dict)
    error: LabError | None = None


def new_session() -> str:
    """A token that both ends know and nobody else: 32 hexadecimal digits."""
    return secrets.token_hex(16)


def run_exchange(
    listener: End,
    connector: End,
    listener_request: Mapping[str, object],
    connector_request: Callable[[list[int]], Mapping[str, object]],
    *,
    lead_s: float,
    expected_s: float,
    silence_s: float,
    on_progress: Callable[[Progress], None] | None = None,
    tell_clock: bool = False,
) -> Exchange:
    """
    Run one trial.

    Args:
        listener: The end that waits: the receiver or responder.
        connector: The end that connects: the sender or requester.
        listener_request: What the listener is asked.
        connector_request: What the connector is asked, from the ports that the listener names.
        lead_s: Time from giving the start to the start.
        expected_s: Time that the trial must take.
        silence_s: Time after which an end gives up on the other.
        on_progress: Called from another thread some times a second.
        tell_clock: Whether the listener is told how the connector's clock stands to its own
            (`sender_clock` of its request).

    Returns:
        The exchange. A failed one has `error` and whatever either end had measured.
    """
    exchange = Exchange()
    try:
        clocks = read_clocks(listener, connector)
    except LabError as lost:
        exchange.error = lost
        return exchange
    if tell_clock:
        listener_request = {**listener_request, "sender_clock": clocks.relation()}
    timeout_s = expected_s + silence_s + _MARGIN_S
    for attempt in range(_START_ATTEMPTS):
        _attempt(
            exchange,
            (listener, listener_request),
            (connector, connector_request),
            clocks,
            lead_s,
            timeout_s,
            on_progress,
        )
        exchange.setup["start_attempts"] = attempt + 1
        error = exchange.error
        if not (isinstance(error, EngineError) and error.code == "arm.late"):
            break
        lead_s *= 2
    after = None
    if exchange.error is None:
        # An engine that is lost now has told its results already; the next trial will notice.
        with contextlib.suppress(LabError):
            after = read_clocks(listener, connector)
    exchange.setup["clocks"] = clock_record(clocks, after)
    return exchange


def _attempt(
    exchange: Exchange,
    listen: tuple[End, Mapping[str, object]],
    connect: tuple[End, Callable[[list[int]], Mapping[str, object]]],
    clocks: Clocks,
    lead_s: float,
    timeout_s: float,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    (listener, listener_request), (connector, connector_request) = listen, connect
    exchange.error = exchange.listener = exchange.connector = None
    setup = exchange.setup = {
        "capabilities": {
            "listener": listener.engine.hello["capabilities"],
            "connector": connector.engine.hello["capabilities"],
        },
        "listener_request": _without_session(listener_request),
    }
    listening: Measurement | None = None
    connecting: Measurement | None = None
    over: queue.SimpleQueue[str] = queue.SimpleQueue()
    try:
        listening = listener.engine.start(listener_request)
        listening.on_over = lambda: over.put("listener")
        watch = _Watch(on_progress)
        listening.on_progress = watch.listener
        ports = listening.wait_ready(_SETUP_S)["ports"]
        request = connector_request(ports)
        setup["connector_request"] = _without_session(request)
        connecting = connector.engine.start(request)
        connecting.on_over = lambda: over.put("connector")
        connecting.on_progress = watch.connector
        ready = connecting.wait_ready(_SETUP_S)
        setup["setup_round_trip_ns"] = ready.get("setup_round_trip_ns")
        ends = [(listener, listening), (connector, connecting)]
        setup["start"] = _start_together(ends, clocks, lead_s)
        _take_results(exchange, {"connector": connecting, "listener": listening}, over, timeout_s)
    except LabError as error:
        exchange.error = error
        _end(exchange, listener, listening, connector, connecting)
    except BaseException:
        # Ctrl-C: the engines must not go on measuring for nobody.
        _end(exchange, listener, listening, connector, connecting)
        raise


def _take_results(
    exchange: Exchange,
    waiting: dict[str, Measurement],
    over: queue.SimpleQueue[str],
    timeout_s: float,
) -> None:
    """Take the results of both ends, whichever comes first. Where one end fails the other is not
    waited for: it may be the one that hangs.

    Args:
        waiting: The measurements, by the end's name in `exchange`.
        over: Has the names of those that are over.
    """
    deadline = time.monotonic() + timeout_s
    while waiting:
        try:
            name = over.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise next(iter(waiting.values())).overdue(timeout_s) from None
        setattr(exchange, name, waiting.pop(name).result(0.0))


class _Watch:
    """Joins the progress lines of both ends."""

    def __init__(self, on_progress: Callable[[Progress], None] | None) -> None:
        self._on_progress = on_progress
        self._sent_messages: int | None = None

    def connector(self, line: dict[str, Any]) -> None:
        self._sent_messages = line["messages"]

    def listener(self, line: dict[str, Any]) -> None:
        if self._on_progress is not None:
            elapsed_s = line["elapsed_ns"] / 1e9
            self._on_progress(
                Progress(elapsed_s, line["messages"], line["bytes"], self._sent_messages)
            )


def _without_session(request: Mapping[str, object]) -> dict[str, object]:
    """A request for the record: its token is of no use to anyone once the trial is over."""
    return {key: value for key, value in request.items() if key != "session"}


def _start_together(
    ends: list[tuple[End, Measurement]], clocks: Clocks, lead_s: float
) -> dict[str, Any]:
    """Give both ends, the listener first, the same start. The record says how sure that is."""
    starts_ns = clocks.starts_ns(time.monotonic_ns() + round(lead_s * 1e9))
    margins = []
    for (end, measurement), at_ns in zip(ends, starts_ns, strict=True):
        arm = {"type": "arm", "target": measurement.id, "at_ns": at_ns}
        margins.append(end.engine.ask(arm)["margin_ns"])
    return {
        "lead_s": lead_s,
        "shared_clock": clocks.is_one_clock,
        "clock_error_ns": clocks.relation()["error_ns"],
        "margins_ns": margins,
    }


def _end(
    exchange: Exchange,
    listener: End,
    listening: Measurement | None,
    connector: End,
    connecting: Measurement | None,
) -> None:
    """End both requests of a trial that failed, and keep what they had measured until then."""
    error = exchange.error
    partial = error.partial if isinstance(error, EngineError) else None
    if partial is not None and partial["kind"] in ("stream_received", "echo_responded"):
        exchange.listener = partial
    elif partial is not None:
        exchange.connector = partial
    others: list[EngineError] = []
    if exchange.connector is None and connecting is not None:
        exchange.connector = _cancelled(connector, connecting, others)
    if exchange.listener is None and listening is not None:
        exchange.listener = _cancelled(listener, listening, others)
    if isinstance(error, EngineError) and error.code.startswith(_OF_THE_OTHER):
        # That its peer is gone is all that this end could say; the peer may have said why.
        told = (o for o in others if not o.code.startswith((_OF_THE_OTHER, _CANCELLED)))
        exchange.error = next(told, error)


def _cancelled(
    end: End, measurement: Measurement, others: list[EngineError]
) -> dict[str, object] | None:
    """Cancel a request and take what it had measured; `None` if there is nothing to be had. What
    it ended with goes to `others`; an engine that does not answer is ended."""
    if end.engine.is_lost or measurement.is_over:
        return None
    try:
        # It may have ended by itself meanwhile, and is unknown then.
        with contextlib.suppress(EngineError):
            end.engine.ask({"type": "cancel", "target": measurement.id}, _CANCEL_S)
        return measurement.result(_CANCEL_S)
    except EngineError as error:
        others.append(error)
        return error.partial
    except EngineLost:
        end.engine.give_up(_CANCEL_S)
        return None
