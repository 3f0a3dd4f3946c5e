"""
The cost of each byte and each file of a copy: in time, or in another additive metric such as frames
on the medium.

The model of a trial's time is `octets * per byte + files * per file + per trial`, fitted to the
trials of all datasets copied under one condition. These costs distinguish file services: slow
replies increase the cost per file, heavy computation the cost per byte. Two different datasets
determine two of the costs; three that are not on a line determine all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.trials.attempts import condition_key
from lanlab.analysis.trials.run_data import RunData
from lanlab.frozen import dataclass
from lanlab.store import Level, TrialRecord

PER_BYTE, PER_FILE, PER_TRIAL = "per_byte_s", "per_file_s", "per_trial_s"
DATASET = "dataset"
_TIME = "elapsed_s"
_COPIED = ("copied_bytes", "copied_files")


@dataclass(frozen=True)
class Cost:
    """A cost in the unit of its metric, with its 95 % interval; `None` if all trials are equal."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CopyCost:
    experiment: str
    factors: Mapping[str, Level]
    #: Bytes and files of each dataset, and its trials; fewest files first.
    copied: tuple[tuple[int, int, int], ...]
    #: Cost of a byte, a file, a trial; `None` if the datasets do not determine it.
    per_byte: Cost | None
    per_file: Cost | None
    per_trial: Cost | None
    #: Largest deviation of a dataset's mean from the fit, as a share of that mean. `None` if the
    #: datasets are no more than the costs, so that any times would fit.
    residual_ratio: float | None
    p_lack: float | None
    #: Limitations and assumptions of the fit; empty if it determines all costs.
    note: str

    @property
    def trials(self) -> int:
        return sum(n for *_, n in self.copied)


def copy_costs(data: RunData, experiment: str, metric: str = _TIME) -> tuple[CopyCost, ...]:
    """
    The costs of each condition of an experiment, over all its datasets.

    Each trial's weight is the inverse square of its dataset's mean. Trials that failed or were
    replaced by a repeat are excluded.

    Args:
        experiment: Id of an experiment whose workload is `copy`.
        metric: The cost: time in seconds, or another metric that is additive over bytes and files.

    Returns:
        In the order of the study, without conditions that have no finished trial.
    """
    own: dict[str, tuple[dict[str, Level], list[TrialRecord]]] = {}
    for condition in data.conditions(experiment):
        rest = {name: level for name, level in condition.factors.items() if name != DATASET}
        own.setdefault(condition_key(rest), (rest, []))[1].extend(
            trial
            for trial in condition.counted
            if all(name in trial.metrics for name in _COPIED) and trial.metrics.get(metric, 0) > 0
        )
    return tuple(
        cost_of(experiment, rest, trials, metric) for rest, trials in own.values() if trials
    )


def cost_of(
    experiment: str,
    factors: Mapping[str, Level],
    trials: Sequence[TrialRecord],
    metric: str = _TIME,
) -> CopyCost:
    """The costs of one condition from its successful trials."""
    groups: dict[tuple[int, int], list[float]] = {}
    for trial in trials:
        what = (int(trial.metrics["copied_bytes"]), int(trial.metrics["copied_files"]))
        groups.setdefault(what, []).append(float(trial.metrics[metric]))
    from lanlab.analysis.statistics.least_squares import fit_groups

    groups = {key: groups[key] for key in sorted(groups, key=lambda key: key[::-1])}
    known = list(groups)
    columns, note = _model(known)
    copied = tuple((octets, files, len(groups[octets, files])) for octets, files in known)
    if not columns:
        return CopyCost(experiment, factors, copied, None, None, None, None, None, note)
    times = list(groups.values())
    fit = fit_groups(columns, times)
    costs: dict[str, Cost] = {}
    # A cost below zero is impossible: it is taken as 0, and the others are fitted again.
    while below := next((name for name, one in fit.coefficients.items() if one.value < 0), None):
        high = fit.coefficients[below].high
        costs[below] = Cost(0.0, None if high is None else 0.0, high and max(0.0, high))
        columns = {name: column for name, column in columns.items() if name != below}
        fit = fit_groups(columns, times)
    for name, one in fit.coefficients.items():
        costs[name] = Cost(one.value, one.low and max(0.0, one.low), one.high)
    worst = max(map(abs, fit.residual_ratios)) if fit.df_lack else None
    if any(cost.low is None for cost in costs.values()):
        lone = "no interval: a dataset has a single trial"
        note = "; ".join(filter(None, [note, lone]))
    return CopyCost(
        experiment,
        factors,
        copied,
        costs.get(PER_BYTE),
        costs.get(PER_FILE),
        costs.get(PER_TRIAL),
        worst,
        fit.p_lack,
        note,
    )


def _model(known: Sequence[tuple[int, int]]) -> tuple[dict[str, list[float]], str]:
    from lanlab.analysis.statistics.least_squares import identified

    octets = [float(one) for one, _ in known]
    files = [float(one) for _, one in known]
    whole = {PER_BYTE: octets, PER_FILE: files, PER_TRIAL: [1.0] * len(known)}
    if identified(whole):
        return whole, ""
    if len(set(files)) == 1:
        two = {PER_BYTE: octets, PER_TRIAL: whole[PER_TRIAL]}
        if identified(two):
            every = "1 file" if files[0] == 1 else f"{files[0]:g} files"
            return two, f"every dataset has {every}: the cost of a trial is that of its files too"
    two = {PER_BYTE: octets, PER_FILE: files}
    if len(known) > 1 and identified(two):
        return two, "the cost of a trial cannot be separated and is taken as 0"
    if len(known) == 1:
        return {}, "not identified: one dataset cannot separate bytes from files"
    return {}, "not identified: the datasets have files of one mean size"
