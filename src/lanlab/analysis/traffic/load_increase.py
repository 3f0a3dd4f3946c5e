"""
How much load increases round trips: the echo during streams compared with the idle echo of the
same blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.summary import LEAST_FOR_INTERVAL
from lanlab.frozen import dataclass
from lanlab.roles import REVERSE_PREFIX
from lanlab.store import Level, TrialRecord

WORKLOAD, FACTOR, ALONE = "load", "load", "none"
#: Goodputs belong to the streams; the idle echo does not depend on them.
GOODPUTS = {"up": "goodput_bps", "down": f"{REVERSE_PREFIX}goodput_bps"}


@dataclass(frozen=True)
class Increase:
    """A difference of one statistic of the round trips, in the unit of its metric."""

    alone: float
    under_load: float
    #: Mean of the differences within blocks; the ends are a 95 % interval by Student's t, `None`
    #: with fewer than three blocks.
    mean: float
    low: float | None
    high: float | None
    blocks: int


@dataclass(frozen=True)
class LoadResult:
    experiment: str
    load: str
    factors: Mapping[str, Level]
    #: `None` if no block has both echoes.
    median: Increase | None
    p99: Increase | None
    mean: Increase | None
    #: Share of the requests without a reply, over all trials.
    loss_alone_ratio: float | None
    loss_ratio: float | None
    goodput_bps: Mapping[str, float]
    #: 60 s divided by the mean round trip under load.
    echo_round_trips_per_minute: float | None
    trials: int


def load_results(trials: Sequence[TrialRecord], experiment: str) -> list[LoadResult]:
    """
    Each load of an experiment compared with the idle echo, in the order of the trials' levels.

    Args:
        trials: Trials of a run; those of other experiments are ignored.
        experiment: Its id.
    """
    own = [t for t in counting(trials) if t.experiment == experiment and t.workload == WORKLOAD]
    groups: dict[tuple[tuple[str, Level], ...], dict[str, list[TrialRecord]]] = {}
    for trial in own:
        rest = tuple(sorted((k, v) for k, v in trial.factors.items() if k != FACTOR))
        loads = groups.setdefault(rest, {})
        loads.setdefault(str(trial.parameters[FACTOR]), []).append(trial)
    order = ("up", "down", "both")
    return [
        _result(experiment, load, dict(rest), loads.get(ALONE, []), loads[load])
        for rest, loads in groups.items()
        for load in order
        if load in loads
    ]


def _result(
    experiment: str,
    load: str,
    factors: Mapping[str, Level],
    alone: Sequence[TrialRecord],
    loaded: Sequence[TrialRecord],
) -> LoadResult:
    mean = _increase(alone, loaded, "rtt_mean_ns")
    means = _values(loaded, "rtt_mean_ns")
    return LoadResult(
        experiment=experiment,
        load=load,
        factors=factors,
        median=_increase(alone, loaded, "rtt_p50_ns"),
        p99=_increase(alone, loaded, "rtt_p99_ns"),
        mean=mean,
        loss_alone_ratio=_lost(alone),
        loss_ratio=_lost(loaded),
        goodput_bps={
            way: math.fsum(values) / len(values)
            for way, key in GOODPUTS.items()
            if (values := list(_values(loaded, key).values()))
        },
        echo_round_trips_per_minute=(
            60e9 * len(means) / math.fsum(means.values()) if means else None
        ),
        trials=len(loaded),
    )


def _values(trials: Sequence[TrialRecord], metric: str) -> dict[int, float]:
    return {t.block: float(t.metrics[metric]) for t in trials if metric in t.metrics}


def _lost(trials: Sequence[TrialRecord]) -> float | None:
    offered = sum(t.metrics.get("offered_requests", 0) for t in trials)
    return 1 - sum(t.metrics.get("replies", 0) for t in trials) / offered if offered else None


def _increase(
    alone: Sequence[TrialRecord], loaded: Sequence[TrialRecord], metric: str
) -> Increase | None:
    before, under = _values(alone, metric), _values(loaded, metric)
    blocks = [block for block in under if block in before]
    if not blocks:
        return None
    differences = [under[block] - before[block] for block in blocks]
    low = high = None
    if len(blocks) >= LEAST_FOR_INTERVAL:
        from lanlab.analysis.statistics import mean_interval

        found = mean_interval(differences)
        low, high = found.low, found.high
    return Increase(
        alone=math.fsum(before[block] for block in blocks) / len(blocks),
        under_load=math.fsum(under[block] for block in blocks) / len(blocks),
        mean=math.fsum(differences) / len(blocks),
        low=low,
        high=high,
        blocks=len(blocks),
    )
