"""
The steps of one trial, defined by a workload and executed by a performer.

A trial opens its resources, prepares, runs its timed part, verifies, and cleans up, also after a
failure. Each step is a request to the host in a role. The workload defines the requests; the
performer decides on the common start, time-outs, cancellation and the reference clock.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol, cast

from lanlab import trial_data as m
from lanlab.addresses import seen_from
from lanlab.frozen import dataclass
from lanlab.workloads.outcome import Progress

if TYPE_CHECKING:
    from lanlab.workloads.services.parameters import ServiceParameters

TOO_LONG_HINT = "find out why the server is so slow, or raise `--longest`"
#: Extra time for the timed step, beyond its duration and the silence that its parts allow.
MARGIN_S = 15.0


@dataclass(frozen=True)
class Before:
    """Facts on the earlier parts of the timed step when a further part is requested."""

    ports: Sequence[int] = ()
    #: The clock of the last part relative to that of the first: `offset_ns`, `error_ns`.
    clock: m.ClockRelation = field(default_factory=m.ClockRelation)
    listening: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    role: str
    request: Callable[[Before], m.Request]
    place: int = 0
    #: Name of the part whose clock `Before.clock` describes; `None`: the last part.
    clock_of: str | None = None


@dataclasses.dataclass
class EngineReport:
    role: str
    host: str = ""
    #: Result of the part; if it failed, the results up to then, if reported.
    result: m.RoleResult | None = None
    lines: dict[str, list[m.Line]] = field(default_factory=dict)


class Server(Protocol):
    @property
    def target(self) -> m.Target:
        """The server in the form of a request to an engine, including credentials."""

    @property
    def root(self) -> str | None:
        """The served directory, on the host in the server's role; `None`: elsewhere."""


class Stage(Protocol):
    """What steps may request from their performer. Everything it opens ends with the trial."""

    @property
    def setup(self) -> m.Setup:
        """For the record."""

    def ask(self, role: str, request: m.Request, within_s: float) -> m.Result:
        """Run a request to its end on the host in a role.

        Raises:
            EngineError: It failed. Pending requests are cancelled.
        """

    def address(self, role: str, place: int = 0) -> str:
        """Address of a host."""

    def raw_link(self, role: str) -> m.LinkPlace | None:
        """Ethernet interface of a host, in the form of a request to its engine; `None` if it has
        none.
        """

    def spare_address(self, role: str) -> str | None:
        """An unused IPv4 address in the network of a host; `None` if unknown."""

    def hosts(self, role: str) -> int:
        """Number of hosts with the role."""

    def round_trip_ns(self) -> int:
        """Minimum round trip between the hosts, as far as known in advance."""

    def share_a_kernel(self) -> bool:
        """Whether all hosts are known to be one machine."""

    def serve(self, parameters: ServiceParameters, connections: int) -> Server:
        """Start, or find, the file server of a condition.

        Args:
            connections: Connections at the same time; 0: no more than any process may have.
        """

    def serve_peer(self, role: str, service: str) -> int:
        """Start a plain TCP service on a host and return its port.

        Args:
            service: `discard`, `echo` or `chargen`.
        """

    def directory(self, role: str, medium: str) -> str:
        """A temporary directory on a host for this trial, removed with all its content.

        Args:
            medium: `disk` or `tmpfs`.
        """

    def dataset(self, role: str, medium: str, key: str, described: m.Spec, within_s: float) -> str:
        """The directory of a dataset on a host, generated and compared with its description.

        Args:
            key: Key of the description.
        """

    def make_memory_ready(self, role: str, octets: int, files: int, directory: str) -> None:
        """Reserve memory on a host for files that will be written to one of its directories."""

    def free_bytes(self, role: str, directory: str) -> int | None:
        """Free space of a directory's file system on a host; `None` if unknown."""

    def to_remove(
        self, parameters: ServiceParameters, kind: str, spec: m.Spec, within_s: float
    ) -> Callable[[BaseException | None], None]:
        """
        Register the removal of a trial from its server. At a user's own server it is recorded, so
        that a later trial removes it if this process is killed; leftovers of earlier trials are
        removed now.

        Args:
            parameters: Parameters of the condition.
            kind: Kind of the request that removes it.
            spec: Specification in that request; later additions to it count.

        Returns:
            To be called with the reason why the trial failed, or `None`.
        """


