"""
A relay between two engines on this machine that loses, repeats, swaps and delays datagrams of its
choice, so that a test knows what the engines must find.

The source sends to the relay at 127.0.0.2, the target hears the relay from there: to either of
them the relay is the peer.
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from trial_running import OnProgress, Pair, Trial, finished

from lanlab.engine import Engine, Measurement
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS, TrialOutcome

ADDRESS = "127.0.0.2"
#: A message of the session: its first octets, after which its kind stands, and the lengths of what
#: is answered and of what is not.
SESSION_MAGIC = b"lanlab\x02"
QUESTION_LENGTH, ANSWER_LENGTH = 64, 48
QUESTIONS = ("hello", "prove", "mark", "finish")
KINDS = ("hello", "challenge", "prove", "accept", "mark", "marked", "alive", "finish", "finished")


def session_kind(datagram: bytes) -> str | None:
    if len(datagram) < ANSWER_LENGTH or not datagram.startswith(SESSION_MAGIC):
        return None
    kind = KINDS[datagram[7] - 1]
    return kind if len(datagram) == session_length(kind) else None


def session_length(kind: str) -> int:
    return QUESTION_LENGTH if kind in QUESTIONS else ANSWER_LENGTH


def session_message(kind: str, token: bytes, first: int = 0, second: int = 0) -> bytes:
    """A message of the session, made by its description and not by the engine."""
    head = SESSION_MAGIC + bytes([KINDS.index(kind) + 1]) + token + bytes(8)
    return (head + first.to_bytes(8) + second.to_bytes(8)).ljust(session_length(kind), b"\0")


@dataclass
class Way:
    """What happens to datagrams one way. Those of the workload are counted from zero."""

    lose: frozenset[int] = frozenset()
    repeat: frozenset[int] = frozenset()
    #: Each of these comes after the one that follows it.
    swap: frozenset[int] = frozenset()
    delay_s: Mapping[int, float] = field(default_factory=dict)
    #: How many of each kind of session message are lost, the first ones.
    lose_session: Mapping[str, int] = field(default_factory=dict)
    #: Session messages that came, by kind, lost ones included.
    seen: Counter[str] = field(default_factory=Counter)
    #: Every session message, in full.
    messages: list[bytes] = field(default_factory=list)
    #: Called with each number before its datagram goes on.
    before: Callable[[int], None] = lambda _: None
    _number: int = 0
    _held: bytes | None = None

    def begin(self) -> None:
        """Forget what came before: a start that was too late for a busy machine is made again."""
        self._number, self._held = 0, None
        self.seen.clear()
        self.messages.clear()

    def take(self, datagram: bytes, send: Callable[[bytes], None]) -> None:
        kind = session_kind(datagram)
        if kind is not None:
            self.messages.append(datagram)
            self.seen[kind] += 1
            if self.seen[kind] > self.lose_session.get(kind, 0):
                send(datagram)
            return
        number, self._number = self._number, self._number + 1
        self.before(number)
        if number in self.lose:
            return
        if number in self.delay_s:
            threading.Timer(self.delay_s[number], send, [datagram]).start()
            return
        if number in self.swap:
            self._held = datagram
            return
        send(datagram)
        if number in self.repeat:
            send(datagram)
        if self._held is not None:
            send(self._held)
            self._held = None


class Relay:
    def __init__(self, target: tuple[str, int], there: Way, back: Way) -> None:
        self.there, self.back = there, back
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._behind = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for each in (self._front, self._behind):
            # All that comes while this process has no processor; a system may allow less.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        try:
            self._front.bind((ADDRESS, 0))
            self._behind.bind((ADDRESS, 0))
        except OSError as error:
            pytest.skip(f"{ADDRESS} is not an address of this machine ({error.strerror})")
        self._behind.connect(target)
        self.target_port = target[1]
        self.port: int = self._front.getsockname()[1]
        self._source: tuple[str, int] | None = None
        self._closing = False
        self._threads = [
            threading.Thread(target=self._pass_there, daemon=True),
            threading.Thread(target=self._pass_back, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def to_target(self, datagram: bytes) -> None:
        if not self._closing:
            try:
                self._behind.send(datagram)
            except OSError:
                # It has closed its port: as good as lost.
                return

    def to_source(self, datagram: bytes) -> None:
        if self._source is not None and not self._closing:
            self._front.sendto(datagram, self._source)

    def _pass_there(self) -> None:
        while not self._closing:
            datagram, self._source = self._front.recvfrom(65_536)
            if datagram or not self._closing:
                self.there.take(datagram, self.to_target)

    def _pass_back(self) -> None:
        while not self._closing:
            try:
                datagram = self._behind.recv(65_536)
            except OSError:
                continue
            if not self._closing:
                self.back.take(datagram, self.to_source)

    def close(self) -> None:
        self._closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            # A datagram ends a thread's wait; the connected socket takes one from its peer only.
            waker.sendto(b"", (ADDRESS, self.port))
        self._behind.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._front.close()
        self._behind.close()


class _Between:
    def __init__(self, engine: Engine, turn: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._engine = engine
        self._turn = turn

    def start(self, request: Mapping[str, object], **more: Any) -> Measurement:
        return self._engine.start(self._turn(dict(request)), **more)

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)


def relayed_exchange(
    pair: Pair,
    workload: str,
    there: Way,
    back: Way,
    on_relay: Callable[[Relay], None] | None = None,
    on_progress: OnProgress | None = None,
    **parameters: Any,
) -> TrialOutcome:
    kind = WORKLOADS[workload]
    # As much as every system allows: room for some 300 messages of 500 bytes while the receiver has
    # no processor.
    room = {"receive_buffer_bytes": 212_992} if workload == "stream" else {}
    condition = kind.Parameters.model_validate({"warmup_s": 0, **room, **parameters})
    relays: list[Relay] = []

    def turn_target(request: dict[str, Any]) -> dict[str, Any]:
        return {**request, "peer": ADDRESS}

    def turn_source(request: dict[str, Any]) -> dict[str, Any]:
        stream = workload == "stream"
        key = "ports" if stream else "port"
        while relays:
            relays.pop().close()
        there.begin()
        back.begin()
        # Every flow has its own, but all of them share what happens on the way.
        for port in request["ports"] if stream else [request["port"]]:
            relays.append(Relay(("127.0.0.1", port), there, back))
            if on_relay is not None:
                on_relay(relays[-1])
        ports = [relay.port for relay in relays]
        through = ports if stream else ports[0]
        return {**request, "peer": ADDRESS, key: through}

    ends = []
    for host, turn in ((0, turn_source), (1, turn_target)):
        end = pair.end(host)
        between = cast("Engine", _Between(end.engine, turn))
        ends.append(EngineHost(between, end.address, end.boot_id))
    try:
        return perform_between(kind, condition, ends[0], ends[1], pair.lead_s, on_progress)
    finally:
        for relay in relays:
            relay.close()


def relayed_trial(
    pair: Pair, workload: str, there: Way | None = None, back: Way | None = None, **parameters: Any
) -> Trial:
    exchange = relayed_exchange(pair, workload, there or Way(), back or Way(), **parameters)
    for key in ("on_relay", "on_progress"):
        parameters.pop(key, None)
    return finished(exchange, workload, **parameters)
