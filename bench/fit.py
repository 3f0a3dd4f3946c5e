"""
Fit the machines of a study to what it published, and write the numbers into its machines.toml.

Every number with `fitted` in machines.toml is free, and what it names is its goal. Numbers and
printed values that hang together are solved together, by least squares on the logarithms of
simulated / published, with the simulator itself and with fixed seeds, so that the same version
gives the same numbers. Values held out are never looked at. At the end all printed values stand
beside the simulated ones.

With `--hold-out` nothing is fitted to the printed values whose names begin so: a number that rests
on them alone is as of the machine that its machine is like. What is simulated of them then is
written into machines.toml as [[prediction]], from where tables take it, and no fitted number
changes there.

    python bench/fit.py manford-kolahi            # fits, writes, prints
    python bench/fit.py manford-kolahi --check    # writes nothing, prints how far off they are
    python bench/fit.py manford-kolahi --check --only rtt.    # of those whose names begin so
    python bench/fit.py milanovic-srbljic --check --finer     # what a grid twice as fine changes
    python bench/fit.py schomer-claason --scale full --hold-out netbeui,nwlink
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from laboratory import (
    Free,
    Laboratory,
    allowed,
    opened,
    study_parser,
    with_values,
    write_rows,
)
from scipy.optimize import least_squares

from lanlab.analysis.simulation.accuracy import STANDINGS, WITHIN_RATIOS, Accuracy, counts, read_off
from lanlab.performers import SimulatedTrial
from lanlab.studies.machines import Simulation

#: Step of the derivatives, as a share of each number: wide enough that a packet more or less is
#: not taken for a slope.
_STEP_RATIO = 0.02
#: Most simulations of all conditions of a group.
_MOST_EVALUATIONS = 60
#: Numbers that come this near to what is printed are left as they are. A mean round trip is one of
#: waits in a queue, and scatters from seed to seed.
_EXACT = 1e-3
_EXACT_OF_ROUND_TRIPS = 8e-2
_DIGITS = 4
_PREDICTIONS = "What was simulated before these values were fitted, by `bench/fit.py --hold-out`."


def free_numbers(simulation: Simulation) -> list[Free]:
    """The numbers that are fitted here, in the order of the file."""
    return [
        Free(machine.id, name, frozenset(number.fitted))
        for machine in simulation.machine
        for name, number in machine.numbers.items()
        if number.fitted and number.by_hand is None
    ]


def groups(free: Sequence[Free]) -> list[list[Free]]:
    """Numbers that share a printed value, directly or by others, together."""
    found: list[tuple[set[str], list[Free]]] = []
    for one in free:
        ids, members = set(one.fitted), [one]
        apart = []
        for other_ids, others in found:
            if other_ids & ids:
                ids |= other_ids
                members = [*others, *members]
            else:
                apart.append((other_ids, others))
        found = [*apart, (ids, members)]
    return [members for _, members in found]


def without(simulation: Simulation, held: frozenset[str]) -> Simulation:
    """The machines as if these printed values were not known."""
    machines = []
    for machine in simulation.machine:
        numbers = {}
        for name, number in machine.numbers.items():
            left = tuple(one for one in number.fitted if one not in held)
            if number.fitted and not left and machine.like is None:
                raise SystemExit(f"{machine.id}.{name}: fitted to held-out values alone, like none")
            if left or not number.fitted:
                numbers[name] = number.model_copy(update={"fitted": left})
        machines.append(machine.model_copy(update={"numbers": numbers}))
    return simulation.model_copy(
        update={
            "machine": tuple(machines),
            "held_out": tuple({*simulation.held_out, *held}),
            "prediction": (),
            "range": (),
        }
    )


def fit_group(lab: Laboratory, simulation: Simulation, group: Sequence[Free]) -> Simulation:
    """The machines with the numbers of one group fitted."""
    published = lab.loaded.published
    ids = sorted(frozenset().union(*(one.fitted for one in group)))
    by_id = {value.id: value for value in published.value}
    conditions = lab.needed(simulation, ids)

    def residuals(logs: Any) -> Any:
        values = {
            one: float(first * np.exp(log - 1))
            for one, first, log in zip(group, start, logs, strict=True)
        }
        tried = with_values(simulation, allowed(values))
        cells = lab.cells(tried, conditions)
        errors = []
        for name in ids:
            value = by_id[name]
            one = read_off(value, published, tried, cells.get(value.metric, ()))
            if one is None:
                raise SystemExit(f"{name}: no simulated condition has it")
            error = np.log(one.simulated / one.published)
            is_kept = {">=": error >= 0, "<=": error <= 0, "<": error <= 0}.get(value.bound or "")
            errors.append(0.0 if is_kept else error)
        return np.array(errors)

    start = np.array([_value(simulation, one) for one in group])
    # Unknown is 1 + log(number / where it starts), so that a step is a share of each number.
    ones = np.ones(len(group))
    is_of_round_trips = all(by_id[name].metric == "rtt_mean_ns" for name in ids)
    exact = _EXACT_OF_ROUND_TRIPS if is_of_round_trips else _EXACT
    # What is reached already stays as it is, so that a second fit changes nothing.
    if float(np.abs(residuals(ones)).max()) < exact:
        return simulation
    found = least_squares(
        residuals,
        ones,
        diff_step=np.full(len(group), _STEP_RATIO),
        xtol=1e-4,
        ftol=1e-6,
        max_nfev=_MOST_EVALUATIONS // (len(group) + 1) + 3,
    )
    fitted = {
        one: float(f"{first * np.exp(log - 1):.{_DIGITS}g}")
        for one, first, log in zip(group, start, found.x, strict=True)
    }
    return with_values(simulation, allowed(fitted))


def _value(simulation: Simulation, one: Free) -> float:
    machine = simulation.machine_named(one.machine)
    assert machine is not None
    return machine.numbers[one.number].value


def write(path: Path, simulation: Simulation, free: Sequence[Free]) -> None:
    """Put the values of the fitted numbers into the file, which is else as it was."""
    text = path.read_text(encoding="utf-8")
    for one in free:
        value = _value(simulation, one)
        place = re.compile(
            rf'(\[\[machine\]\]\s+id = "{re.escape(one.machine)}"(?:(?!\[\[).)*?'
            rf"\n{re.escape(one.number)} = \{{ value = )[0-9._e+-]+",
            re.DOTALL,
        )
        text, count = place.subn(rf"\g<1>{value:.{_DIGITS}g}", text)
        if count != 1:
            raise SystemExit(f"{path}: {one} stands there {count} times")
    path.write_text(text, encoding="utf-8")


def fit(lab: Laboratory, simulation: Simulation, rounds: int = 4) -> Simulation:
    """The machines of a study, fitted; groups are gone through again until none changes, as one may
    hang on another by the machine that it is like. One whose trials are as it left them stays."""
    parts = groups(free_numbers(simulation))
    left: dict[int, Sequence[SimulatedTrial]] = {}
    for _ in range(rounds):
        before = simulation
        for place, group in enumerate(parts):
            ids = frozenset().union(*(one.fitted for one in group))
            if left.get(place) == lab.trials(simulation, ids):
                continue
            names = ", ".join(map(str, group))
            print(f"fitting {names} ({lab.simulated} trials simulated so far)", file=sys.stderr)
            simulation = fit_group(lab, simulation, group)
            left[place] = lab.trials(simulation, ids)
        if simulation == before:
            break
    else:
        print(f"still changing after {rounds} rounds: run it again", file=sys.stderr)
    return simulation


def print_accuracy(found: Sequence[Accuracy]) -> None:
    """Each printed value beside the simulated one, and the counts."""
    for one in found:
        bound = one.value.bound or ""
        print(
            f"{one.value.id:24} {bound:3}{one.published:12.5g} {one.simulated:12.5g} "
            f"{100 * one.error_ratio:+7.1f} %  {one.standing}{_skill_text(one)}"
        )
    for standing in STANDINGS:
        own = [one for one in found if one.standing == standing]
        *within, total = counts(own)
        if total:
            parts = ", ".join(
                f"{count} within {100 * ratio:g} %"
                for ratio, count in zip(WITHIN_RATIOS, within, strict=True)
            )
            skills = [one.skill for one in own if one.skill is not None and one.can_fail]
            better = f"; nearer than print alone {sum(one > 0 for one in skills)} of {len(skills)}"
            print(f"{standing}: {parts}, of {total}{better if skills else ''}")


def _skill_text(one: Accuracy) -> str:
    known = one.baseline_error_ratio
    if known is None:
        return ""
    skill = "exact" if one.skill is None else f"skill {one.skill:+.2f}"
    return f", print alone {100 * known:+.1f} % ({skill})"


def _row(one: Accuracy) -> str:
    return f'[[prediction]]\nvalue = "{one.value.id}"\nsimulated = {one.simulated:.4g}\n'


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="simulate only printed values named so"
    )
    parser.add_argument(
        "--finer", action="store_true", help="put a load between each two of every sweep"
    )
    parser.add_argument(
        "--hold-out",
        default="",
        metavar="PART,PART",
        help="predict values with these in their names",
    )
    given = parser.parse_args()
    if given.only and not given.check:
        parser.error("--only needs --check: a fit takes all values")
    with opened(given.study, given.scale, is_finer=given.finer) as (lab, simulation):
        path = lab.loaded.path.with_name("machines.toml")
        if given.hold_out:
            parts = given.hold_out.split(",")
            held = frozenset(one for one in simulation.fitted if any(part in one for part in parts))
            simulation = fit(lab, without(simulation, held))
            found = lab.accuracy(simulation)
            print_accuracy(found)
            predictions = [one for one in found if one.value.id in held]
            if not given.check:
                write_rows(path, _PREDICTIONS, map(_row, predictions))
            return
        if not given.check:
            before = simulation
            simulation = fit(lab, simulation)
            free = free_numbers(simulation)
            for one in free:
                old, new = _value(before, one), _value(simulation, one)
                print(f"{one!s:40} {old:10.5g} -> {new:10.5g}")
            write(path, simulation, free)
        print_accuracy(lab.accuracy(simulation, given.only))
        print(f"{lab.simulated} trials were simulated")


if __name__ == "__main__":
    main()
