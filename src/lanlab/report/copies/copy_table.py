"""The copies of an experiment: protocol and settings, caches, verification, retries and stalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lanlab.analysis.attempts import counting
from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import percent
from lanlab.figures.wording import condition_text, quantity
from lanlab.plan import expand
from lanlab.report.copies.copy_text import caches_words, checked_words, moved_words
from lanlab.report.copies.cost_table import cost_table
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import TrialRecord
from lanlab.studies import Study
from lanlab.units import format_time


def copy_table(data: RunData, experiment: str) -> Table:
    """
    A row for each condition: protocol and settings, whether caches were cold, how much was
    verified, retries, and calls that waited for a timer.

    Returns:
        No rows if every trial failed.
    """
    own = [t for t in data.trials if t.experiment == experiment and t.purpose == "trial"]
    counted = counting(own)
    rows = []
    factors: tuple[str, ...] = ()
    for condition in expand(data.study, data.run.scale):
        if condition.experiment != experiment:
            continue
        factors = tuple(condition.factors)
        mine = [trial for trial in counted if trial.factors == dict(condition.factors)]
        failed = sum(t.status == "failed" and t.factors == dict(condition.factors) for t in own)
        if mine:
            rows.append(_row(data.study, mine, failed))
    columns = (
        *(Column(name, quantity(data.study, name).name, is_number=False) for name in factors),
        Column("", "", "condition", is_number=False),
        Column("n", "n", "n", rank=5),
        Column("failed trials", "failed", "failed", rank=4),
        Column("moved by", "moved by", "moved by", is_number=False),
        Column("caches", "caches", "caches", is_number=False, rank=3),
        Column("checked", "checked", "checked", is_number=False, rank=3),
        Column("retries", "retries", "retries", rank=2),
        Column("faults", "faults", "faults", is_number=False, rank=2),
        Column("greatest share of time in stalls (ratio)", "in stalls", "in stalls", rank=1),
        Column("stalls", "stalls", "", is_number=False),
    )
    return Table(f"{experiment}-how", "How the copies went", columns, tuple(rows))


def tables_of_copies(data: RunData, experiment: str) -> list[Table]:
    """The columns that distinguish services, then those on the copies, without empty columns."""
    made = (cost_table, copy_table)
    return [table for make in made if (table := make(data, experiment)).rows]


def _row(study: Study, trials: Sequence[TrialRecord], failed: int) -> tuple[Cell, ...]:
    retries = sum(int(trial.metrics.get("retries", 0)) for trial in trials)
    faults: Counter[str] = Counter()
    stalls: list[dict[str, Any]] = []
    for trial in trials:
        source = trial.raw.get("client") or {}
        faults.update({name: int(n) for name, n in (source.get("faults") or {}).items() if n})
        stalls += source.get("stalls") or ()
    worst = max((float(trial.metrics.get("stall_ratio", 0.0)) for trial in trials), default=0.0)
    levels = trials[0].factors
    return (
        *(Cell(level, condition_text(study, {name: level})) for name, level in levels.items()),
        Cell(None, condition_text(study, levels) or "all"),
        Cell(len(trials), str(len(trials))),
        Cell(failed, str(failed or "")),
        words(_alike(moved_words(trial) for trial in trials)),
        words(_alike(caches_words(trial) for trial in trials)),
        words(_alike(checked_words(trial) for trial in trials)),
        Cell(retries, str(retries)),
        words(", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(faults.items()))),
        Cell(worst, percent(worst) if worst else "none"),
        words(_stalls(stalls)) if stalls else EMPTY,
    )


def _alike(found: Any) -> str:
    counts = Counter(found)
    if len(counts) == 1:
        return str(next(iter(counts)))
    return "; ".join(f"{text} ({n} trials)" for text, n in counts.most_common())


def _stalls(stalls: Sequence[dict[str, Any]]) -> str:
    found: dict[str, list[dict[str, Any]]] = {}
    for stall in stalls:
        found.setdefault(f"{stall['operation']}: {stall['likely']}", []).append(stall)
    return "; ".join(
        f"{what}, near {format_time(min(s['mode_ns'] for s in own) / 1e9)} ({len(own)} trials)"
        for what, own in found.items()
    )