class Steps:
    """The steps of one trial of a workload. By default each does nothing."""

    #: Time limit for connecting and other preparation of the timed step.
    setup_s = 40.0
    #: Whether the parts are alike and independent, so that a failure of one does not end the
    #: others.
    are_alike = False
    #: Whether to count the frames on lanlab's own medium during the timed step.
    counts_sent = False
    #: Hint for a step that timed out while the engine waited for another program; `None` if it does
    #: not wait for one.
    too_long_hint: str | None = None

    def open(self, stage: Stage) -> None:
        """Open the trial's resources. If this fails there is nothing to clean up."""

    def prepare(self, stage: Stage) -> None:
        """Run the steps before the timed step."""

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """The parts of the timed step. Parts of one group are set up at once, the next group when
        all before it are ready; then all start together.
        """
        # Every workload overrides this one, while the other steps are optional.
        raise NotImplementedError

    def longest_s(self) -> float:
        """Time limit of the timed step including its start, seconds."""
        raise NotImplementedError

    def round_trips(self) -> int:
        """Sequential round trips that the timed step may take beyond `longest_s`: for tolerated
        silence, the end, and waits for replies.
        """
        return 8

    def lead_beyond_s(self) -> float:
        """Lead time of the announced start in addition to that of two parts, seconds."""
        return 0.0

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, m.RoleResult]:
        """The results by role, from the reports of the parts, also for a failed trial."""
        return {part.role: part.result for part in reports if part.result is not None}

    def missed_their_time(self, results: Mapping[str, m.RoleResult]) -> bool:
        """Whether an end could do nothing in its time because the machine was busy; the step is
        then repeated."""
        return False

    def progress(self, lines: Sequence[m.Line | None]) -> Progress:
        """Progress of the trial, from each part's last progress line; the first part has one."""
        known = [line for line in lines if line is not None]
        messages = sum(line["messages"] for line in known)
        return Progress(
            known[0]["elapsed_ns"] / 1e9, messages, sum(line["bytes"] for line in known), None
        )

    def check(self, stage: Stage) -> None:
        """Verify the results."""

    def empty(self, stage: Stage, failed: BaseException | None) -> None:
        """Remove what the trial has left.

        Args:
            failed: Why the trial failed; errors of the clean-up must not hide it.
        """


#: Round trips to wait for a silent peer beyond the idle time-out, and its limit.
_ROUND_TRIPS_OF_SILENCE = 3
_MOST_SILENCE_NS = 600_000_000_000


def _on_path(spec: m.Spec, round_trip_ns: int) -> m.Spec:
    silence_ns = spec["silence_ns"] + _ROUND_TRIPS_OF_SILENCE * round_trip_ns
    return {**spec, "silence_ns": min(silence_ns, _MOST_SILENCE_NS)}


def _joined(lines: Sequence[m.Line]) -> m.SeriesPart:
    columns: dict[str, list[int]] = {"flow": []}
    for line in lines:
        columns["flow"] += [line["flow"]] * len(line["at_ns"])
        for name, values in line.items():
            if isinstance(values, list):
                columns.setdefault(name, []).extend(values)
    return cast("m.SeriesPart", columns)


def joined_samples(part: EngineReport) -> m.RoleResult:
    """
    The kernel's TCP state of a part's connections over time, as columns; empty if not reported.
    """
    lines = part.lines.get("tcp_samples")
    return {"tcp_samples": _joined(lines)} if lines else {}


