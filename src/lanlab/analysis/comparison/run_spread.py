"""
The spread between runs of one setting, from other runs in the store.

Single runs of two settings cannot show whether they differ more than runs of one setting do,
because all trials of a run share its minutes. Other runs with the same conditions, testbed and
machine show the spread between runs. Its degrees of freedom are the number of runs less the number
of groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.comparison.sides import Run, Side, centre, sample_of, started_s
from lanlab.analysis.trials.attempts import condition_key
from lanlab.frozen import dataclass
from lanlab.plan.conditions import Condition, expand
from lanlab.store import RunRecord
from lanlab.studies.model import Study

if TYPE_CHECKING:
    from lanlab.analysis.statistics.two_groups import KnownSpread

#: With fewer, all runs may have missed a disturbance that affects one run in ten.
LEAST_DF = 9
#: Load persists: runs within a minute are more alike than runs within a day. Other runs must span
#: at least this multiple of the time between both sides.
SPAN = 10
_MACHINE = ("system", "architecture", "kernel", "processor", "processors", "memory_bytes")


@dataclass(frozen=True)
class Others:
    """Other runs of the study that show how much runs differ."""

    #: Groups of runs with one setting: each has one testbed, machine, scale and set of versions.
    groups: tuple[tuple[Run, ...], ...]
    #: Number of runs before omitting groups that are too close in time.
    offered: int

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(run for group in self.groups for run in group)

    def spread(
        self, conditions: Sequence[Condition], metric: str, scale: str
    ) -> KnownSpread | None:
        """
        The spread between runs of a metric.

        Args:
            conditions: The conditions of both sides; other runs' conditions must have the same
                factors and parameters.
            metric: Key of trials' results.
            scale: The scale on which runs are compared.

        Returns:
            `None` if too few runs have the metric.
        """
        from lanlab.analysis.statistics.two_groups import KnownSpread

        squares, df = 0.0, 0
        for group in self.groups:
            for condition in {repr(one): one for one in conditions}.values():
                values = []
                for run, trials in group:
                    found = conditions_of(run).get(
                        (condition.experiment, condition_key(condition.factors))
                    )
                    sample = sample_of(trials, condition, metric)
                    if found == condition and sample.n:
                        values.append(centre(sample.values, scale))
                if scale == "log":
                    values = [math.log(value) for value in values if value > 0]
                if len(values) >= 2:
                    mean = math.fsum(values) / len(values)
                    squares += math.fsum((value - mean) ** 2 for value in values)
                    df += len(values) - 1
        return KnownSpread(math.sqrt(squares / df), df) if df >= LEAST_DF else None


def others_for(base: Side, other: Side, runs: Sequence[Run]) -> Others:
    """
    The runs that show how much runs of these sides differ.

    Args:
        base, other: The compared sides; their own runs are omitted.
        runs: All runs of the store that may match.
    """
    own = {run.id for side in (base, other) for run, _ in side.runs}
    places = {_place(run) for side in (base, other) for run, _ in side.runs}
    groups: dict[str, list[Run]] = {}
    for run, trials in runs:
        if run.id not in own and run.status == "done" and _place(run) in places:
            groups.setdefault(f"{_place(run)} {_setting(run)}", []).append((run, trials))
    apart_s = abs(base.middle_s - other.middle_s)
    kept = []
    for group in groups.values():
        begun = [started_s(run) for run, _ in group]
        if max(begun) - min(begun) >= SPAN * apart_s:
            kept.append(tuple(group))
    return Others(tuple(kept), sum(map(len, groups.values())))


def check_other(run: RunRecord) -> None:
    """Raise any error that using the record of another run would raise, because it is malformed."""
    _place(run), _setting(run), started_s(run), conditions_of(run)


def _place(run: RunRecord) -> str:
    bed = run.testbed
    hosts = (bed.get("facts") or {}).get("hosts") or {}
    machines = [
        [name, *(facts.get(fact) for fact in _MACHINE)] for name, facts in sorted(hosts.items())
    ]
    return repr([run.scale, bed.get("name"), bed.get("link"), bed.get("link_rate_bps"), machines])


def _setting(run: RunRecord) -> str:
    engine = None
    if run.alternation is not None:
        engine = run.alternation["sides"][run.alternation["side"]].get("engine")
    return repr([sorted(run.versions.items()), engine])


def conditions_of(run: RunRecord) -> dict[tuple[str, str], Condition]:
    study = Study.model_validate(run.study)
    return {(one.experiment, condition_key(one.factors)): one for one in expand(study, run.scale)}
