"""
Whether something grows: the rule by which a soak is judged. Numbers in, findings out; no I/O.

A process begins with a warm-up: caches fill, an allocator learns, each kind of trial comes for the
first time. So each life of a process is judged by its second half alone, and its amounts not before
it has seen every condition once. (An engine that was killed is followed by a new one, with a life
of its own.)

**Counts** (descriptors, threads, processes, namespaces, files) must not grow at all. Between trials
the state is the same each time, so the floor of the last third of what is judged may not lie above
the floor of the first.

**Amounts** (memory, time of a commit) are noisy and move in steps. One grows if it does so
*surely*: the lower end of the 95 % interval of its Theil-Sen slope is above the bound, which over
all that is judged has a floor; and
*steadily*: of the four rises of its median from one fifth to the next, three are at least half of
what the bound allows. A step, as an allocator makes, is one rise among four; a leak is four.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from soak_conditions import CONDITIONS

#: Fewer samples than these in what is judged tell nothing: a life that short is not judged.
LEAST_SAMPLES = 20
_FIFTHS = 5
_STEADY_RISES = 3
_THIRDS = 3

#: Bounds of growth for each trial. A leak of 1 KiB a trial is twice the bound.
MEMORY_BOUND_BYTES = 512
#: Objects; one object that is kept for each trial is twice the bound.
BLOCKS_BOUND = 0.5
#: The floors of these bounds, over the whole of what is judged: an interpreter and its libraries go
#: on filling their caches for a few hundred trials. So a soak of three minutes finds a leak of
#: 1 KiB a trial, one of ten minutes half of that.
_MEMORY_FLOOR_BYTES = 96 * 2**10
_BLOCKS_FLOOR = 400
#: As a share of the median, over the whole of what is judged. Commits that take three times as
#: long at the end of ten minutes as at their beginning are beyond it, for all the noise of a disk.
COMMIT_BOUND_RATIO = 0.25
#: The floor of that bound: less is the disk's own business.
_COMMIT_FLOOR_NS = 250_000
#: Longest log beside a store: SQLite writes it back into the file from 1000 pages on, and a record
#: may come on top.
LOG_BOUND_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Life:
    """What one process, or the store, had after each trial of its life."""

    #: Trials, ascending.
    trials: Sequence[int]
    values: Sequence[float]

    def judged(self, warm_up: int) -> Life:
        """Its second half, without its first `warm_up` trials."""
        half = len(self.trials) // 2
        since = self.trials[0] + warm_up if self.trials else 0
        first = max(half, bisect.bisect_left(self.trials, since))
        return Life(self.trials[first:], self.values[first:])


@dataclass(frozen=True)
class Judged:
    """What a series was found to do."""

    #: What was looked at, as in `lanlab: memory`.
    name: str
    unit: str
    #: At the first sample, in the middle, and at the last; `None` if nothing is known of it.
    at: tuple[float, float, float] | None
    #: Growth for each trial: Theil-Sen slope with its 95 % interval, of the longest life.
    slope: tuple[float, float, float] | None
    #: Most that is allowed of the lower end, in words.
    bound: str
    #: What grew, in words; `None` if nothing does.
    finding: str | None
    #: Samples that the judgement stands on; 0: it could not be judged.
    samples: int


def _arrays(life: Life) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.asarray(life.trials, float), np.asarray(life.values, float)


def _judgeable(lives: Iterable[Life], warm_up: int = 0) -> list[Life]:
    """What is to be judged of lives, the longest first; of some there is too little."""
    found = [life.judged(warm_up) for life in lives]
    return sorted(
        (life for life in found if len(life.trials) >= LEAST_SAMPLES),
        key=lambda life: -len(life.trials),
    )


def _at(lives: Sequence[Life]) -> tuple[float, float, float] | None:
    values = [value for life in lives for value in life.values]
    return (values[0], values[len(values) // 2], values[-1]) if values else None


def _slope(trials: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Theil-Sen slope and its 95 % interval (Sen 1968: ties are taken into account)."""
    slope, _, low, high = stats.theilslopes(values, trials, alpha=0.95)
    return float(slope), float(low), float(high)


