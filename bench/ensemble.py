"""
What the fit of a study's machines leaves open: the range of each simulated value over machines that
agree with print.

A printed value is an interval: by its last digit, by its words ("about": a tenth either way), or
by the 95 % interval of its mean where trials or their spread are printed.
Machines of the ensemble have every fitted value within its interval. They are drawn by hit-and-run
(R. L. Smith, Operations Research 32, 1984) with a fixed seed, uniformly over the logarithms of all
fitted numbers, within a linear surrogate: how each value changes with each number, as simulated.
Some members are simulated, which says how far the surrogate is off. The 95 % range of each value is
written into machines.toml as [[range]], from where tables take it, and some members as
[[ensemble]], which `lanlab predict` simulates.

At the end stands how often an interval holds a held-out value: that of each is made from how far
the model missed the others, and from its range (`lanlab.analysis.simulation.model_error`). What
was simulated of them is written as [[prediction]].

    python bench/ensemble.py milanovic-srbljic               # draws, writes, prints
    python bench/ensemble.py milanovic-srbljic --check       # writes nothing
    python bench/ensemble.py milanovic-srbljic --held-out    # only these; writes nothing
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from laboratory import Free, allowed, opened, study_parser, with_values, write_rows

from lanlab.analysis.findings.printed import number_of, ratio_of
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.sample import PrintedSpread, Trials
from lanlab.analysis.simulation.accuracy import Accuracy, kept_accuracies
from lanlab.analysis.simulation.model_error import (
    by_metric,
    by_print_alone,
    cross_validated,
    held_out_values,
    model_error_log,
    with_others,
)
from lanlab.analysis.statistics.intervals import t_half_width
from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.studies.load import LoadedStudy
from lanlab.studies.machines import Ensemble, Simulation

_MEMBERS = 200
#: Steps of the walk between two members.
_THINNING = 50
_SEED = 1
#: Step of the derivatives, as in `fit.py`.
_STEP_RATIO = 0.02
#: No number is taken to be off by more than this factor.
_MOST_LOG = np.log(2.0)
_RANGES = "What the fit leaves open, by `bench/ensemble.py`."
_ENSEMBLE = "Machines that agree with print, by `bench/ensemble.py`: what multiplies each number."
_HELD_OUT = "What was simulated of values held out, by `bench/ensemble.py`."
#: Members that are kept with the study.
_KEPT = 20


def free_of(simulation: Simulation) -> list[Free]:
    """All numbers that were chosen by printed values, by hand or not."""
    return [
        Free(machine.id, name, frozenset(number.fitted))
        for machine in simulation.machine
        for name, number in machine.numbers.items()
        if number.fitted and number.value
    ]


def interval_of(one: Accuracy, loaded: LoadedStudy) -> tuple[float, float]:
    """What a printed value can be, as logarithms of it over what it is printed as."""
    ratio = ratio_of(one.value, loaded.published)
    seen = number_of(one.value) if ratio is None else ratio.ratio
    low, high = spread_of(one, loaded) or (seen.low, seen.high)
    low, high = min(low, seen.low), max(high, seen.high)
    return -np.inf if low <= 0 else float(np.log(low / one.published)), float(
        np.log(high / one.published)
    )


def spread_of(one: Accuracy, loaded: LoadedStudy) -> tuple[float, float] | None:
    """The 95 % interval of a printed mean; `None` where neither trials nor their spread are
    printed."""
    if one.value.statistic != "mean":
        return None
    for cell in PublishedEvidence(loaded).cells(one.value.metric):
        sample = cell.sample
        if cell.stands != "each" or dict(cell.levels) != dict(one.value.condition):
            continue
        if isinstance(sample, Trials):
            return interval_of_mean(one.value.metric, sample.values)
        if isinstance(sample, PrintedSpread):
            half = t_half_width(sample.sd, sample.n)
            return sample.mean - half, sample.mean + half
    return None


def walk(
    jacobian: Any, low: Any, high: Any, random: np.random.Generator, members: int = _MEMBERS
) -> Any:
    """Points d with low <= jacobian d <= high and |d| <= `_MOST_LOG`, of which 0 is one."""
    count = jacobian.shape[1]
    rows = np.vstack([jacobian, np.eye(count)])
    least = np.concatenate([low, np.full(count, -_MOST_LOG)])
    most = np.concatenate([high, np.full(count, _MOST_LOG)])
    at, found = np.zeros(count), []
    for step in range(members * _THINNING):
        way = random.standard_normal(count)
        slope, here = rows @ way, rows @ at
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([(least - here) / slope, (most - here) / slope]), axis=0)
        moves = slope != 0
        first, last = ends[0][moves].max(), ends[1][moves].min()
        if first < last:
            at = at + random.uniform(first, last) * way
        if step % _THINNING == _THINNING - 1:
            found.append(at)
    return np.array(found)


def moved(simulation: Simulation, free: Sequence[Free], logs: Sequence[float]) -> Simulation:
    """The machines with each number times the exponential of its logarithm."""
    values = {}
    for one, log in zip(free, logs, strict=True):
        machine = simulation.machine_named(one.machine)
        assert machine is not None
        values[one] = machine.numbers[one.number].value * float(np.exp(log))
    return with_values(simulation, allowed(values))


def _row(name: str, ends: tuple[float, float]) -> str:
    return f'[[range]]\nvalue = "{name}"\nlow = {ends[0]:.4g}\nhigh = {ends[1]:.4g}\n'


def ensemble_of(metric: str, free: Sequence[Free], members: Any) -> Ensemble:
    """Some of the members, evenly taken, as they are kept with the study."""
    kept = np.exp(members[:: max(1, len(members) // _KEPT)][:_KEPT])
    rows = tuple(tuple(float(f"{factor:.5g}") for factor in row) for row in kept)
    return Ensemble(metric=metric, numbers=tuple(map(str, free)), members=rows)


def _ensemble_row(one: Ensemble) -> str:
    numbers = "".join(f'    "{name}",\n' for name in one.numbers)
    members = "".join(f"    [{', '.join(f'{f:g}' for f in row)}],\n" for row in one.members)
    return (
        f'[[ensemble]]\nmetric = "{one.metric}"\nnumbers = [\n{numbers}]\nmembers = [\n{members}]\n'
    )


def with_kept(found: Sequence[Accuracy], loaded: LoadedStudy) -> list[Accuracy]:
    """The held-out values of these, and those that are kept with the study of others."""
    assert loaded.study.simulation is not None
    kept = kept_accuracies(loaded.published, loaded.study.simulation)
    return with_others(held_out_values(found), kept)


def print_held_out(found: Sequence[Accuracy]) -> None:
    """How often the interval by the others holds a held-out value, and that of print alone."""
    groups = by_metric(found)
    if len(groups) > 1:
        for own in groups:
            print_held_out(own)
        return
    if not cross_validated(found):
        print(f"{len(found)} held-out values are too few to say how far the model errs")
        return
    for name, values in (("the model", found), ("print alone", by_print_alone(found))):
        checked = cross_validated(values)
        for one in checked:
            print(
                f"{name:11} {one.accuracy.value.id:28} {one.accuracy.published:12.4g} "
                f"{one.accuracy.simulated:12.4g} {one.low:12.4g} … {one.high:<12.4g} "
                f"{'inside' if one.is_inside else 'OUTSIDE'}"
            )
        half_log = model_error_log(values)
        if half_log is not None:
            inside = sum(one.is_inside for one in checked)
            print(
                f"{name}: {inside} of {len(checked)} held-out values inside, factor of all "
                f"{np.exp(half_log):.3g}"
            )


def _held_out_row(one: Accuracy) -> str:
    return f'[[prediction]]\nvalue = "{one.value.id}"\nsimulated = {one.simulated:.4g}\n'


def write_held_out(found: Sequence[Accuracy], loaded: LoadedStudy) -> None:
    """Those that nothing is fitted to; what was predicted before a fit, `fit.py` keeps."""
    held_out = [one for one in found if one.standing == "held out"]
    if held_out:
        path = loaded.path.with_name("machines.toml")
        write_rows(path, _HELD_OUT, map(_held_out_row, held_out))


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "--metric", default="", help="only values of this metric; ranges of others stay"
    )
    parser.add_argument(
        "--held-out", action="store_true", help="only how often an interval holds a held-out value"
    )
    parser.add_argument("--simulated", type=int, default=4, help="members that are simulated")
    given = parser.parse_args()
    with opened(given.study, given.scale) as (lab, simulation):
        if given.held_out:
            # What was predicted before a fit took it in is kept, and not simulated again.
            own = lab.accuracy(simulation, metric=given.metric) if simulation.held_out else []
            held_out = with_kept(own, lab.loaded)
            print_held_out(held_out)
            return
        found = lab.accuracy(simulation, metric=given.metric)
        at = np.log([one.simulated for one in found])
        known = {one.value.id for one in found}
        free = [one for one in free_of(simulation) if one.fitted & known]
        columns = []
        for place, one in enumerate(free):
            print(f"{one} ({lab.simulated} trials simulated so far)", file=sys.stderr)
            step = np.zeros(len(free))
            step[place] = np.log1p(_STEP_RATIO)
            other = lab.accuracy(moved(simulation, free, step), metric=given.metric)
            columns.append((np.log([one.simulated for one in other]) - at) / step[place])
        whole = np.stack(columns, axis=1)
        fitted = [place for place, one in enumerate(found) if one.standing == "fitted"]
        named = frozenset().union(*(one.fitted for one in free))
        fitted = [place for place in fitted if found[place].value.id in named]
        off = at[fitted] - np.log([found[place].published for place in fitted])
        ends = np.array([interval_of(found[place], lab.loaded) for place in fitted])
        # A value that the fit misses may stay as far off, and come no further.
        low, high = np.minimum(ends[:, 0] - off, 0.0), np.maximum(ends[:, 1] - off, 0.0)
        members = walk(whole[fitted], low, high, np.random.default_rng(_SEED))
        values = at + members @ whole.T
        lows, highs = np.quantile(values, [0.025, 0.975], axis=0)
        errors = []
        for member, expected in zip(members[: given.simulated], values, strict=False):
            changed = lab.accuracy(moved(simulation, free, member), metric=given.metric)
            seen = np.log([one.simulated for one in changed])
            errors.append(np.abs(seen - expected))
        ranges = {one.value: (one.low, one.high) for one in simulation.range}
        for place, one in enumerate(found):
            ends_of = float(np.exp(lows[place])), float(np.exp(highs[place]))
            ranges[one.value.id] = ends_of
            held = "holds print" if ends_of[0] <= one.published <= ends_of[1] else ""
            print(
                f"{one.value.id:24} {one.published:12.5g} {one.simulated:12.5g} "
                f"{ends_of[0]:12.5g} … {ends_of[1]:<12.5g} {one.standing:10} {held}"
            )
        if errors:
            worst = np.max(errors, axis=0)
            print(
                f"{len(errors)} members simulated: the surrogate is off by up to "
                f"{100 * np.expm1(worst.max()):.1f} % ({found[int(worst.argmax())].value.id}), "
                f"half of the values by less than {100 * np.expm1(np.median(worst)):.1f} %"
            )
        held_out = [
            replace(one, low=ends[0], high=ends[1])
            if one.standing == "held out" and (ends := ranges.get(one.value.id))
            else one
            for one in with_kept(found, lab.loaded)
        ]
        print_held_out(held_out)
        print(f"{lab.simulated} trials were simulated")
        if not given.check:
            write_held_out(held_out, lab.loaded)
            path = lab.loaded.path.with_name("machines.toml")
            write_rows(path, _RANGES, itertools.starmap(_row, ranges.items()))
            others = [one for one in simulation.ensemble if given.metric not in ("", one.metric)]
            own = ensemble_of(given.metric, free, members)
            write_rows(path, _ENSEMBLE, map(_ensemble_row, [*others, own]))


if __name__ == "__main__":
    main()
