"""
Arrivals in each step of a stream's time.

The report of a single measurement adds the steps that it draws to the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.traffic.series_rows import Rows
from lanlab.analysis.trials.attempts import condition_key, counting
from lanlab.frozen import dataclass
from lanlab.roles import RECEIVER, REVERSE_PREFIX, has_streams
from lanlab.store import TrialRecord
from lanlab.store.series import Column
from lanlab.trial_data import SeriesPart

INTERVALS = "intervals"
REVERSE_RECEIVER = f"{REVERSE_PREFIX}{RECEIVER}"
#: Maximum trials in a figure; more lines could not be distinguished.
MOST_TRIALS = 4
_MOST_STEPS = 100
_LEAST_STRETCH_NS = 1_000_000_000


@dataclass(frozen=True)
class Step:
    start_ns: int
    width_ns: int
    octets: int


def joined_steps(octets: Sequence[int], width_ns: int) -> list[Step]:
    """
    Steps of equal width, merged to the number that a figure can show; an incomplete last step is
    dropped.

    Examples:
        >>> [step.octets for step in joined_steps([1, 2, 3], 10)]
        [1, 2, 3]
        >>> steps = joined_steps(range(250), 10)
        >>> len(steps), steps[1]
        (83, Step(start_ns=30, width_ns=30, octets=12))
    """
    together = -(-len(octets) // _MOST_STEPS) or 1
    return [
        Step(at * width_ns, together * width_ns, sum(map(int, octets[at : at + together])))
        for at in range(0, len(octets) - together + 1, together)
    ]


def drawn_trials(trials: Sequence[TrialRecord]) -> frozenset[int]:
    """Numbers of the trials to draw, of each experiment: the first of each condition, or of many
    conditions some that are spread evenly by their rates; the first few if nothing varies.
    """
    found: dict[str, dict[str, list[TrialRecord]]] = {}
    for trial in counting(trials):
        conditions = found.setdefault(trial.experiment, {})
        conditions.setdefault(condition_key(trial.factors), []).append(trial)
    return frozenset(one.number for own in found.values() for one in _spread([*own.values()]))


def _spread(conditions: Sequence[Sequence[TrialRecord]]) -> Sequence[TrialRecord]:
    if len(conditions) == 1:
        return conditions[0][:MOST_TRIALS]
    firsts = [own[0] for own in conditions]
    firsts.sort(key=lambda trial: trial.metrics.get("goodput_bps", 0.0))
    step = max(1.0, (len(firsts) - 1) / (MOST_TRIALS - 1))
    return [firsts[round(place * step)] for place in range(min(len(firsts), MOST_TRIALS))]


def steps_of(trial: TrialRecord, role: str = RECEIVER) -> list[Step]:
    """The steps added to a trial's record; empty if none were added.

    Args:
        role: `REVERSE_RECEIVER` for the second direction, which has the same start.
    """
    return [Step(*row) for row in STEPS.of(trial, role)]


def stretches_of(trial: TrialRecord) -> list[Step]:
    """The measured time of a trial in steps of at least a second, without a shorter rest."""
    steps = steps_of(trial)
    begin_ns = 1e9 * float(trial.parameters.get("warmup_s") or 0)
    end_ns = begin_ns + int(trial.result(RECEIVER).get("window_ns") or 0)
    own = [s for s in steps if s.start_ns >= begin_ns and s.start_ns + s.width_ns <= end_ns]
    count = -(-_LEAST_STRETCH_NS // own[0].width_ns) if own else 1
    return [
        Step(
            own[at].start_ns, count * own[at].width_ns, sum(s.octets for s in own[at : at + count])
        )
        for at in range(0, len(own) - count + 1, count)
    ]


def _rows(columns: Mapping[str, Column], section: SeriesPart) -> list[list[int]]:
    steps = joined_steps(columns["bytes"].tolist(), int(section["interval_ns"]))
    return [[one.start_ns, one.width_ns, one.octets] for one in steps]


STEPS = Rows(
    (RECEIVER, REVERSE_RECEIVER), INTERVALS, _rows, lambda trial: has_streams(trial.workload)
)
