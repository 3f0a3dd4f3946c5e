"""Machines by name, from lanlab's own studies or from a user's file."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.errors import UnknownName, UsageError
from lanlab.frozen import dataclass
from lanlab.studies.load import built_in_machines, read_machines
from lanlab.studies.machines import Machine, Place, Simulation
from lanlab.user_files import user_path

#: Between the path of a file and the name of a machine in the file.
_IN_FILE = "#"


@dataclass(frozen=True)
class NamedMachines:
    simulation: Simulation
    #: The link of the first machine's study; `None` for a machine from a file.
    link: str | None


def known_machines() -> dict[str, tuple[Simulation, str]]:
    """Every machine that a place of lanlab's own studies uses, with all machines of its study and
    the study's link.
    """
    found: dict[str, tuple[Simulation, str]] = {}
    for simulation, link in built_in_machines():
        for place in simulation.place:
            for machine in place.machines:
                found.setdefault(machine, (simulation, simulation.link_of(place) or link))
    return found


def machines_named(text: str, roles: Sequence[str]) -> NamedMachines:
    """
    The machines of a measurement.

    Args:
        text: A name for each role, separated by commas: one of `known_machines`, or
            `FILE.toml#NAME`.
        roles: Roles of the workload, in order.

    Raises:
        UnknownName: The machine is unknown.
        UsageError: The number of names differs from the number of roles, or a file cannot be read.
        BadStudy: A file contains something that is not allowed.
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) != len(roles):
        raise UsageError(
            f"--machines: found {len(names)} machines; allowed: {len(roles)}, "
            f"for {' and '.join(roles)}",
            hint="repeat the name if both ends are alike, e.g. `vista-ipv4,vista-ipv4`",
        )
    known = known_machines()
    machines: dict[str, Machine] = {}
    chosen, link = [], None
    for place, name in enumerate(names):
        file, separator, in_file = name.rpartition(_IN_FILE)
        if separator:
            simulation, own_link = read_machines(user_path(file)), None
            if simulation.machine_named(in_file) is None:
                raise UnknownName("machine", in_file, [one.id for one in simulation.machine])
            name = in_file
        elif name in known:
            simulation, own_link = known[name]
        else:
            raise UnknownName("machine", name, list(known))
        if place == 0:
            link = own_link
        for machine in _with_ancestors(simulation, name):
            if machines.setdefault(machine.id, machine) != machine:
                raise UsageError(
                    f"--machines: two files have different machines named `{machine.id}`",
                    hint="rename one of them",
                )
        chosen.append(name)
    made = Simulation(machine=tuple(machines.values()), place=(Place(machines=tuple(chosen)),))
    return NamedMachines(made, link)


def _with_ancestors(simulation: Simulation, name: str) -> list[Machine]:
    found = []
    machine = simulation.machine_named(name)
    while machine is not None:
        found.append(machine)
        machine = simulation.machine_named(machine.like) if machine.like else None
    return found
