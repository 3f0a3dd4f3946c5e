"""What a trial came to, and how far it is while it goes on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from lanlab.errors import LabError
from lanlab.frozen import dataclass


@dataclass(frozen=True)
class Progress:
    elapsed_s: float
    messages: int
    bytes: int
    #: Messages that had been sent at about the same time, where the sender tells.
    sent_messages: int | None
    #: Datagrams up to the newest that has come, where the receiver reports them; and by how much
    #: their delay varies now (RFC 3550), once it is measured.
    expected_messages: int | None = None
    delay_variation_ns: int | None = None
    #: What the sender's kernel knows of its TCP connections now, as the engine's `TcpNow`.
    tcp: Mapping[str, int] | None = None
    reverse: Progress | None = None


@dataclasses.dataclass
class TrialOutcome:
    """What a trial left. A failed one has `error`, and the results that there were until then."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: What was asked for and how the start went: what is needed to repeat the trial.
    setup: dict[str, Any] = field(default_factory=dict)
    error: LabError | None = None

    def capabilities(self, role: str) -> Mapping[str, bool]:
        """What the engine in a role can do; empty where it is unknown."""
        return (self.setup.get("capabilities") or {}).get(role) or {}


@dataclass(frozen=True)
class CounterChanges:
    """By how much the testbed's interface counters rose over a trial, warm-up included.

    Each by its name (`rx_drops`, `qdisc_drops`, …), summed over a host's interfaces; a name that
    the testbed does not count is not there.
    """

    by_role: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Changes between the hosts, as at the ports of a switch, or of both hosts together, as at the
    #: interface of loopback.
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
    before: Mapping[str, Any], after: Mapping[str, Any], hosts: Mapping[str, str]
) -> CounterChanges:
    """What a testbed's counters, read before and after a trial, say of it.

    Args:
        before, after: As `Testbed.counters` gives them (`host0/eth0`, then name, to count).
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
