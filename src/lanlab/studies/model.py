"""
The contents of a study file.

A study is data: a testbed, experiments (a workload, fixed parameters, and factors whose levels are
crossed into conditions), and scales that define how much of it a run executes. Its published values
are next to it in `published.toml` (`lanlab.studies.published`) and `findings.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, PlainValidator, TypeAdapter, model_validator

from lanlab.studies.base import Data, Identifier, Level, Several, ShareRatio


def _read_findings(given: object) -> tuple[Finding, ...]:
    """Each form of a finding is a model, so they are built only for a study with findings."""
    if given in ((), []):
        return ()
    from lanlab.studies.findings import Finding

    return TypeAdapter[tuple[Finding, ...]](Several[Finding]).validate_python(given)


def _read_simulation(given: object) -> Simulation | None:
    if given is None:
        return None
    from lanlab.studies.machines import Simulation

    return Simulation.model_validate(given)


if TYPE_CHECKING:
    from lanlab.studies.findings import Finding
    from lanlab.studies.machines import Simulation

    _Findings = tuple[Finding, ...]
    _Simulation: TypeAlias = Simulation | None
else:
    _Findings = Annotated[object, PlainValidator(_read_findings)]
    _Simulation = Annotated[object, PlainValidator(_read_simulation)]

#: Where the trials of an experiment take place: on real or virtual hosts, or on modelled machines.
RunsOn = Literal["real", "simulated"]


class Source(Data):
    authors: Several[str] = Field(min_length=1)
    year: int | None = None
    citation: str
    doi: str | None = None


class StudyTestbed(Data):
    hosts: int = Field(default=2, ge=2, le=256)
    #: Link speed in the syntax of `lanlab.units.parse_rate_bps`, or `unshaped`.
    link: str = "unshaped"
    published: str = ""


class DisplayUnit(Data):
    """A study's own unit of a metric: displayed value = SI value / `si_per_unit`."""

    unit: str
    si_per_unit: float = Field(gt=0)
    name: str | None = None


_LossRatio = Annotated[ShareRatio, Field(ge=0, lt=1)]


class Search(Data):
    """Find, for each of several loss goals, the highest load that meets it, by RFC 9971.
    Full-length trials take the experiment's parameter `time_s`.
    """

    factor: Literal["rate_bps", "rate_messages_per_s"]
    low: Level
    high: Level
    #: What counts as received: `goodput_ratio` counts within one window, so that no queue hides a
    #: loss; `received_ratio` counts the same messages, whenever they arrive.
    metric: Literal["goodput_ratio", "received_ratio"] = "goodput_ratio"
    loss_goals: Several[_LossRatio] = Field(default=(0.0, 0.001, 0.01), min_length=1, max_length=9)
    #: Length of short trials, as a share of `time_s`.
    short_ratio: ShareRatio = Field(default=0.25, gt=0, le=1)
    trials: int = Field(default=3, ge=1, le=99)
    exceed_ratio: ShareRatio = Field(default=0.5, ge=0, lt=1)
    #: Distance between a goal's final bounds, as a share of the upper one.
    width_ratio: ShareRatio = Field(default=0.01, gt=0, lt=1)
    curve: int = Field(default=12, ge=0, le=1000)
    curve_trials: int = Field(default=3, ge=1, le=99)


class Figure(Data):
    #: Name in the registry of `lanlab.figures`.
    figure: str
    title: str
    experiments: Several[Identifier] = Field(min_length=1)
    #: The corresponding published figure, as in "Figure 2".
    published: str | None = None
    #: For figures that can show several: the metric, by default the first of its first experiment;
    #: and the numeric factor on the x axis, by default the first.
    metric: str | None = None
    factor: str | None = None
    #: Limit of the stations' response time, drawn as a line. The answer gives the number of
    #: stations within it.
    within_s: float | None = Field(default=None, gt=0)
    at: dict[str, Level] = Field(default_factory=dict)


class Experiment(Data):
    """A workload over crossed factor levels, or else a search along one factor."""

    id: Identifier
    title: str
    workload: str
    #: The testbeds that it runs on: those with hosts, the simulated one, or both.
    on: Several[RunsOn] = Field(default=("real",), min_length=1, max_length=2)
    #: The only scales that it runs at; empty: all that no other experiment names.
    scales: Several[Identifier] = ()
    metrics: Several[str] = Field(min_length=1)
    parameters: dict[str, Level] = Field(default_factory=dict)
    factors: dict[str, Several[Level]] = Field(default_factory=dict)
    search: Search | None = None


class Counterpart(Data):
    published: str
    #: Our counterpart of the factor: a parameter, or `experiment` for the trial's experiment.
    factor: str
    #: Our counterparts by published level (digits are a number). One of ours may represent several
    #: published levels. One that represents none is an additional level.
    levels: dict[str, Several[Level]] = Field(default_factory=dict)
    #: For some levels of ours: the level of another published factor at which they are
    #: counterparts. The other levels always are.
    only_at: dict[str, dict[str, Level]] = Field(default_factory=dict)


