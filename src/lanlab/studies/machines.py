"""
Period machines, the media between them, and their roles in a study's conditions.

All are in `machines.toml` next to a study file. Every number has a source: it was published, fitted
to published numbers, or assumed for a stated reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field

from lanlab.frozen import dataclass
from lanlab.messages import SimulatedMachine
from lanlab.studies.base import Data, DottedIdentifier, Identifier, Level, Several, is_level
from lanlab.studies.machine_numbers import COSTS, NUMBERS
from lanlab.studies.plain_level import plain_level

if TYPE_CHECKING:
    from lanlab.studies.findings import Finding

#: Size limits that keep every check quick. lanlab's own studies use a twentieth of them.
_MOST_MACHINES = _MOST_PLACES = 256
_MOST_MEDIA = 64
_MOST_NAMED = 4096
MOST_LIKE = 16
#: Size limits of a file. With 20 members, a further one is within their range in 19 of 21 cases.
_MOST_NUMBERS = 256
_MOST_MEMBERS = 200


class Ensemble(Data):
    """
    Machines that fit the published values, which show the range of numbers that a fit leaves open.

    Many machines reproduce every fitted value within its published digits; a fit selects one of
    them. `bench/ensemble.py` draws others and stores factors for their numbers.
    """

    metric: str
    #: `MACHINE.NUMBER` of each fitted number.
    numbers: Several[str] = Field(min_length=1, max_length=_MOST_NUMBERS)
    members: Several[Several[float]] = Field(min_length=1, max_length=_MOST_MEMBERS)


class Origin(Data):
    published: DottedIdentifier | None = None
    fitted: Several[DottedIdentifier] = ()
    assumed: str | None = Field(default=None, min_length=8)

    @property
    def of_ids(self) -> list[str]:
        return [*self.fitted, *([self.published] if self.published else [])]

    @property
    def kinds(self) -> list[str]:
        given = {
            "published": self.published is not None,
            "fitted": bool(self.fitted),
            "assumed": self.assumed is not None,
        }
        return [name for name, is_given in given.items() if is_given]


class MachineNumber(Origin):
    value: float
    #: Why a number was fitted by hand, so that `bench/fit.py` does not change it. Choosing a number
    #: with published values in view is fitting, even by hand.
    by_hand: str | None = Field(default=None, min_length=8)
    #: Ids of further findings that the number was chosen to reproduce. Findings that state a value
    #: in `fitted` need no entry.
    chosen_for: Several[Identifier] = Field(default=())


class Machine(Data):
    id: Identifier
    title: str
    like: Identifier | None = None
    #: Numbers by name; `lanlab.studies.machine_numbers` lists them.
    numbers: dict[str, MachineNumber] = Field(default_factory=dict)
    note: str | None = None


class SimulatedLink(Origin):
    """The medium between the machines of some places. It replaces the run's link."""

    id: Identifier
    #: In the syntax of `lanlab.testbeds.link.parse_link`.
    link: str
    #: Levels at which it replaces the link at every place that names no medium itself.
    when: dict[str, Level] = Field(default_factory=dict)


class Place(Data):
    #: Levels of published factors, or of parameters. A condition with all of them is at this place,
    #: unless another place matches more of its levels.
    when: dict[str, Level] = Field(default_factory=dict)
    machines: Several[Identifier] = Field(min_length=2, max_length=2)
    #: The id of a `[[medium]]`. Absent: the link of the run.
    medium: Identifier | None = None
    note: str | None = None


class Reading(Data):
    """The condition at which to compare a published number whose own levels leave it open."""

    value: DottedIdentifier
    at: dict[str, Level] = Field(min_length=1)
    because: str = Field(min_length=8)


class Baseline(Data):
    """An estimate of a predicted number from the published values alone. A simulation that is no
    closer has no predictive value.
    """

    value: DottedIdentifier
    #: In the syntax of a finding's `recompute`; for a gain or deficit, the ratio.
    guess: str
    because: str = Field(min_length=8)


class Prediction(Data):
    """The simulated value of a number before anything was fitted to it. For held-out numbers, it
    comes from the current machines. For others it is kept when a later fit uses the number, to show
    what the model predicted without it.
    """

    value: DottedIdentifier
    #: In the metric's SI unit; for a ratio, gain or deficit, the ratio.
    simulated: float = Field(gt=0)


