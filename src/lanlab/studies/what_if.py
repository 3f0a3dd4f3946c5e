"""A study whose machines have changed numbers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from lanlab.errors import UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.studies.base import Level
from lanlab.studies.machine_numbers import COSTS, NUMBERS, most_waiting
from lanlab.studies.machines import KnownMachine, Machine, MachineNumber, Simulation, known_machine
from lanlab.studies.model import Study

#: Suffix of a changed study's id, so that its results are not mistaken for the study's.
SUFFIX = "-what-if"
_HOW = "write e.g. `machine.486dx2-nt4.interrupt_us=100`"
_UNIT_SUFFIXES = ("_ns_per_byte", "_us", "_ms", "_bytes", "_mhz", "_frames", "_blocks", "_sectors")


@dataclass(frozen=True)
class Change:
    machine: str
    number: str
    value: float

    def __str__(self) -> str:
        return f"machine.{self.machine}.{self.number}={self.value:g}"


def change_words(simulation: Simulation, change: Change) -> str:
    """
    A change in a sentence, as in `interrupt 100 µs on 486 DX2-66 with Windows NT 4.0, UDP`.

    Args:
        simulation: With the changed machine.
    """
    machine = simulation.machine_named(change.machine)
    assert machine is not None
    name = change.number
    for suffix in _UNIT_SUFFIXES:
        name = name.removesuffix(suffix)
    value = f"{change.value:g} {NUMBERS[change.number].unit}".rstrip()
    return f"{name.replace('_', ' ')} {value} on {machine.title}"


def parse_change(text: str) -> Change:
    """
    Parse a change as users write it.

    Raises:
        UsageError: It is malformed.

    Examples:
        >>> parse_change("machine.486dx2-nt4.interrupt_us=100")
        Change(machine='486dx2-nt4', number='interrupt_us', value=100.0)
    """
    key, separator, value = text.partition("=")
    parts = key.strip().split(".")
    if not separator or len(parts) != 3 or parts[0] != "machine":
        raise UsageError(f"--set: found `{text}`; allowed: machine.NAME.NUMBER=VALUE", hint=_HOW)
    try:
        number = float(value)
    except ValueError:
        raise UsageError(f"--set: {key}: found `{value}`; allowed: a number", hint=_HOW) from None
    return Change(parts[1], parts[2], number)


def changed_study(study: Study, changes: Sequence[Change]) -> tuple[Study, list[str]]:
    """
    A study with changed machines, and the assumptions made, one sentence for each change.

    All other machines keep their numbers. A new clock scales the machine's costs by its
    `clock_exponent`; costs that are changed as well get the given value.

    Args:
        study: With machines.

    Raises:
        UnknownName: The machine or number is unknown.
        UsageError: A value is not allowed, or a clock is set for a machine that has none.
    """
    assert study.simulation is not None
    simulation = study.simulation
    by_machine: dict[str, dict[str, float]] = {}
    for change in changes:
        if simulation.machine_named(change.machine) is None:
            raise UnknownName("machine", change.machine, [one.id for one in simulation.machine])
        kind = NUMBERS.get(change.number)
        if kind is None or change.number == "cost_ratio":
            known = [name for name in NUMBERS if name != "cost_ratio"]
            raise UnknownName("number of a machine", change.number, known)
        if not kind.allows(change.value):
            raise UsageError(f"--set: {change}; allowed: {kind.range}")
        by_machine.setdefault(change.machine, {})[change.number] = change.value
    assumed: list[str] = []
    machines = []
    for machine in simulation.machine:
        known_one = known_machine(simulation, machine.id)
        numbers = _frozen(known_one)
        if machine.id in by_machine:
            numbers |= _changed(known_one, by_machine[machine.id], assumed)
            _check_waiting(machine.id, numbers)
        machines.append(Machine(id=machine.id, title=machine.title, numbers=numbers))
    alike = [one.id for one in simulation.machine if _is_like(simulation, one, by_machine)]
    if alike:
        assumed.append(f"as in the study, though like a changed machine: {', '.join(alike)}")
    made = simulation.model_copy(
        update={
            "machine": tuple(machines),
            "held_out": (),
            "prediction": (),
            "baseline": (),
            "range": (),
            "ensemble": (),
            "missing": (),
            "reading": (),
            "note": None,
        }
    )
    changed = study.model_copy(
        update={
            "id": f"{study.id}{SUFFIX}",
            "simulation": made,
            "finding": (),
            # A changed machine has no published values to compare with.
            "published": None,
        }
    )
    return changed, assumed


def _check_waiting(machine: str, numbers: Mapping[str, MachineNumber]) -> None:
    most = most_waiting({name: one.value for name, one in numbers.items()})
    if most is not None:
        found = numbers["write_behind_blocks"].value
        raise UsageError(
            f"--set: machine.{machine}: write_behind_blocks {found:g} exceeds cache_blocks "
            f"{most:g}",
            hint=f"set both, e.g. `--set machine.{machine}.write_behind_blocks={most:g}`",
        )


def members_of(simulation: Simulation) -> int:
    """The number of alternative machines that fit the published values; 0 if none were drawn."""
    return min((len(one.members) for one in simulation.ensemble), default=0)


def with_member(study: Study, place: int) -> Study:
    """
    A study with alternative machines that fit the published values as well as its own.

    Args:
        study: With machines.
        place: Index of the alternative, from 0; see `members_of`.
    """
    assert study.simulation is not None
    factors = {
        name: factor
        for one in study.simulation.ensemble
        for name, factor in zip(one.numbers, one.members[place], strict=True)
    }
    machines = tuple(
        machine.model_copy(
            update={
                "numbers": {
                    name: _times(name, one, factors.get(f"{machine.id}.{name}", 1.0))
                    for name, one in machine.numbers.items()
                }
            }
        )
        for machine in study.simulation.machine
    )
    simulation = study.simulation.model_copy(update={"machine": machines})
    return study.model_copy(update={"simulation": simulation})


def _times(name: str, number: MachineNumber, factor: float) -> MachineNumber:
    if factor == 1.0:
        return number
    return number.model_copy(update={"value": NUMBERS[name].nearest(number.value * factor)})


def _is_like(simulation: Simulation, machine: Machine, changed: Container[str]) -> bool:
    at: Machine | None = machine
    while at is not None and at.id not in changed:
        at = simulation.machine_named(at.like) if at.like else None
    return at is not None and at is not machine


def _frozen(machine: KnownMachine) -> dict[str, MachineNumber]:
    return {
        name: MachineNumber(value=one.value, assumed=f"as in the study: {one.origin}")
        for name, one in machine.numbers.items()
        if name != "cost_ratio"
    }


def _changed(
    machine: KnownMachine, changes: Mapping[str, float], assumed: list[str]
) -> dict[str, MachineNumber]:
    found: dict[str, MachineNumber] = {}
    clock = changes.get("clock_mhz")
    if clock is not None:
        now = machine.numbers.get("clock_mhz")
        known = machine.numbers.get("clock_exponent")
        exponent = changes.get("clock_exponent", None if known is None else known.value)
        if now is None or exponent is None:
            raise UsageError(
                f"--set: machine `{machine.id}` has no clock parameter",
                hint="set its costs instead, as `interrupt_us`",
            )
        factor = (now.value / clock) ** exponent
        assumed.append(
            f"{machine.id}: all processor costs times {factor:.4g}, by the clocks: "
            f"({now.value:g} / {clock:g} MHz)^{exponent:g}"
        )
        for name in COSTS:
            if name in machine.numbers:
                value = factor * machine.numbers[name].value
                found[name] = MachineNumber(value=value, assumed="what if: another clock")
    for name, value in changes.items():
        before = machine.numbers.get(name)
        was = "none" if before is None else f"{before.value:.6g}"
        origin = "" if before is None else f" ({before.origin})"
        unit = NUMBERS[name].unit
        assumed.append(
            f"{machine.id}: {name} {was} \N{RIGHTWARDS ARROW} {value:g} {unit}{origin}".rstrip()
        )
        found[name] = MachineNumber(value=value, assumed="what if: set by hand")
    return found


def affected(study: Study, changes: Sequence[Change]) -> Study:
    """
    A study reduced to the experiments that have a condition on a changed machine.

    Raises:
        UsageError: No experiment has one.
    """
    from lanlab.studies.counterparts import place_at
    from lanlab.studies.scaling import combinations

    assert study.simulation is not None
    names = {change.machine for change in changes}

    def touches(experiment: str, levels: Mapping[str, Level]) -> bool:
        place = place_at(study, levels, experiment)
        return place is not None and bool(names & set(place.machines))

    kept = tuple(
        one
        for one in study.experiment
        if any(
            touches(one.id, {**one.parameters, **levels}) for levels in combinations(one.factors)
        )
    )
    if changes and not kept:
        raise UsageError(f"`{study.id}` has no simulated condition on {', '.join(sorted(names))}")
    ids = {one.id for one in kept}
    scales = {
        name: scale.model_copy(
            update={"experiment": {key: one for key, one in scale.experiment.items() if key in ids}}
        )
        for name, scale in study.scale.items()
    }
    figures = tuple(one for one in study.figure if set(one.experiments) <= ids)
    return study.model_copy(update={"experiment": kept, "scale": scales, "figure": figures})
