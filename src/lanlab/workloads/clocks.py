"""
How the monotonic clocks of two engines stand to each other.

Ends of one kernel have one clock unless something gives them another: a time namespace, or an
engine whose clock begins with its process. So the same boot is not believed alone; both clocks are
read beside ours, and must agree as far as such readings can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanlab.workloads.exchange import End, Exchange

#: What is reported of the distribution of one-way delays.
_ONE_WAY = ("min_ns", "p50_ns", "p99_ns")


@dataclass(frozen=True)
class Reading:
    """One end's clock beside ours, as `Engine.clock_offset` gives it."""

    #: Its clock less ours at the same moment, right to within `error_ns`.
    offset_ns: int
    error_ns: int


@dataclass(frozen=True)
class Clocks:
    """Both ends' clocks, read one shortly after the other."""

    listener: Reading
    connector: Reading
    #: Whether both ends run on one kernel, as far as is known.
    same_kernel: bool

    @property
    def difference_ns(self) -> int:
        """The connector's clock less the listener's at the same moment, as measured."""
        return self.connector.offset_ns - self.listener.offset_ns

    @property
    def bound_ns(self) -> int:
        """The measured difference is right to within so much."""
        return self.connector.error_ns + self.listener.error_ns

    @property
    def is_one_clock(self) -> bool:
        """Whether it is one clock: one kernel, and no difference that could be told from none."""
        return self.same_kernel and abs(self.difference_ns) <= self.bound_ns

    def relation(self) -> dict[str, int]:
        """As an engine is told of the other end's clock; see `ClockRelation` in its messages."""
        if self.is_one_clock:
            return {"offset_ns": 0, "error_ns": 0}
        return {"offset_ns": self.difference_ns, "error_ns": self.bound_ns}

    def starts_ns(self, ours_ns: int) -> tuple[int, int]:
        """A moment of our clock on the listener's and on the connector's."""
        listener_ns = ours_ns + self.listener.offset_ns
        if self.is_one_clock:
            return listener_ns, listener_ns
        return listener_ns, ours_ns + self.connector.offset_ns


def read_clocks(listener: End, connector: End) -> Clocks:
    """Read both clocks: some exchanges with each engine, a few milliseconds in all.

    Raises:
        EngineLost: An engine is gone.
    """
    return Clocks(
        Reading(*listener.engine.clock_offset()),
        Reading(*connector.engine.clock_offset()),
        listener.boot_id is not None and listener.boot_id == connector.boot_id,
    )


def clock_record(before: Clocks, after: Clocks | None) -> dict[str, Any]:
    """
    What a trial's record says of its clocks.

    Args:
        before: By which the trial was run.
        after: The same at its end; `None` if the trial failed or an engine was lost.

    Returns:
        `same_kernel`; `shared_clock`; `before` and `after` with each end's reading and the
        difference measured; `relation`, which the engine was given; `drift_ns`, by how much the
        difference has changed; and `bound_ns`: a time from one clock to the other is right to
        within so much (0 for one clock). It holds the drift too, as the clocks stood as in
        `relation` when the trial began, and as measured `after` when it ended.
    """
    relation = before.relation()
    record: dict[str, Any] = {
        "same_kernel": before.same_kernel,
        "shared_clock": before.is_one_clock,
        "relation": relation,
        "bound_ns": relation["error_ns"],
        "before": _measured(before),
    }
    if after is not None:
        record["after"] = _measured(after)
        record["drift_ns"] = after.difference_ns - before.difference_ns
        if not (before.is_one_clock and after.is_one_clock):
            moved_ns = abs(after.difference_ns - relation["offset_ns"])
            record["bound_ns"] = max(relation["error_ns"], moved_ns + after.bound_ns)
    return record


def one_way_metrics(exchange: Exchange) -> dict[str, int]:
    """The one-way delays that a receiver measured, and `clock_error_ns`: each is right to within
    that. Nothing without the clocks' relation, or where messages carry no send time."""
    received: Mapping[str, Any] = exchange.listener or {}
    delay = received.get("one_way_delay")
    if delay is None or delay["samples"] == 0 or "clocks" not in exchange.setup:
        return {}
    return {f"one_way_delay_{name}": delay[name] for name in _ONE_WAY} | {
        "clock_error_ns": exchange.setup["clocks"]["bound_ns"]
    }


def _measured(clocks: Clocks) -> dict[str, Any]:
    return {
        "listener": asdict(clocks.listener),
        "connector": asdict(clocks.connector),
        "difference_ns": clocks.difference_ns,
        "error_ns": clocks.bound_ns,
    }
