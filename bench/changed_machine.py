"""
How far a simulation is off for a machine that it was not fitted to: another adapter, processor,
disk or system.

`lanlab predict --set` simulates machines that nobody measured. To check it, this program leaves out
the published values of one machine and simulates it with the numbers of another machine of the same
study, scaled by the published clock. It prints both, and whether the published value is inside the
interval that `predict` gives (`lanlab.analysis.simulation.model_error`).

    python bench/changed_machine.py                  # all studies, 2 minutes
    python bench/changed_machine.py brutman-mtcp
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from fit import fit, without
from laboratory import Laboratory, opened

from lanlab.analysis.simulation.accuracy import Accuracy, accuracies, kept_accuracies
from lanlab.analysis.simulation.model_error import (
    held_out_values,
    model_error_log,
    of_metric,
    root_mean_square,
)
from lanlab.studies.machines import Machine, MachineNumber, Simulation


@dataclass(frozen=True)
class Case:
    study: str
    #: What differs, and from which machine to which.
    changed: str
    #: Published values of the machine that is not used.
    values: tuple[str, ...]
    #: By machine: the machine that stands for it, and its clock, MHz, if it is another.
    stands: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)
    #: Clock of the machine that stands for it, MHz, where its file has none.
    clock_mhz: float | None = None
    scale: str = "quick"


def _brutman(machine: str) -> tuple[str, ...]:
    rates = (f"speedtest.{machine}.send_rate", f"speedtest.{machine}.recv_rate")
    return (*rates, f"ftp.{machine}.send_time", f"ftp.{machine}.recv_time")


CASES = (
    Case(
        "brutman-mtcp",
        "adapter: PCjr, Xircom to WD8003",
        _brutman("pcjr.wd8003"),
        {"pcjr-wd8003": ("pcjr-xircom", None)},
    ),
    Case(
        "brutman-mtcp",
        "adapter: 386-40, NE2000 to Xircom",
        _brutman("386-40.xircom"),
        {"386-40-xircom": ("386-40-ne2000", None)},
    ),
    Case(
        "brutman-mtcp",
        "disk and adapter: PCjr with RAM disk and WD8003 to XT with MFM drive and 3C503",
        _brutman("ibmxt.3c503"),
        {"ibm-xt-3c503": ("pcjr-wd8003", None)},
    ),
    Case(
        "brutman-mtcp",
        "clock, disk and adapter: XT 4.77 MHz to 386 40 MHz",
        _brutman("386-40.ne2000"),
        {"386-40-ne2000": ("ibm-xt-3c503", 40)},
        clock_mhz=4.77,
    ),
    Case(
        "brutman-mtcp",
        "clock and adapter: 386 40 MHz to Pentium 133 MHz",
        _brutman("p133.lne100"),
        {"p133-lne100": ("386-40-ne2000", 133)},
        clock_mhz=40,
    ),
    Case(
        "milanovic-srbljic",
        "clock: Celeron 300 and Pentium 133 to 486 DX2-66, fitted anew",
        ("u2.cel_486", "t500.cel_486", "t2.cel_486"),
    ),
    Case(
        "manford-kolahi",
        "system alone: Vista to XP, IPv4 and IPv6",
        (
            *("r.abs.xp.ipv4.min", "p.xp.ipv4.384", "p.xp.ipv4.1152"),
            *("r.abs.xp.ipv6.min", "p.xp.ipv6.384", "p.xp.ipv6.1152", "r.abs.xp.ipv6.max"),
        ),
        {"xp-ipv4": ("vista-ipv4", None), "xp-ipv6": ("vista-ipv6", None)},
    ),
    Case(
        "schomer-claason",
        "system alone: Windows 98 SE to Windows 2000, TCP/IP",
        ("t.w2ksp2.tcpip.ds1.time", "t.w2ksp2.tcpip.ds2.time"),
        {"celeron400-w2ksp2": ("celeron400-w98se", None)},
        scale="full",
    ),
    Case(
        "poo-tan",
        "server and disk: 3Com's PC AT to its 3Server",
        ("x.ratio3server",),
        {"3server": ("pc-at-3plus", None)},
        scale="full",
    ),
    Case(
        "poo-tan",
        "adapter, network and software: 3Com's PC AT to IBM's",
        ("x.ratioibm",),
        {"pc-at-pc-lan": ("pc-at-3plus", None)},
        scale="full",
    ),
)


def changed(lab: Laboratory, simulation: Simulation, case: Case) -> Simulation:
    """The machines as if the values of the case were not known."""
    if not case.stands:
        return fit(lab, without(simulation, frozenset(case.values) & simulation.fitted))
    machines = {one.id: one for one in simulation.machine}
    for name, (like, clock_mhz) in case.stands.items():
        numbers = {}
        if clock_mhz is not None:
            assert case.clock_mhz is not None
            numbers = {"clock_mhz": _assumed(clock_mhz), "clock_exponent": _assumed(1)}
            base = machines[like]
            own = base.numbers | {"clock_mhz": _assumed(case.clock_mhz)}
            machines[like] = base.model_copy(update={"numbers": own})
        machines[name] = Machine(id=name, title=name, like=like, numbers=numbers)
    return simulation.model_copy(update={"machine": tuple(machines.values())})


def _assumed(value: float) -> MachineNumber:
    return MachineNumber(value=value, assumed="of the machine that is predicted")


def simulated(case: Case) -> tuple[list[Accuracy], float | None]:
    """The values of a case, and the logarithm of the interval that `predict` gives."""
    with opened(case.study, case.scale) as (lab, simulation):
        kept = kept_accuracies(lab.loaded.published, simulation)
        machines = changed(lab, simulation, case)
        cells = lab.cells(machines, lab.needed(machines, case.values))
        found = accuracies(lab.loaded.published, machines, cells)
        # What was predicted before a fit stands there as well, of the machine's own numbers.
        by_id = {one.value.id: one for one in found if one.value.id in case.values}
        metric = found[0].value.metric
        return list(by_id.values()), model_error_log(of_metric(held_out_values(kept), metric))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    given = parser.parse_args()
    asked = [one for one in CASES if not given.studies or one.study in given.studies]
    logs: dict[str, list[float]] = {}
    inside: dict[str, list[bool]] = {}
    for case in asked:
        found, half_log = simulated(case)
        own = (
            "no interval" if half_log is None else f"interval a factor of {math.exp(half_log):.3g}"
        )
        print(f"\n{case.study}: {case.changed} ({own})")
        for one in found:
            error = math.log(one.published / one.simulated)
            logs.setdefault(case.study, []).append(error)
            held = ""
            if half_log is not None:
                inside.setdefault(case.study, []).append(abs(error) <= half_log)
                held = "inside" if abs(error) <= half_log else "OUTSIDE"
            print(
                f"  {one.value.id:34} {one.published:10.4g} {one.simulated:10.4g} "
                f"{100 * one.error_ratio:+5.0f} %  {held}",
                flush=True,
            )
    print()
    for study, errors in logs.items():
        held = f", {sum(inside[study])} inside" if study in inside else ""
        print(
            f"{study}: off by a factor of {math.exp(root_mean_square(errors)):.3g} (root mean "
            f"square of {len(errors)}), at most {math.exp(max(map(abs, errors))):.3g}{held}"
        )


if __name__ == "__main__":
    main()
