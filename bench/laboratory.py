"""What `fit.py`, `sensitivity.py` and `ensemble.py` simulate: conditions of a study, on machines of
any numbers."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.links.wires import Wire, wire_asked_for
from lanlab.analysis.simulation.accuracy import Accuracy, accuracies
from lanlab.analysis.traffic.peaks import LOAD, PEAKED, peaks
from lanlab.analysis.trials.summary import limit_of
from lanlab.performers import SimulatedTrial, trial_seed
from lanlab.plan.conditions import Condition, expand
from lanlab.run.simulated import SimulatedConditions, trial_on
from lanlab.studies.counterparts import in_published_words, names_of, place_at
from lanlab.studies.load import LoadedStudy, load_study
from lanlab.studies.machine_numbers import NUMBERS
from lanlab.studies.machines import Simulation, known_machine
from lanlab.studies.model import Study
from lanlab.studies.runs_on import study_on
from lanlab.testbeds.simulated import SimulatedTestbed
from lanlab.units import parse_rate_bps
from lanlab.workloads import workload

_SEED = 1


@dataclass(frozen=True)
class Free:
    """A number that is fitted."""

    machine: str
    number: str
    fitted: frozenset[str]

    def __str__(self) -> str:
        return f"{self.machine}.{self.number}"


def with_values(simulation: Simulation, values: Mapping[Free, float]) -> Simulation:
    """The machines with other values of some numbers."""
    machines = []
    for machine in simulation.machine:
        numbers = dict(machine.numbers)
        for one, value in values.items():
            if one.machine == machine.id:
                old = numbers[one.number]
                numbers[one.number] = old.model_copy(update={"value": value})
        machines.append(machine.model_copy(update={"numbers": numbers}))
    return simulation.model_copy(update={"machine": tuple(machines)})


def allowed(values: Mapping[Free, float]) -> dict[Free, float]:
    """Shares stay shares, and whole numbers whole."""
    return {one: NUMBERS[one.number].nearest(value) for one, value in values.items()}


@dataclass
class Laboratory:
    """Simulates the conditions of a study, each set of numbers once."""

    loaded: LoadedStudy
    scale: str
    bed: Any
    #: Whether each two loads of a sweep have one more between them.
    is_finer: bool = False
    study: Study = field(init=False)
    conditions: tuple[Condition, ...] = field(init=False)
    _worlds: SimulatedConditions = field(init=False)

    def __post_init__(self) -> None:
        self._worlds = SimulatedConditions(self.bed)
        study = study_on(self.loaded.study, "simulated")
        self.study = with_finer_loads(study) if self.is_finer else study
        self.conditions = expand(self.study, self.scale)

    @property
    def simulated(self) -> int:
        """Trials that were simulated."""
        return self._worlds.simulated

    def cells(
        self, simulation: Simulation, conditions: Iterable[Condition]
    ) -> dict[str, list[Cell]]:
        """By metric, the cells of these conditions with the machines of `simulation`."""
        found: dict[str, list[Cell]] = {}
        wanted = [(one, self._trial(simulation, one)) for one in conditions]
        self._worlds.expect(wanted)
        for condition, trial in wanted:
            metrics = self._worlds.metrics(condition, trial)
            varied = names_of(self.study, tuple(condition.factors))
            for levels in self._levels(condition):
                for metric, value in metrics.items():
                    cell = Cell(levels, varied, Trials((float(value),)), group=condition.experiment)
                    found.setdefault(metric, []).append(cell)
        found[PEAKED] = [*found.get(PEAKED, ()), *peaks(found.get(PEAKED, ()))]
        return {
            metric: [self._limited(metric, one, simulation) for one in own]
            for metric, own in found.items()
        }

    def _limited(self, metric: str, cell: Cell, simulation: Simulation) -> Cell:
        wire = self._wire(simulation, cell.levels)
        return replace(cell, limit=limit_of(metric, dict(cell.levels), wire))

    def _wire(self, simulation: Simulation, levels: Mapping[str, Any]) -> Wire | None:
        place = place_at(self.study, levels, of=simulation)
        assert place is not None
        link = simulation.link_of(place, levels) or self.study.testbed.link
        return wire_asked_for(link, has_timestamps=False)

    def _trial(self, simulation: Simulation, condition: Condition) -> SimulatedTrial:
        place = place_at(self.study, condition.parameters, condition.experiment, of=simulation)
        assert place is not None
        machines = [known_machine(simulation, name) for name in place.machines]
        seed = trial_seed(_SEED, condition.experiment, condition.factors, "trial", 0)
        link = simulation.link_of(place, condition.parameters) or self.study.testbed.link
        return trial_on(machines, link, seed)

    def trials(self, simulation: Simulation, ids: Iterable[str]) -> Sequence[SimulatedTrial]:
        """What is simulated to read these printed values off."""
        return [self._trial(simulation, one) for one in self.needed(simulation, ids)]

    def needed(self, simulation: Simulation, ids: Iterable[str]) -> list[Condition]:
        """The conditions at which these printed values are read off."""
        wanted = set(ids)
        values = [value for value in self.loaded.published.value if value.id in wanted]
        found = []
        for condition in self.conditions:
            # A made-up number is enough to see whether a value is read off here.
            metrics = workload(condition.workload).metrics
            if any(
                value.metric in metrics and touches(value, levels, simulation)
                for levels in self._levels(condition)
                for value in values
            ):
                found.append(condition)
        return found

    def _levels(self, condition: Condition) -> list[dict[str, Any]]:
        """The levels of a condition, in the words of what was published."""
        return in_published_words(self.study, condition.experiment, dict(condition.parameters))

    def accuracy(self, simulation: Simulation, only: str = "", metric: str = "") -> list[Accuracy]:
        """Every printed value that the conditions speak of, whose name begins with `only` and whose
        metric is this one, if one is given."""
        ids = {
            value.id
            for value in self.loaded.published.value
            if value.id.startswith(only) and metric in ("", value.metric)
        }
        conditions = self.needed(simulation, ids) if only or metric else self.conditions
        found = accuracies(self.loaded.published, simulation, self.cells(simulation, conditions))
        return [one for one in found if one.value.id in ids]


def with_finer_loads(study: Study) -> Study:
    """With another load between each two of every sweep: what is read off may not change by it."""
    experiments = []
    for one in study.experiment:
        loads = sorted(parse_rate_bps(str(load)) for load in one.factors.get(LOAD, ()))
        between = [round((low * high) ** 0.5) for low, high in itertools.pairwise(loads)]
        changed = {LOAD: tuple(sorted({*loads, *between}))} if loads else {}
        factors = {**one.factors, **changed}
        experiments.append(one.model_copy(update={"factors": factors}))
    return study.model_copy(update={"experiment": tuple(experiments)})


def touches(value: Any, levels: Mapping[str, Any], simulation: Simulation) -> bool:
    """Whether a printed value can be read off at a condition, also one that compares two."""
    no_levels = {"numerator", "denominator", "trial"}
    wanted = {key: one for key, one in value.condition.items() if key not in no_levels}
    for reading in simulation.reading:
        if reading.value == value.id:
            wanted |= {key: one for key, one in reading.at.items() if key != "rate_bps"}
    return all(key in levels and levels[key] == one for key, one in wanted.items())


def write_rows(path: Path, title: str, rows: Iterable[str]) -> None:
    """Put rows of tables under a comment at the end of a file, in place of those there."""
    before, _, rest = path.read_text(encoding="utf-8").partition(f"\n# {title}\n")
    # Rows under another comment belong to another program.
    after = re.search(r"\n# .*", rest, re.DOTALL)
    others = before.rstrip("\n") + "\n" + (after[0] if after else "")
    parts = [others.rstrip("\n") + "\n", f"\n# {title}\n", *(f"\n{row}" for row in rows)]
    path.write_text("".join(parts), encoding="utf-8")


def study_parser(description: str | None) -> argparse.ArgumentParser:
    """Options of every program that simulates a study."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("study", help="name of a study, or path of a study file")
    parser.add_argument("--scale", default="quick", help="scale that is simulated")
    return parser


@contextlib.contextmanager
def opened(
    name: str, scale: str, *, is_finer: bool = False
) -> Iterator[tuple[Laboratory, Simulation]]:
    """A study to simulate, and its machines; an end of the program where it has none."""
    loaded = load_study(name)
    if loaded.study.simulation is None:
        sys.exit(f"{name}: no machines.toml")
    with SimulatedTestbed(2, loaded.study.testbed.link) as bed:
        lab = Laboratory(loaded, scale, bed, is_finer)
        assert lab.study.simulation is not None
        yield lab, lab.study.simulation
