"""
How much each assumed number of a study's machines moves what is compared with print.

Each number with `assumed` is raised and lowered by 30 %, one at a time, kept in its range, and all
conditions are simulated with the same seeds. A number that moves a compared value by more than half
of the error of 5 % that is claimed is not assumed but open: it is marked. The fitted numbers stay
as they are, so that a number which a fit would make up for is marked, too. Where there can be no
such machine, as one whose disk is too small for the files, there is a dash.

    python bench/sensitivity.py milanovic-srbljic
    python bench/sensitivity.py manford-kolahi --only r.abs.
"""

from __future__ import annotations

from collections.abc import Mapping

from laboratory import Free, allowed, opened, study_parser, with_values

from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.errors import LabError
from lanlab.studies.machines import Simulation

_VARIED_RATIO = 0.3
#: The error that is claimed.
_CLAIMED_RATIO = 0.05


def assumed_numbers(simulation: Simulation) -> list[Free]:
    """The numbers that are assumed, in the order of the file; those that are 0 cannot be varied."""
    return [
        Free(machine.id, name, frozenset())
        for machine in simulation.machine
        for name, number in machine.numbers.items()
        if number.assumed is not None and number.value != 0
    ]


def moved(before: Mapping[str, Accuracy], after: Mapping[str, Accuracy]) -> tuple[float, str]:
    """The largest change of a compared value, as a share, and which value it is."""
    changes = [
        (after[name].simulated / one.simulated - 1, name)
        for name, one in before.items()
        if name in after and one.simulated
    ]
    return max(changes, key=lambda change: abs(change[0]), default=(0.0, ""))


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="compare only printed values named so"
    )
    parser.add_argument(
        "--number", default="", metavar="PREFIX", help="vary only numbers named so, as `sender.`"
    )
    given = parser.parse_args()
    with opened(given.study, given.scale) as (lab, simulation):

        def compared(machines: Simulation) -> dict[str, Accuracy]:
            return {one.value.id: one for one in lab.accuracy(machines, given.only)}

        before = compared(simulation)
        print(f"{'assumed number':44} {'value':>9}  {'-30 %':>8} {'+30 %':>8}  moves most")
        open_ones = 0
        for one in assumed_numbers(simulation):
            if not str(one).startswith(given.number):
                continue
            machine = simulation.machine_named(one.machine)
            assert machine is not None
            value = machine.numbers[one.number].value
            sides: list[tuple[float, str] | None] = []
            for sign in (-1, 1):
                changed = allowed({one: value * (1 + sign * _VARIED_RATIO)})
                try:
                    sides.append(moved(before, compared(with_values(simulation, changed))))
                except LabError:
                    sides.append(None)
            there = [side for side in sides if side is not None]
            most, name = max(there, key=lambda side: abs(side[0]), default=(0.0, ""))
            is_open = abs(most) > _CLAIMED_RATIO / 2
            open_ones += is_open
            lower, higher = ("-" if side is None else f"{100 * side[0]:+.1f} %" for side in sides)
            mark = "  OPEN" if is_open else ""
            print(f"{one!s:44} {value:9.5g}  {lower:>8} {higher:>8}  {name if most else ''}{mark}")
        print(
            f"{open_ones} numbers move a value by more than {100 * _CLAIMED_RATIO / 2:g} %: they "
            "are open, not assumed"
        )
        print(f"{lab.simulated} trials were simulated")


if __name__ == "__main__":
    main()