class Missing(Data):
    finding: DottedIdentifier
    mechanism: str = Field(min_length=8)


class Range(Data):
    """The range of a simulated value that the fit leaves open: it includes 95 % of the machines
    that fit the published values.
    """

    value: DottedIdentifier
    #: In the metric's SI unit; for a ratio, gain or deficit, the ratio.
    low: float
    high: float


class Simulation(Data):
    """The content of `machines.toml`."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    medium: Several[SimulatedLink] = Field(default=(), max_length=_MOST_MEDIA)
    machine: Several[Machine] = Field(default=(), max_length=_MOST_MACHINES)
    place: Several[Place] = Field(default=(), max_length=_MOST_PLACES)
    reading: Several[Reading] = Field(default=(), max_length=_MOST_NAMED)
    held_out: Several[DottedIdentifier] = Field(default=(), max_length=_MOST_NAMED)
    prediction: Several[Prediction] = Field(default=(), max_length=_MOST_NAMED)
    baseline: Several[Baseline] = Field(default=(), max_length=_MOST_NAMED)
    range: Several[Range] = Field(default=(), max_length=_MOST_NAMED)
    ensemble: Several[Ensemble] = Field(default=(), max_length=_MOST_MEDIA)
    missing: Several[Missing] = Field(default=(), max_length=_MOST_NAMED)
    #: A remark on the whole model, such as having as many costs as numbers.
    note: str | None = None

    def readings_at(self, factor: str) -> dict[str, Level]:
        """The level of a factor at which published numbers are read, by their ids."""
        own = (one for one in self.reading if factor in one.at)
        return {one.value: plain_level(factor, one.at[factor]) for one in own}

    def machine_named(self, name: str) -> Machine | None:
        return next((one for one in self.machine if one.id == name), None)

    @property
    def fitted(self) -> frozenset[str]:
        return frozenset(
            name
            for one in self.machine
            for number in one.numbers.values()
            for name in number.fitted
        )

    def is_fitted_to(self, finding: Finding) -> bool:
        """Whether a number was fitted to what the finding states: to a value that states it, or
        as its `chosen_for` says.
        """
        return finding.id in self.chosen_for or not self.fitted.isdisjoint(finding.stated_by)

    @property
    def chosen_for(self) -> frozenset[str]:
        """Findings that a number of a machine was chosen to reproduce."""
        return frozenset(
            name
            for one in self.machine
            for number in one.numbers.values()
            for name in number.chosen_for
        )

    def link_of(self, place: Place, levels: Mapping[str, Level] | None = None) -> str | None:
        """The link of a place at these levels of a condition; `None` for the run's own link."""
        for one in self.medium:
            if one.id == place.medium:
                return one.link
            if place.medium is None and levels and one.when and _fits(one.when, levels):
                return one.link
        return None


@dataclass(frozen=True)
class KnownNumber:
    value: float
    #: Published numbers that it was fitted to, including those that fitted numbers derive from.
    fitted: frozenset[str]
    origin: str


@dataclass(frozen=True)
class KnownMachine:
    """A machine with all its numbers, its own and inherited ones."""

    id: str
    title: str
    numbers: Mapping[str, KnownNumber] = field(default_factory=dict)

    @property
    def fitted(self) -> frozenset[str]:
        return frozenset().union(*(one.fitted for one in self.numbers.values()))

    def request(self) -> SimulatedMachine:
        """In the engine's format; see `SimulatedMachine` in the engine's messages."""
        given = {name: one.value for name, one in self.numbers.items()}
        # Groups without any given number stay absent; others get all their numbers.
        absent = {"store", "freeze"} - {
            NUMBERS[name].path[0] for name in given if NUMBERS[name].path
        }
        request: dict[str, Any] = {}
        for name, kind in NUMBERS.items():
            value = given.get(name, kind.default)
            if not kind.path or kind.path[0] in absent or value is None:
                continue
            *groups, key = kind.path
            at = request
            for group in groups:
                at = at.setdefault(group, {})
            at[key] = kind.sent(value)
        return cast("SimulatedMachine", request)

    @property
    def outstanding_requests(self) -> int:
        """Requests in flight of its program in an `echo`."""
        given = self.numbers.get("outstanding_requests")
        return 1 if given is None else int(given.value)


