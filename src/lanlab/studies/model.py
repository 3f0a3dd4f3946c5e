"""
What a study file may say.

A study is data: a test-bed, experiments (a workload, fixed parameters, and factors whose levels
are crossed into conditions), and scales that say how much of it a run does. What was published lies
next to it in `published.toml` (`lanlab.studies.published`) and `findings.toml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainValidator, TypeAdapter, model_validator

from lanlab.studies.base import Data, Identifier, Level, Several, ShareRatio


def _read_findings(given: Any) -> tuple[Any, ...]:
    """Each form of a finding is a model: they are made only for a study that has one."""
    if given in ((), []):
        return ()
    from lanlab.studies.findings import Finding

    found: tuple[Any, ...] = TypeAdapter(Several[Finding]).validate_python(given)
    return found


def _read_simulation(given: Any) -> Any:
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
    _Findings = Annotated[Any, PlainValidator(_read_findings)]
    _Simulation = Annotated[Any, PlainValidator(_read_simulation)]

#: Where the trials of an experiment take place: on hosts that are there, or on modelled machines.
RunsOn = Literal["real", "simulated"]


class Source(Data):
    authors: Several[str] = Field(min_length=1)
    year: int | None = None
    citation: str
    doi: str | None = None


class StudyTestbed(Data):
    hosts: int = Field(default=2, ge=2, le=256)
    #: Link speed as `lanlab.units.parse_rate_bps` reads it, or `unshaped`.
    link: str = "unshaped"
    published: str = ""


class DisplayUnit(Data):
    """A study's own unit of a metric: shown value = SI value / `si_per_unit`."""

    unit: str
    si_per_unit: float = Field(gt=0)
    name: str | None = None


_LossRatio = Annotated[ShareRatio, Field(ge=0, lt=1)]


class Search(Data):
    """Find, for each of several loss goals, the highest load at which no more is lost, after
    RFC 9971. Full-length trials are as long as the experiment's parameter `time_s`."""

    factor: Literal["rate_bps", "rate_messages_per_s"]
    low: Level
    high: Level
    #: What is not lost: `goodput_ratio` counts in one window, so that no queue hides a loss;
    #: `received_ratio` counts the same messages, whenever they arrive.
    metric: Literal["goodput_ratio", "received_ratio"] = "goodput_ratio"
    loss_goals: Several[_LossRatio] = Field(default=(0.0, 0.001, 0.01), min_length=1, max_length=9)
    #: Length of short trials, as a share of `time_s`.
    short_ratio: ShareRatio = Field(default=0.25, gt=0, le=1)
    trials: int = Field(default=3, ge=1, le=99)
    exceed_ratio: ShareRatio = Field(default=0.5, ge=0, lt=1)
    #: How close the bounds of a goal get, as a share of the upper one.
    width_ratio: ShareRatio = Field(default=0.01, gt=0, lt=1)
    curve: int = Field(default=12, ge=0, le=1000)
    curve_trials: int = Field(default=3, ge=1, le=99)

    @model_validator(mode="before")
    @classmethod
    def _read_older_form(cls, data: Any) -> Any:
        # Runs that were recorded when a search had one goal and no curve can still be read.
        if not isinstance(data, dict):
            return data
        read = {key: data[key] for key in data if key != "confirm_trials"}
        if "resolution_ratio" in read:
            read["width_ratio"] = read.pop("resolution_ratio")
        at_least = read.get("at_least")
        if isinstance(at_least, int | float) and not isinstance(at_least, bool):
            del read["at_least"]
            # As a person writes it: 0.01, not 0.010000000000000009.
            read = {"curve": 0} | read | {"loss_goals": [round(1 - at_least, 12)]}
        return read


class Figure(Data):
    #: Name in the registry of `lanlab.figures`.
    figure: str
    title: str
    experiments: Several[Identifier] = Field(min_length=1)
    #: The published figure it stands for, as in "Figure 2".
    published: str | None = None
    #: What it draws, where it can draw more than one: a metric, by default the first of its first
    #: experiment; and the numeric factor that it draws it against, by default the first.
    metric: str | None = None
    factor: str | None = None
    #: Largest allowed response time of stations, drawn as a line; how many stations keep to it is
    #: answered.
    within_s: float | None = Field(default=None, gt=0)
    at: dict[str, Level] = Field(default_factory=dict)