def _rises(values: NDArray[np.float64]) -> list[float]:
    levels = [float(np.median(fifth)) for fifth in np.array_split(values, _FIFTHS)]
    return [later - earlier for earlier, later in itertools.pairwise(levels)]


def judge_count(name: str, lives: Sequence[Life]) -> Judged:
    """Whether a count has grown between like states, by as little as one."""
    judged = _judgeable(lives)
    finding = None
    for life in judged:
        trials, values = _arrays(life)
        first, *_, last = (float(part.min()) for part in np.array_split(values, _THIRDS))
        if last > first and finding is None:
            finding = (
                f"{name}: never below {first:.0f} from trial {trials[0]:.0f}, "
                f"never below {last:.0f} up to trial {trials[-1]:.0f}"
            )
    return Judged(
        name=name,
        unit="",
        at=_at(lives),
        slope=_slope(*_arrays(judged[0])) if judged else None,
        bound="none at all",
        finding=finding,
        samples=sum(len(life.trials) for life in judged),
    )


def judge_amount(
    name: str,
    lives: Sequence[Life],
    *,
    unit: str,
    bound: float,
    bound_words: str,
    floor: float = 0.0,
) -> Judged:
    """
    Whether an amount grows by more than `bound` for each trial, surely and steadily.

    Args:
        name, unit: For people.
        lives: What is known; a life too short is left out.
        bound: Growth for each trial that is allowed, in `unit`.
        bound_words: The same for people.
        floor: Growth over the whole of what is judged that is allowed in any case.
    """
    judged = _judgeable(lives, CONDITIONS)
    finding = None
    for life in judged:
        trials, values = _arrays(life)
        slope, low, high = _slope(trials, values)
        over = max(bound * (trials[-1] - trials[0]), floor)
        steady = sum(rise >= 0.5 * over / _FIFTHS for rise in _rises(values)) >= _STEADY_RISES
        if low * (trials[-1] - trials[0]) > over and steady and finding is None:
            finding = (
                f"{name}: grows by {slope:,.4g} {unit} a trial ({low:,.4g} … {high:,.4g}), "
                f"from trial {trials[0]:.0f} to {trials[-1]:.0f}"
            )
    return Judged(
        name=name,
        unit=unit,
        at=_at(lives),
        slope=_slope(*_arrays(judged[0])) if judged else None,
        bound=bound_words,
        finding=finding,
        samples=sum(len(life.trials) for life in judged),
    )


def judge_memory(name: str, lives: Sequence[Life]) -> Judged:
    """Whether memory grows, bytes."""
    return judge_amount(
        name,
        lives,
        unit="bytes",
        bound=MEMORY_BOUND_BYTES,
        bound_words=f"{MEMORY_BOUND_BYTES} bytes a trial",
        floor=_MEMORY_FLOOR_BYTES,
    )


def judge_objects(name: str, lives: Sequence[Life]) -> Judged:
    """Whether objects become more."""
    return judge_amount(
        name,
        lives,
        unit="objects",
        bound=BLOCKS_BOUND,
        bound_words=f"{BLOCKS_BOUND} a trial",
        floor=_BLOCKS_FLOOR,
    )


def judge_commits(name: str, life: Life) -> Judged:
    """Whether commits get slower, ns: by a quarter over what is judged."""
    bound = 1.0
    for judged in _judgeable([life], CONDITIONS):
        trials, values = _arrays(judged)
        over = max(COMMIT_BOUND_RATIO * float(np.median(values)), _COMMIT_FLOOR_NS)
        bound = over / (trials[-1] - trials[0])
    return judge_amount(
        name, [life], unit="ns", bound=bound, bound_words="a quarter in the second half"
    )


def judge_log(name: str, life: Life) -> Judged:
    """Whether the store's log is written back in time, bytes."""
    most = max(life.values, default=0)
    finding = (
        f"{name}: reached {most:,.0f} bytes; at most {LOG_BOUND_BYTES:,} are written back in time"
        if most > LOG_BOUND_BYTES
        else None
    )
    return Judged(
        name=name,
        unit="bytes",
        at=_at([life]),
        slope=None,
        bound=f"{LOG_BOUND_BYTES // 2**20} MiB in all",
        finding=finding,
        samples=len(life.trials),
    )