class TwoEnds(Steps):
    """The steps of a workload with one end that listens, and one that connects and begins.

    Args:
        roles: Roles of the end that connects, and of the one that listens.
        listen, connect: Their requests, without addresses, ports and session.
        longest_s: As in `Steps.longest_s`.
        tells_clock: Whether the listener's request contains the offset of the other's clock to its
            own.
        replies: Replies that may be waited for in sequence, beyond the time.
    """

    def __init__(
        self,
        roles: tuple[str, str],
        listen: m.Request,
        connect: m.Request,
        *,
        longest_s: float,
        one_port: bool = False,
        tells_clock: bool = False,
        replies: int = 0,
    ) -> None:
        self._connects, self._listens = roles
        self._listen, self._connect = listen, connect
        self._longest_s, self._one_port, self._tells_clock = longest_s, one_port, tells_clock
        self._replies = replies

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        return self.between(stage, self._connects, self._listens)

    def between(self, stage: Stage, connects: str, listens: str) -> Sequence[Sequence[Part]]:
        session = secrets.token_hex(16)
        spec = _on_path(self._listen["spec"], stage.round_trip_ns())
        here, there = stage.address(listens), stage.address(connects)

        def listen(before: Before) -> m.Request:
            clock: m.Request = {"sender_clock": before.clock.copy()} if self._tells_clock else {}
            return {
                **self._listen,
                "spec": spec,
                "bind": here,
                "peer": seen_from(here, there),
                "session": session,
                **clock,
            }

        def connect(before: Before) -> m.Request:
            ports: m.Request = (
                {"port": before.ports[0]} if self._one_port else {"ports": list(before.ports)}
            )
            return {
                **self._connect,
                "spec": spec,
                "bind": there,
                "peer": seen_from(there, here),
                "session": session,
                **ports,
            }

        return [[Part(listens, listen)], [Part(connects, connect)]]

    def direction(self, stage: Stage, prefix: str) -> tuple[Part, Part]:
        """The part that listens and the part that connects, for a step with more parts.

        Args:
            prefix: Prefix of their roles.
        """
        connects, listens = f"{prefix}{self._connects}", f"{prefix}{self._listens}"
        (listen,), (connect,) = self.between(stage, connects, listens)
        return (
            Part(listens, listen.request, clock_of=connects),
            Part(
                connects,
                lambda before: connect.request(replace(before, ports=before.listening[listens])),
            ),
        )

    def longest_s(self) -> float:
        return self._longest_s

    def round_trips(self) -> int:
        return super().round_trips() + 3 * self._replies

    def lengthen(self, time_ns: int) -> None:
        for request in (self._listen, self._connect):
            spec = request["spec"]
            amount = {"time_ns": spec["amount"]["time_ns"] + time_ns}
            request["spec"] = {**spec, "amount": amount}

    def missed_their_time(self, results: Mapping[str, m.RoleResult]) -> bool:
        sent, spec = results.get("sender", {}), self._connect["spec"]
        time_ns = spec["amount"].get("time_ns")
        if time_ns is None or sent.get("sent_messages") != 0:
            return False
        # TCP may be within one long message, and a slow rate may send none in the time.
        is_free = spec.get("transport") == "udp" and spec.get("rate") is None
        is_able = not (sent["refused_messages"] or sent["unsent_messages"])
        return (is_free and is_able) or bool(2 * sent["start_skew_ns"] > time_ns)

    def progress(self, lines: Sequence[m.Line | None]) -> Progress:
        listener, connector = lines
        assert listener is not None
        sent = None if connector is None else connector["messages"]
        elapsed_s = listener["elapsed_ns"] / 1e9
        return Progress(
            elapsed_s,
            listener["messages"],
            listener["bytes"],
            sent,
            listener.get("expected_messages"),
            listener.get("delay_variation_ns"),
            None if connector is None else connector.get("tcp"),
        )

    def collect(self, reports: Sequence[EngineReport]) -> dict[str, m.RoleResult]:
        found = super().collect(reports)
        for part in reports:
            if part.role in found:
                found[part.role] |= joined_samples(part)
        return found
