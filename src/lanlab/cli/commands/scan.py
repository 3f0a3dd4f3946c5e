"""
A scan: options with several values define a study with one experiment, whose conditions are all
combinations of them, measured in randomised blocks.

The number of trials is computed and checked before any condition is created.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lanlab.cli.options.levels import Levels, checked, levels_of
from lanlab.cli.terminal.remarks import say
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.roles import BOTH, REVERSE_PREFIX
from lanlab.store import Level, RunRecord
from lanlab.trial_data import ExperimentData
from lanlab.units import format_duration
from lanlab.workloads import workload
from lanlab.workloads.definitions import Definition, definitions

SCAN = "scan"
#: A scan with more trials is probably a mistake.
_MOST_TRIALS = 100_000
_MOST_IN_DIGITS = 10**12
_OVERHEAD_S = 0.25


@dataclass(frozen=True)
class Scan:
    workload: str
    #: In lanlab's units; omitted parameters have their default.
    parameters: Mapping[str, Level]
    factors: Mapping[str, tuple[Level, ...]]
    #: In words, as in `10 values of --rate`.
    varied: str
    conditions: int
    #: Time to measure every condition once, without the start of each trial, seconds.
    expected_s: float
    subject: str

    def experiment(self) -> ExperimentData:
        return {
            "id": SCAN,
            "title": self.subject,
            "workload": self.workload,
            "metrics": [*self._metrics(), *self._reverse_metrics()],
            "parameters": dict(self.parameters),
            "factors": {key: list(levels) for key, levels in self.factors.items()},
        }

    def _metrics(self) -> tuple[str, ...]:
        from lanlab.workloads.peers.peer import shown_metric

        usual = workload(self.workload).scan_metrics
        if "peer" not in self.factors and self.parameters.get("peer") is None:
            return usual
        known = {"peer": "", **self.parameters}
        ways = self.factors.get("traffic_direction", (known.get("traffic_direction"),))
        shown = (shown_metric({**known, "traffic_direction": way}) or usual[0] for way in ways)
        return tuple(dict.fromkeys(shown))

    def _reverse_metrics(self) -> list[str]:
        directions = self.factors.get(
            "traffic_direction", (self.parameters.get("traffic_direction"),)
        )
        if BOTH not in directions:
            return []
        return [f"{REVERSE_PREFIX}{key}" for key in workload(self.workload).scan_metrics]

    def announce(self, trials: int) -> None:
        seconds = trials * (self.expected_s + self.conditions * _OVERHEAD_S)
        say(
            f"scan: {self.varied} = {_counted(self.conditions, 'condition')} x "
            f"{_counted(trials, 'trial')} = {_counted(self.conditions * trials, 'trial')}, about "
            f"{format_duration(seconds)}"
        )


def is_scan(run: RunRecord) -> bool:
    return [one["id"] for one in run.study.get("experiment", ())] == [SCAN]


def scan_of(workload_name: str, given: Mapping[str, object], trials: int) -> Scan | None:
    """
    The scan that the options define; `None` if each has a single value. Several drivers alone are
    not a scan.

    Args:
        given: Values by key, as text of the command line; `None` if not given.
    """
    known = definitions(workload(workload_name).Parameters)
    found = {
        key: _given_levels(known[key], value) for key, value in given.items() if value is not None
    }
    varied = {key: levels for key, levels in found.items() if levels.count > 1}
    if not set(varied) - {"driver"}:
        return None
    fixed = {key: next(iter(levels)) for key, levels in found.items() if key not in varied}
    return _scan(workload_name, fixed, varied, trials)


def with_single_levels(workload_name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options that must have one value each; numbers without a unit are converted."""
    known = definitions(workload(workload_name).Parameters)
    return {
        key: value if key == "driver" or value is None else next(iter(levels_of(known[key], value)))
        for key, value in given.items()
    }


def _given_levels(one: Definition, value: object) -> Levels:
    if isinstance(value, tuple):
        # The command itself sets this parameter, such as the targets of a copy.
        return Levels("TARGET" if one.key == "server" else one.option or one.key, value)
    return levels_of(one, value)


def _scan(
    workload_name: str, fixed: Mapping[str, Level], varied: Mapping[str, Levels], trials: int
) -> Scan:
    from lanlab.report.trials.subject import subject
    from lanlab.studies.scaling import combinations

    kind = workload(workload_name)
    words = " x ".join(map(_varied, varied.values()))
    conditions = math.prod(levels.count for levels in varied.values())
    _check_amount(workload_name, fixed, varied, words, conditions, trials)
    levels: dict[str, dict[Level, None]] = {key: {} for key in varied}
    complete: dict[str, Level] = {}
    found: dict[str, Level] = {}
    seconds = []
    for chosen in combinations(varied):
        complete = checked(workload_name, {**fixed, **chosen})
        seconds.append(kind.expected_time_s(kind.Parameters.model_validate(complete)))
        # An option such as `trust` may only have an effect in some conditions.
        found |= complete
        for key in varied:
            levels[key].setdefault(complete[key])
    for key, distinct in levels.items():
        if len(distinct) < varied[key].count:
            raise UsageError(
                f"{varied[key].option}: found a value twice; allowed: each value once",
                hint="--trials measures each condition several times",
            )
    return Scan(
        workload_name,
        {key: found[key] for key in fixed if key in found},
        {key: tuple(distinct) for key, distinct in levels.items()},
        words,
        conditions,
        math.fsum(seconds),
        subject(workload_name, complete, list(varied)),
    )


def _varied(levels: Levels) -> str:
    count = _number(levels.count)
    return f"{count} targets" if levels.option == "TARGET" else f"{count} values of {levels.option}"


def _check_amount(
    workload_name: str,
    fixed: Mapping[str, Level],
    varied: Mapping[str, Levels],
    words: str,
    conditions: int,
    trials: int,
) -> None:
    from lanlab.studies.scaling import MAX_CONDITIONS, combinations

    if conditions <= MAX_CONDITIONS and conditions * trials <= _MOST_TRIALS:
        return
    kind = workload(workload_name)
    firsts = {key: Levels(one.option, (next(iter(one)),)) for key, one in varied.items()}
    first = checked(workload_name, {**fixed, **next(combinations(firsts))})
    each_s = kind.expected_time_s(kind.Parameters.model_validate(first)) + _OVERHEAD_S
    raise UsageError(
        f"found {words} = {_counted(conditions, 'condition')} x {_counted(trials, 'trial')} = "
        f"{_counted(conditions * trials, 'trial')} of about {each_s:.3g} s: "
        f"{format_duration(conditions * trials * each_s)}; allowed: at most {MAX_CONDITIONS:,} "
        f"conditions and {_MOST_TRIALS:,} trials",
        hint="give fewer values, or a larger step",
    )


def _counted(count: int, what: str) -> str:
    return f"{_number(count)} {what}{'' if count == 1 else 's'}"


def _number(count: int) -> str:
    return f"{count:,}" if count < _MOST_IN_DIGITS else f"{count:.1e}"