def known_machine(simulation: Simulation, name: str) -> KnownMachine:
    """
    A machine with the numbers that it inherits from another.

    Inherited costs are multiplied by its own `cost_ratio`, and, if both have a clock, by (the
    other's clock / its own) to the power of `clock_exponent`.

    Args:
        simulation: Checked, so that the machine exists and the chain of inheritance is short.
        name: Its id.

    Examples:
        >>> made = {"assumed": "an example"}
        >>> slow = {"protocol_us": {"value": 8, **made}, "clock_mhz": {"value": 50, **made},
        ...         "clock_exponent": {"value": 1, **made}}
        >>> fast = {"clock_mhz": {"value": 100, **made}}
        >>> read = Simulation.model_validate({"machine": [
        ...     {"id": "slow", "title": "", "numbers": slow},
        ...     {"id": "fast", "title": "", "like": "slow", "numbers": fast}]})
        >>> known_machine(read, "fast").numbers["protocol_us"].value
        4.0
    """
    machine = simulation.machine_named(name)
    assert machine is not None
    own = {
        key: KnownNumber(one.value, frozenset(one.fitted), origin_text(one))
        for key, one in machine.numbers.items()
    }
    if machine.like is None:
        return KnownMachine(machine.id, machine.title, own)
    other = known_machine(simulation, machine.like)
    taken = _changed(other, own)
    # A ratio is applied once, to inherited costs. Machines that inherit from this one get the
    # result.
    kept = {**taken, **own}
    return KnownMachine(machine.id, machine.title, kept)


def _changed(other: KnownMachine, own: Mapping[str, KnownNumber]) -> dict[str, KnownNumber]:
    factor, fitted, because = 1.0, frozenset[str](), []
    if "cost_ratio" in own:
        factor *= own["cost_ratio"].value
        fitted |= own["cost_ratio"].fitted
        because.append(f"by the ratio {own['cost_ratio'].value:g}")
    exponent = own.get("clock_exponent") or other.numbers.get("clock_exponent")
    clocks = other.numbers.get("clock_mhz"), own.get("clock_mhz")
    if exponent is not None and clocks[0] is not None and clocks[1] is not None:
        factor *= (clocks[0].value / clocks[1].value) ** exponent.value
        fitted |= exponent.fitted | clocks[0].fitted | clocks[1].fitted
        because.append(
            f"by the clocks, ({clocks[0].value:g} / {clocks[1].value:g})^{exponent.value:g}"
        )
    how = f"as of {other.id}" + "".join(f", {one}" for one in because)
    found = {}
    for key, one in other.numbers.items():
        if key == "cost_ratio":
            continue
        if key in COSTS:
            found[key] = KnownNumber(
                factor * one.value, one.fitted | fitted, f"{how}; {one.origin}"
            )
        else:
            found[key] = KnownNumber(one.value, one.fitted, f"as of {other.id}; {one.origin}")
    return found


def origin_text(origin: Origin, named: Callable[[str], str] = str) -> str:
    """
    Where a number comes from.

    Args:
        named: How a published value with this id is called. Default: by the id.
    """
    if origin.published is not None:
        return f"published ({named(origin.published)})"
    if origin.fitted:
        by_hand = isinstance(origin, MachineNumber) and origin.by_hand is not None
        return f"fitted {'by hand ' if by_hand else ''}to {', '.join(map(named, origin.fitted))}"
    return f"assumed: {origin.assumed}"


def place_of(simulation: Simulation, levels: Mapping[str, Level]) -> Place | None:
    """The place that matches most levels of a condition; `None` if none matches."""
    fitting = [place for place in simulation.place if _fits(place.when, levels)]
    return max(fitting, key=lambda place: len(place.when), default=None)


def _fits(when: Mapping[str, Level], levels: Mapping[str, Level]) -> bool:
    return all(
        key in levels and is_level(plain_level(key, level), plain_level(key, levels[key]))
        for key, level in when.items()
    )


def place_factors(simulation: Simulation | None) -> frozenset[str]:
    """The names that places and media may use, including factors that are not parameters of a
    workload.
    """
    if simulation is None:
        return frozenset()
    whens = [one.when for one in simulation.place] + [one.when for one in simulation.medium]
    return frozenset(key for when in whens for key in when)


def ids(machines: Iterable[Machine]) -> list[str]:
    return sorted(one.id for one in machines)
