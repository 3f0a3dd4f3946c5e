"""
Relates the monotonic clocks of a trial's engines to each other.

Engines on one kernel share a clock, unless a time namespace or an engine whose clock starts with
its process prevents it. So equal boot ids are not enough; all clocks are compared with ours, and
must agree within the error of reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lanlab.frozen import dataclass
from lanlab.performers.engine_host import EngineHost
from lanlab.trial_data import ClockRecord, ClockRelation

_PINGS, _PINGS_ONE_KERNEL = 16, 4


@dataclass(frozen=True)
class Reading:
    """An engine's clock compared with ours, from `Engine.clock_offset`."""

    #: The host's clock minus ours at the same moment, accurate to `error_ns`.
    offset_ns: int
    error_ns: int
    #: Identifies the host's kernel; `None` if unknown.
    boot_id: str | None = None


@dataclass(frozen=True)
class Relation:
    #: One clock minus the other at the same moment, as measured, accurate to `bound_ns`.
    difference_ns: int
    bound_ns: int
    same_kernel: bool

    @property
    def is_one_clock(self) -> bool:
        """Whether both are the same clock: one kernel, and no difference beyond the error of
        reading.
        """
        return self.same_kernel and abs(self.difference_ns) <= self.bound_ns

    def to_json(self) -> ClockRelation:
        """The relation as `ClockRelation` of the engine's messages."""
        if self.is_one_clock:
            return {"offset_ns": 0, "error_ns": 0}
        return {"offset_ns": self.difference_ns, "error_ns": self.bound_ns}


@dataclass(frozen=True)
class Clocks:
    """The clocks of all parts of a trial, read shortly after each other."""

    readings: Mapping[str, Reading]

    @property
    def first(self) -> Reading:
        return next(iter(self.readings.values()))

    def relations(self) -> list[Relation]:
        first = self.first
        return [
            Relation(
                reading.offset_ns - first.offset_ns,
                reading.error_ns + first.error_ns,
                reading.boot_id is not None and reading.boot_id == first.boot_id,
            )
            for reading in self.readings.values()
        ]

    def between(self, name: str, other: str) -> Relation:
        pair = Clocks({other: self.readings[other], name: self.readings[name]})
        return pair.last()

    def last(self) -> Relation:
        return self.relations()[-1]

    @property
    def are_one_clock(self) -> bool:
        others = self.relations()[1:]
        return all(relation.is_one_clock for relation in others)

    @property
    def bound_ns(self) -> int:
        """Largest error of an offset to the first clock; 0 for a common clock."""
        return max((each.to_json()["error_ns"] for each in self.relations()[1:]), default=0)

    @property
    def are_one_kernel(self) -> bool:
        return all(relation.same_kernel for relation in self.relations()[1:])

    def starts_ns(self, ours_ns: int) -> list[int]:
        """A time of our clock on each of the hosts' clocks; one number for a common clock."""
        first_ns = ours_ns + self.first.offset_ns
        return [
            first_ns if number == 0 or relation.is_one_clock else first_ns + relation.difference_ns
            for number, relation in enumerate(self.relations())
        ]


def read_clocks(hosts: Mapping[str, EngineHost]) -> Clocks:
    """Read the clock of each engine: a few exchanges with each, a few milliseconds in all.

    On one kernel a few exchanges show whether the clock is common; `error_ns` gives the accuracy.

    Raises:
        EngineLost: An engine is gone.
    """
    boots = {host.boot_id for host in hosts.values()}
    pings = _PINGS_ONE_KERNEL if len(boots) == 1 and None not in boots else _PINGS
    return Clocks(
        {
            name: Reading(*host.engine.clock_offset(pings), host.boot_id)
            for name, host in hosts.items()
        }
    )


def clock_record(before: Clocks, after: Clocks | None) -> ClockRecord:
    """
    The clocks in the form of a trial's record.

    Args:
        before: The relation used for the trial.
        after: The relation at its end; `None` if the trial failed or an engine was lost. Then the
            bound includes no drift.
    """
    relation = before.last().to_json()
    record: ClockRecord = {
        "same_kernel": before.are_one_kernel,
        "shared_clock": before.are_one_clock,
        "relation": relation,
        "bound_ns": before.bound_ns,
        "before": _measured(before),
    }
    if after is not None:
        record["after"] = _measured(after)
        record["drift_ns"] = after.last().difference_ns - before.last().difference_ns
        if not (before.are_one_clock and after.are_one_clock):
            record["bound_ns"] = max(
                record["bound_ns"], *_moved_ns(before.relations(), after.relations())
            )
    return record


def _moved_ns(before: Sequence[Relation], after: Sequence[Relation]) -> list[int]:
    return [
        abs(then.difference_ns - first.to_json()["offset_ns"]) + then.bound_ns
        for first, then in zip(before[1:], after[1:], strict=True)
    ]


def _measured(clocks: Clocks) -> dict[str, ClockRelation]:
    last = clocks.last()
    readings = {
        name: {"offset_ns": reading.offset_ns, "error_ns": reading.error_ns}
        for name, reading in clocks.readings.items()
    }
    both = {"difference_ns": last.difference_ns, "error_ns": last.bound_ns}
    return cast("dict[str, ClockRelation]", {**readings, **both})
