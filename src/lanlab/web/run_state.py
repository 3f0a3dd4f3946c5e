"""
The state of a run on the page, updated with each trial: rows of trials, progress, next trials.

Every text and number comes from the report's tables and the run's plan; the browser only displays
them.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from lanlab.analysis.trials.attempts import Place, place_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import LabError
from lanlab.figures.wording import condition_text, quantity
from lanlab.frozen import dataclass
from lanlab.plan.plan import Plan
from lanlab.report.trials.trial_table import trial_table
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.records import Level
from lanlab.studies.model import Study
from lanlab.trial_data import facts_of

COLUMNS = (
    "no.",
    "condition",
    "result",
    "disturbed by",
    "in its mean",
    "status",
    "experiment",
    "block",
    "took (s)",
    "started (UTC)",
    "error",
)
COUNTS, LEFT_OUT, DISTURBED, FAILED = range(4)
#: The largest parts of a record. No table of the page uses them.
_LARGE = frozenset(("histogram", "host", "requests", "offloads", "interfaces", "udp_counters"))
#: Errors of a plan that does not match a run's trials. The trials are shown all the same.
_NO_PLAN = (ArithmeticError, LabError, LookupError, ValueError)
_SHORT = 64


@dataclasses.dataclass
class Row:
    #: Value of `Rows.revision` when the row last changed.
    revision: int
    #: Index of its experiment in the study; its result in the figure's unit, or `None`; its mark.
    experiment: int
    value: float | None
    mark: int
    #: Text of each of the `COLUMNS`.
    cells: list[str]

    def to_json(self) -> list[object]:
        return [self.experiment, self.value, self.mark, *self.cells]


@dataclass(frozen=True)
class Progress:
    done: int
    #: Remaining trials, as a maximum or an estimate; `None` if the plan does not determine it.
    left: int | None
    left_s: float | None
    #: The next trial in words; empty at the end.
    next: str


class RunState:
    def __init__(self, run: RunRecord) -> None:
        self.run = run
        self.study = Study.model_validate(run.study)
        self.trials: list[TrialRecord] = []
        self.rows: list[Row] = []
        self.revision = 0
        self._last_of: dict[tuple[str, ...], TrialRecord] = {}
        self._at_place: dict[Place, list[int]] = {}
        self._experiments = [experiment.id for experiment in self.study.experiment]
        self._plan = self._new_plan()

    @property
    def next_number(self) -> int:
        # A record may omit numbers.
        return self.trials[-1].number + 1 if self.trials else 0

    def _new_plan(self) -> Plan | None:
        try:
            return Plan(self.study, self.run.scale, self.run.seed)
        except _NO_PLAN:
            return None

    def charts(self) -> list[dict[str, str]]:
        found = []
        for experiment in self.study.experiment:
            shown = quantity(self.study, experiment.metrics[0])
            found.append({"title": experiment.title, "name": shown.name, "unit": shown.unit})
        return found

    def take(self, trials: Sequence[TrialRecord]) -> None:
        self.revision += 1
        changed = set()
        for trial in trials:
            self._at_place.setdefault(place_of(trial), []).append(len(self.trials))
            # A repeat may exclude an earlier trial from its mean.
            changed.update(self._at_place[place_of(trial)])
            self.trials.append(self._kept(trial))
            if self._plan is not None:
                try:
                    self._plan.record(trial)
                except _NO_PLAN:
                    self._plan = None
        order = sorted(changed)
        for place, row in zip(order, self._made([self.trials[i] for i in order]), strict=True):
            if place < len(self.rows):
                self.rows[place] = row
            else:
                self.rows.append(row)

    def _kept(self, trial: TrialRecord) -> TrialRecord:
        condition = (trial.experiment, *map(repr, trial.factors.items()))
        like = self._last_of.get(condition)
        kept = replace(
            trial,
            raw=lean(trial.raw, None if like is None else like.raw),
            # Keep all metrics: the echo needs `requests`, which is large elsewhere.
            metrics={sys.intern(key): value for key, value in trial.metrics.items()},
            factors=_alike(trial.factors, None if like is None else like.factors),
            parameters=_alike(trial.parameters, None if like is None else like.parameters),
        )
        self._last_of[condition] = kept
        return kept

    def changed_since(self, revision: int) -> list[Row]:
        return [row for row in self.rows if row.revision > revision]

    def progress(self) -> Progress:
        try:
            if self._plan is not None:
                return self._progress(self._plan)
        except _NO_PLAN:
            self._plan = None
        return Progress(len(self.trials), None, None, "")

    def _progress(self, plan: Plan) -> Progress:
        done = len(self.trials)
        estimate = plan.estimate(link_rate_bps=self.run.testbed.get("link_rate_bps"))
        planned = plan.next_trial()
        if planned is None:
            return Progress(done, 0, 0.0, "")
        condition = condition_text(self.study, planned.factors)
        words = [self.study.titles[planned.experiment], condition]
        if planned.purpose != "trial":
            words.append(planned.purpose)
        if planned.repeats:
            words.append(f"attempt {planned.repeats + 1}")
        return Progress(
            done, estimate.trials, estimate.seconds, ", ".join(word for word in words if word)
        )

    def _made(self, trials: Sequence[TrialRecord]) -> list[Row]:
        table = trial_table(RunData(self.run, trials, self.study))
        headings = [column.heading for column in table.columns]
        wanted = [headings.index(heading) for heading in COLUMNS]
        counts = next(i for i, column in enumerate(table.columns) if column.name == "counts")
        made = []
        for trial, cells in zip(trials, table.rows, strict=True):
            experiment = self._experiments.index(trial.experiment)
            metric = self.study.experiment[experiment].metrics[0]
            result = trial.metrics.get(metric)
            made.append(
                Row(
                    self.revision,
                    experiment,
                    None if result is None else quantity(self.study, metric).shown(result),
                    _mark(trial, bool(cells[counts].value)),
                    [sys.intern(cells[place].text) for place in wanted],
                )
            )
        return made


def _mark(trial: TrialRecord, counts: bool) -> int:
    if trial.status == "failed":
        return FAILED
    if not counts:
        return LEFT_OUT
    return DISTURBED if trial.is_disturbed else COUNTS


def lean(raw: Mapping[str, object], like: Mapping[str, object] | None = None) -> dict[str, object]:
    """
    A trial's record without the large parts that no table of the page uses.

    Args:
        like: The reduced record of another trial, whose equal parts are reused. Do not change them.
    """
    kept = {key: value for key, value in raw.items() if key != "facts"}
    hosts = facts_of(raw).get("before", {}).get("hosts")
    if hosts:
        kept["facts"] = {"before": {"hosts": hosts}}
    return cast("dict[str, object]", _shared(kept, like)).copy()


def _shared(value: object, like: object = None) -> object:
    """
    The value without its large parts.

    All trials contain the same names, and trials of one condition share many values. Each is kept
    once, which saves most of the memory.

    Examples:
        >>> first = _shared({"a": {"b": "text"}, "n": 1000})
        >>> second = _shared({"a": {"b": "text"}, "n": 1001}, first)
        >>> second, second["a"] is first["a"]
        ({'a': {'b': 'text'}, 'n': 1001}, True)
    """
    if isinstance(value, dict):
        known = like if isinstance(like, dict) else {}
        made = {
            sys.intern(key): _shared(item, known.get(key))
            for key, item in value.items()
            if key not in _LARGE
        }
        return like if _is_same(made, known, like) else made
    if isinstance(value, list):
        items = like if isinstance(like, list) and len(like) == len(value) else [None] * len(value)
        own = [_shared(item, one) for item, one in zip(value, items, strict=True)]
        is_same = items is like and all(map(operator.is_, own, items))
        return like if is_same else own
    if type(value) is str and len(value) < _SHORT:
        return sys.intern(value)
    # 0.0 and -0.0 are equal but print differently.
    is_equal = type(value) is type(like) and value == like and value != 0
    return like if is_equal else value


def _alike(value: dict[str, Level], like: dict[str, Level] | None) -> dict[str, Level]:
    return like if like is not None and repr(like) == repr(value) else value


def _is_same(made: dict[str, object], known: dict[str, object], like: object) -> bool:
    return (
        known is like
        and len(made) == len(known)
        and all(map(operator.is_, made.keys(), known.keys()))
        and all(map(operator.is_, made.values(), known.values()))
    )
