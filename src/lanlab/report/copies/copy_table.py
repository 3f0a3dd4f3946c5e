"""The copies of an experiment, and what each byte and each file of them cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lanlab.analysis.attempts import counting
from lanlab.analysis.copy_cost import DATASET, CopyCost, Cost, copy_costs
from lanlab.analysis.run_data import RunData
from lanlab.figures.number_text import number, percent, with_interval
from lanlab.figures.wording import condition_text, quantity
from lanlab.messages import Stall
from lanlab.plan import expand
from lanlab.report.copies.copy_text import caches_words, checked_words, moved_words
from lanlab.report.document.table import EMPTY, Cell, Column, Table, words
from lanlab.store import TrialRecord
from lanlab.studies import Study
from lanlab.units import format_size, format_time


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
    stalls: list[Stall] = []
    for trial in trials:
        source = trial.result("client")
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


def _alike(found: Iterable[str]) -> str:
    counts = Counter(found)
    if len(counts) == 1:
        return str(next(iter(counts)))
    return "; ".join(f"{text} ({n} trials)" for text, n in counts.most_common())


def _stalls(stalls: Sequence[Stall]) -> str:
    found: dict[str, list[Stall]] = {}
    for stall in stalls:
        found.setdefault(f"{stall['operation']}: {stall['likely']}", []).append(stall)
    return "; ".join(
        f"{what}, near {format_time(min(s['mode_ns'] for s in own) / 1e9)} ({len(own)} trials)"
        for what, own in found.items()
    )


TITLE = "Cost per byte and per file"
_GIGA, _MILLI = 1e9, 1e3
#: Significance level of the test whether costs are constant.
_LEVEL = 0.05
#: Columns for frames and bytes on the medium, and their scale factors.
WIRE_NAMES = (
    "frames per byte (frames/B)",
    "frames per file (frames/file)",
    "wire bytes per byte (B/B)",
    "wire bytes per file (B/file)",
)
WIRE_FACTORS = (1e3, 1, 1, 1)
_WIRE_HEADS = (
    "frames per kB",
    "frames per file",
    "bytes on the medium per byte",
    "bytes on the medium per file",
)
_WIRE_COLUMNS = tuple(
    Column(name, head, head) for name, head in zip(WIRE_NAMES, _WIRE_HEADS, strict=True)
)


def cost_table(data: RunData, experiment: str) -> Table:
    """
    Costs of each condition: seconds per GB (1e9 bytes), milliseconds per file and per trial, with
    95 % intervals, by least squares (`lanlab.analysis.copy_cost`). If the medium counted them, also
    frames and bytes on the wire.

    Returns:
        No rows if every trial failed.
    """
    found = copy_costs(data.run, data.trials, experiment)
    on_wire = wire_costs(data, experiment)
    factors = [name for name in (found[0].factors if found else ()) if name != DATASET]
    columns = (
        *(Column(factor, quantity(data.study, factor).name) for factor in factors),
        Column("", "", "condition", is_number=False),
        Column("copied", "copied", is_number=False),
        Column("n", "n", "n"),
        *_cost_columns("per byte", "per GB (s)", "s/GB"),
        *_cost_columns("per file", "per file (ms)", "ms/file"),
        *_cost_columns("per trial", "per trial (ms)", "ms/trial"),
        *(_WIRE_COLUMNS if on_wire else ()),
        Column("greatest deviation (ratio)", "greatest deviation", "deviation"),
        Column("p, costs are constant"),
        Column("note", "note", "note", is_number=False),
    )
    rows = tuple(_cost_row(one, data.study, on_wire) for one in found)
    is_unknown = not any(one.per_byte or one.per_file for one in found)
    return Table(f"{experiment}-cost", TITLE, columns, rows, is_unknown)


def _cost_columns(name: str, heading: str, short: str) -> tuple[Column, ...]:
    unit = "s/B" if name == "per byte" else "s"
    return (
        Column(f"{name} ({unit})"),
        Column(f"{name}, 95 % low ({unit})"),
        Column(f"{name}, 95 % high ({unit})"),
        Column("", heading, short),
    )


def _wire_cells(costs: Sequence[Cost | None]) -> tuple[Cell, ...]:
    return tuple(
        EMPTY if cost is None else Cell(cost.value, number(factor * cost.value, 3))
        for cost, factor in zip(costs, WIRE_FACTORS, strict=True)
    )


def wire_costs(data: RunData, experiment: str) -> dict[str, tuple[Cost | None, ...]]:
    """Frames and bytes on the medium per byte and per file, in the order of `WIRE_NAMES`, by
    condition; empty if the medium did not count them.
    """
    found: dict[str, tuple[Cost | None, ...]] = {}
    for metric in ("wire_frames", "wire_bytes"):
        for one in copy_costs(data.run, data.trials, experiment, metric):
            key = repr(sorted(one.factors.items()))
            found[key] = (*found.get(key, ()), one.per_byte, one.per_file)
    return found


def _cost_row(
    one: CopyCost, study: Study, on_wire: Mapping[str, Sequence[Cost | None]]
) -> tuple[Cell, ...]:
    copied = "; ".join(
        f"{n} trial{'s' * (n != 1)} of {files} file{'s' * (files != 1)}, {format_size(octets)}"
        for octets, files, n in one.copied
    )
    worst = one.residual_ratio
    note = one.note
    if one.p_lack is not None and one.p_lack <= _LEVEL:
        remark = "costs are not constant: the datasets deviate from them by more than chance"
        note = f"{note}; {remark}" if note else remark
    return (
        *(Cell(level, condition_text(study, {name: level})) for name, level in one.factors.items()),
        Cell(None, condition_text(study, one.factors) or "all"),
        words(copied),
        Cell(one.trials, str(one.trials)),
        *_cost_cells(one.per_byte, _GIGA),
        *_cost_cells(one.per_file, _MILLI),
        *_cost_cells(one.per_trial, _MILLI),
        *(
            _wire_cells(on_wire.get(repr(sorted(one.factors.items())), (None,) * 4))
            if on_wire
            else ()
        ),
        EMPTY if worst is None else Cell(worst, f"{number(100 * worst, 2)} %"),
        EMPTY if one.p_lack is None else Cell(one.p_lack, ""),
        words(note),
    )


def _cost_cells(cost: Cost | None, factor: float) -> tuple[Cell, ...]:
    if cost is None:
        return (EMPTY, EMPTY, EMPTY, EMPTY)
    ends = None
    if cost.low is not None and cost.high is not None:
        ends = factor * cost.low, factor * cost.high
    values = (cost.value, cost.low, cost.high)
    exact = (EMPTY if value is None else Cell(value, "") for value in values)
    return (*exact, Cell(None, with_interval(factor * cost.value, ends)))
