"""The outcome of a trial, and its progress."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field

from lanlab.errors import LabError
from lanlab.frozen import dataclass
from lanlab.trial_data import Capabilities, RoleResult, Setup, TcpNow


@dataclass(frozen=True)
class Progress:
    elapsed_s: float
    messages: int
    bytes: int
    #: Messages sent by about the same time, if the sender reports them.
    sent_messages: int | None
    #: Datagrams up to the newest that has arrived, if the receiver reports them; and the current
    #: variation of their delay (RFC 3550), once measured.
    expected_messages: int | None = None
    delay_variation_ns: int | None = None
    #: Current state of the sender's TCP connections in its kernel, as in the engine's `TcpNow`.
    tcp: TcpNow | None = None
    reverse: Progress | None = None


@dataclasses.dataclass
class TrialOutcome:
    """The outcome of a trial. A failed one has `error`, and the results up to then."""

    results: dict[str, RoleResult] = field(default_factory=dict)
    #: The requests and details of the start: needed to repeat the trial.
    setup: Setup = field(default_factory=Setup)
    error: LabError | None = None

    def capabilities(self, role: str) -> Capabilities:
        """The abilities of the engine in a role; empty if unknown."""
        return (self.setup.get("capabilities") or {}).get(role) or {}


@dataclass(frozen=True)
class CounterChanges:
    """Increases of the testbed's interface counters over a trial, including its warm-up.

    By name (`rx_drops`, `qdisc_drops`, …), summed over a host's interfaces; counters that the
    testbed lacks are absent.
    """

    by_role: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Changes between the hosts, such as at the ports of a switch; or of both hosts together, such
    #: as at the loopback interface.
    between: Mapping[str, int] = field(default_factory=dict)

    def swapped(self, roles: tuple[str, str]) -> CounterChanges:
        first, second = roles
        names = {first: second, second: first}
        return CounterChanges(
            {names.get(role, role): counts for role, counts in self.by_role.items()}, self.between
        )

    def of(self, role: str) -> Mapping[str, int]:
        return self.by_role.get(role, self.between)


def counter_changes(
    before: Mapping[str, object], after: Mapping[str, object], hosts: Mapping[str, str]
) -> CounterChanges:
    """The changes between a testbed's counters before and after a trial.

    Args:
        before, after: As returned by `Testbed.counters` (`host0/eth0`, then name, to count).
        hosts: Name of the host in each role.
    """
    roles = {host: role for role, host in hosts.items()}
    sums: dict[str, dict[str, int]] = {}
    for interface, counters in after.items():
        earlier = before.get(interface)
        if not isinstance(counters, Mapping) or not isinstance(earlier, Mapping):
            continue  # They could not be read.
        total = sums.setdefault(roles.get(interface.partition("/")[0], ""), {})
        for counter, value in counters.items():
            total[counter] = total.get(counter, 0) + value - earlier.get(counter, 0)
    between = sums.pop("", {})
    return CounterChanges(sums, between)