class Experiment(Data):
    """A workload over crossed factor levels, or else a search along one factor."""

    id: Identifier
    title: str
    workload: str
    #: On which testbeds it runs: those of hosts that are there, the simulated one, or both.
    on: Several[RunsOn] = Field(default=("real",), min_length=1, max_length=2)
    #: Scales that it runs at, and at them nothing without them; none: all others.
    scales: Several[Identifier] = ()
    metrics: Several[str] = Field(min_length=1)
    parameters: dict[str, Level] = Field(default_factory=dict)
    factors: dict[str, Several[Level]] = Field(default_factory=dict)
    search: Search | None = None


class Waiting(Data):
    id: Identifier
    title: str
    workload: Identifier


class Counterpart(Data):
    published: str
    #: The parameter that stands for it, or `experiment`: which experiment a trial is of.
    factor: str
    #: By published level (digits are a number) those of ours that are the same thing. One of ours
    #: may stand for several. One that stands for none is a level in addition to the published.
    levels: dict[str, Several[Level]] = Field(default_factory=dict)
    #: By level of ours, at which level of another published factor it is that thing. Others are it
    #: at all.
    only_at: dict[str, dict[str, Level]] = Field(default_factory=dict)


class Answer(Data):
    """What answers the study's question, said by print, by simulated runs and by runs here."""

    #: `best`: the level with the best value; `range`: the least and the greatest value; `ratio`:
    #: the first of two levels over the second; `onset`: from which load on messages are lost.
    form: Literal["best", "range", "ratio", "onset"]
    metric: str
    factor: str = ""
    #: A numeric factor: its greatest value counts (`best`, `range`), both its ends (`ratio`), or it
    #: is the load (`onset`).
    along: str = ""
    at: dict[str, Level | Several[Level]] = Field(default_factory=dict)

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
    #: The first 3 trials of a condition decide how many it gets towards it, at least `min` and
    #: 12, at most `max` (`lanlab.plan.stopping`); absent: always `max`.
    relative_ci: ShareRatio | None = Field(default=None, gt=0, lt=1)
    #: A disturbed trial is repeated within its block, at most so often; 0: never.
    repeat_polluted: int = Field(default=1, ge=0, le=10)
    #: A failed trial is retried within its block, at most so often; 0: never. Then its place
    #: counts as missing.
    retry_failed: int = Field(default=2, ge=0, le=10)

    @model_validator(mode="after")
    def _ordered(self) -> TrialPolicy:
        if self.max < self.min:
            raise ValueError(f"min ({self.min}) at most max ({self.max})")
        return self


class ScaledExperiment(Data):
    """What a scale changes in one experiment; what is absent stays as the study says."""

    parameters: dict[str, Level] = Field(default_factory=dict)
    factors: dict[str, Several[Level]] = Field(default_factory=dict)
    search: dict[str, Any] = Field(default_factory=dict)
    trials: TrialPolicy | None = None


class Scale(Data):
    title: str = ""
    trials: TrialPolicy = TrialPolicy()
    parameters: dict[str, Level] = Field(default_factory=dict)
    experiment: dict[Identifier, ScaledExperiment] = Field(default_factory=dict)


class Commands(Data):
    """Commands of the user's around trials, for `/bin/sh` of the machine that runs lanlab. They
    come from the command line alone: a study file may not have any, as studies are passed on."""

    setup: str | None = None
    prepare: str | None = None
    cleanup: str | None = None
    timeout_s: float = Field(default=60.0, gt=0, le=86_400)


class Study(Data):
    schema_version: Literal[1] = Field(alias="schema")
    id: Identifier
    title: str
    question: str = ""
    answer: Several[Answer] = ()
    source: Source | None = None
    testbed: StudyTestbed = StudyTestbed()
    #: The study's own units, by metric or factor name.
    units: dict[str, DisplayUnit] = Field(default_factory=dict)
    #: None of these and no scale: a study of which nothing can be run yet.
    experiment: Several[Experiment] = ()
    waiting: Several[Waiting] = ()
    counterpart: Several[Counterpart] = ()
    figure: Several[Figure] = ()
    scale: dict[Identifier, Scale] = Field(default_factory=dict)
    finding: _Findings = ()
    #: Commands of a run that was begun with such options; no study file has them.
    commands: Commands | None = None
    #: The machines of its simulated experiments, as `machines.toml` next to the study has them.
    simulation: _Simulation = None
    #: What was published of a study of one's own, as `published.toml` next to it has it. Of the
    #: studies that come with lanlab it is read where it is needed.
    published: dict[str, Any] | None = None

    @property
    def is_simulated(self) -> bool:
        """Whether all of it runs on modelled machines, as a simulated run has its study."""
        return self.simulation is not None and all(
            one.on == ("simulated",) for one in self.experiment
        )