class Answer(Data):
    """The answer to the study's question from published values, simulated runs and local runs."""

    #: `best`: the level with the best value; `range`: the minimum and the maximum; `ratio`: one
    #: level divided by another; `onset`: the lowest load at which messages are lost.
    form: Literal["best", "range", "ratio", "onset"]
    metric: str
    factor: str = ""
    #: A numeric factor: its maximum is used (`best`, `range`), or both its ends (`ratio`), or it is
    #: the load (`onset`).
    along: str = ""
    at: dict[str, Level | Several[Level]] = Field(default_factory=dict)
    #: Whether the authors' conclusion contradicts their own numbers.
    authors_disagree: bool = False
    #: The runs whose results can give the answer.
    on: Several[RunsOn] = ("real", "simulated")

    @model_validator(mode="after")
    def _has_what_its_form_needs(self) -> Answer:
        needed = {"best": ("factor",), "ratio": ("factor", "along"), "onset": ("along",)}
        for name in needed.get(self.form, ()):
            if not getattr(self, name):
                raise ValueError(f"`{self.form}` needs `{name}`")
        return self


class TrialPolicy(Data):
    min: int = Field(default=3, ge=1, le=10_000)
    max: int = Field(default=3, ge=1, le=10_000)
    #: The goal: half the 95 % interval of the experiment's first metric, as a share of the mean.
    #: The first 3 trials of a condition determine its number of trials: at least `min` and 12, at
    #: most `max` (`lanlab.plan.stopping`). Absent: always `max`.
    relative_ci: ShareRatio | None = Field(default=None, gt=0, lt=1)
    #: Maximum repeats of a disturbed trial within its block; 0 for none.
    repeat_polluted: int = Field(default=1, ge=0, le=10)
    #: Maximum retries of a failed trial within its block; 0 for none. If all fail, its position
    #: counts as missing.
    retry_failed: int = Field(default=2, ge=0, le=10)

    @model_validator(mode="after")
    def _ordered(self) -> TrialPolicy:
        if self.max < self.min:
            raise ValueError("`min` at most `max`")
        return self


class ScaledExperiment(Data):
    """A scale's changes to one experiment; omitted ones keep the study's value."""

    parameters: dict[str, Level] = Field(default_factory=dict)
    factors: dict[str, Several[Level]] = Field(default_factory=dict)
    search: dict[str, object] = Field(default_factory=dict)
    trials: TrialPolicy | None = None


class Scale(Data):
    title: str = ""
    trials: TrialPolicy = TrialPolicy()
    parameters: dict[str, Level] = Field(default_factory=dict)
    experiment: dict[Identifier, ScaledExperiment] = Field(default_factory=dict)


class Commands(Data):
    """The user's commands around trials, for `/bin/sh` on lanlab's machine. Only the command line
    can set them; study files must not contain any, because users exchange them.
    """

    setup: str | None = None
    prepare: str | None = None
    cleanup: str | None = None
    timeout_s: float = Field(default=60.0, gt=0, le=86_400)


class Study(Data):
    schema_version: Literal[1] = Field(alias="schema")
    id: Identifier
    title: str
    question: str = ""
    #: The kind of computer that the question is about, such as `a DOS PC`; empty if local runs
    #: are of that kind.
    subject: str = ""
    answer: Several[Answer] = ()
    source: Source | None = None
    testbed: StudyTestbed = StudyTestbed()
    #: The study's own units, by metric or factor name.
    units: dict[str, DisplayUnit] = Field(default_factory=dict)
    experiment: Several[Experiment] = ()
    counterpart: Several[Counterpart] = ()
    figure: Several[Figure] = ()
    scale: dict[Identifier, Scale] = Field(default_factory=dict)
    finding: _Findings = ()
    #: Commands from a run's options; never from a study file.
    commands: Commands | None = None
    #: The machines of its simulated experiments, from `machines.toml` next to the study.
    simulation: _Simulation = None
    #: The published values of a user's study, from `published.toml` next to it. For lanlab's own
    #: studies, they are read on demand.
    published: dict[str, object] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_waiting(cls, data: object) -> object:
        """Stores of earlier builds have an empty list `waiting` in each study."""
        if isinstance(data, dict) and data.get("waiting") == []:
            return {key: value for key, value in data.items() if key != "waiting"}
        return data

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each experiment, by its id."""
        return {one.id: one.title for one in self.experiment}

    @property
    def is_simulated(self) -> bool:
        """Whether all of it runs on modelled machines, as in a simulated run's record."""
        return self.simulation is not None and all(
            one.on == ("simulated",) for one in self.experiment
        )
