"""The copies of an experiment, and what each byte and each file of them cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lanlab.analysis.copies.agreed import variants
from lanlab.analysis.copies.cost import DATASET, CopyCost, Cost, copy_costs
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import ConditionTrials
from lanlab.figures.number_text import counted, number, percent, with_interval
from lanlab.figures.wording import condition_text, quantity
from lanlab.messages import Stall
from lanlab.report.copies.copy_text import caches_words, checked_words, moved_words
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell, words
from lanlab.studies.model import Study
from lanlab.units import format_size, format_time


def copy_table(data: RunData, experiment: str) -> Table:
    """A row for each condition: protocol and settings, whether caches were cold, how much was
    verified, retries, and calls that waited for a timer.
    """
    conditions = data.conditions(experiment)
    rows = tuple(_row(data.study, one) for one in conditions if one.counted)
    factors = conditions[0].factors if conditions else ()
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
    return Table(f"{experiment}-how", "How the copies went", columns, rows)


def tables_of_copies(data: RunData, experiment: str) -> list[Table]:
    """The columns that distinguish services, then those on the copies, without empty columns."""
    made = (cost_table, copy_table)
    return [table for make in made if (table := make(data, experiment)).rows]


def _row(study: Study, condition: ConditionTrials) -> tuple[Cell, ...]:
    trials, failed = condition.counted, condition.failed
    retries = sum(int(trial.metrics.get("retries", 0)) for trial in trials)
    faults: Counter[str] = Counter()
    stalls: list[Stall] = []
    for trial in trials:
        source = trial.result("client")
        faults.update({name: int(n) for name, n in (source.get("faults") or {}).items() if n})
        stalls += source.get("stalls") or ()
    worst = max((float(trial.metrics.get("stall_ratio", 0.0)) for trial in trials), default=0.0)
    levels = condition.factors
    return (
        *(Cell(level, condition_text(study, {name: level})) for name, level in levels.items()),
        Cell(None, condition_text(study, levels) or "all"),
        cell(len(trials)),
        Cell(failed, str(failed or "")),
        words(variants(moved_words(trial) for trial in trials)),
        words(variants(caches_words(trial) for trial in trials)),
        words(variants(checked_words(trial) for trial in trials)),
        cell(retries),
        words(", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(faults.items()))),
        Cell(worst, percent(worst) if worst else "none"),
        words(_stalls(stalls)) if stalls else EMPTY,
    )


def _stalls(stalls: Sequence[Stall]) -> str:
    found: dict[str, list[Stall]] = {}
    for stall in stalls:
        found.setdefault(f"{stall['operation']}: {stall['likely']}", []).append(stall)
    return "; ".join(
        f"{what}, near {format_time(min(s['mode_ns'] for s in own) / 1e9)} "
        f"({counted(len(own), 'trial')})"
        for what, own in found.items()
    )


TITLE = "Cost per byte and per file"
_GIGA, _MILLI = 1e9, 1e3
#: Significance level of the test whether costs are constant.
_LEVEL = 0.05
#: Columns for frames and bytes on the medium, and their scale factors.
_WIRE_NAMES = (
    "frames per byte (frames/B)",
    "frames per file (frames/file)",
    "wire bytes per byte (B/B)",
    "wire bytes per file (B/file)",
)
_WIRE_FACTORS = (1e3, 1, 1, 1)
_WIRE_HEADS = (
    *("frames per kB", "frames per file"),
    *("bytes on the medium per byte", "bytes on the medium per file"),
)
_WIRE_COLUMNS = tuple(
    Column(name, head, head) for name, head in zip(_WIRE_NAMES, _WIRE_HEADS, strict=True)
)


def cost_table(data: RunData, experiment: str) -> Table:
    """Costs of each condition: seconds per GB (1e9 bytes), milliseconds per file and per trial,
    with 95 % intervals, by least squares (`lanlab.analysis.copies.cost`). If the medium counted
    them, also frames and bytes on the wire.
    """
    found = copy_costs(data, experiment)
    on_wire = _wire_costs(data, experiment)
    # The trials of a simulation differ by their seeds alone.
    of = " over seeds" if data.study.is_simulated else ""
    factors = [name for name in (found[0].factors if found else ()) if name != DATASET]
    columns = (
        *(Column(factor, quantity(data.study, factor).name) for factor in factors),
        Column("", "", "condition", is_number=False),
        Column("copied", "copied", is_number=False),
        Column("n", "n", "n"),
        *_cost_columns("per byte", "per GB (s)", "s/GB", of),
        *_cost_columns("per file", "per file (ms)", "ms/file", of),
        *_cost_columns("per trial", "per trial (ms)", "ms/trial", of),
        *(_WIRE_COLUMNS if on_wire else ()),
        Column("greatest deviation (ratio)", "greatest deviation", "deviation"),
        Column("p, costs are constant"),
        Column("note", "note", "note", is_number=False),
    )
    rows = tuple(_cost_row(one, data.study, on_wire) for one in found)
    is_unknown = not any(one.per_byte or one.per_file for one in found)
    return Table(f"{experiment}-cost", f"{TITLE}{of and f', 95 %{of}'}", columns, rows, is_unknown)


def _cost_columns(name: str, heading: str, short: str, of: str) -> tuple[Column, ...]:
    unit = "s/B" if name == "per byte" else "s"
    return (
        Column(f"{name} ({unit})"),
        Column(f"{name}, 95 % low{of} ({unit})"),
        Column(f"{name}, 95 % high{of} ({unit})"),
        Column("", heading, short),
    )


def _wire_costs(data: RunData, experiment: str) -> dict[str, tuple[Cost | None, ...]]:
    """Frames and bytes on the medium per byte and per file, in the order of `_WIRE_NAMES`, by
    condition; empty if the medium did not count them.
    """
    found: dict[str, tuple[Cost | None, ...]] = {}
    for metric in ("wire_frames", "wire_bytes"):
        for one in copy_costs(data, experiment, metric):
            key = repr(sorted(one.factors.items()))
            found[key] = (*found.get(key, ()), one.per_byte, one.per_file)
    return found


def _cost_row(
    one: CopyCost, study: Study, on_wire: Mapping[str, Sequence[Cost | None]]
) -> tuple[Cell, ...]:
    copied = "; ".join(
        f"{counted(n, 'trial')} of {counted(files, 'file')}, {format_size(octets)}"
        for octets, files, n in one.copied
    )
    wire = on_wire.get(repr(sorted(one.factors.items())), (None,) * 4) if on_wire else ()
    note = one.note
    if one.p_lack is not None and one.p_lack <= _LEVEL:
        remark = "costs are not constant: the datasets deviate from them by more than chance"
        note = f"{note}; {remark}" if note else remark
    return (
        *(Cell(level, condition_text(study, {name: level})) for name, level in one.factors.items()),
        Cell(None, condition_text(study, one.factors) or "all"),
        words(copied),
        cell(one.trials),
        *_cost_cells(one.per_byte, _GIGA, study),
        *_cost_cells(one.per_file, _MILLI, study),
        *_cost_cells(one.per_trial, _MILLI, study),
        *(
            EMPTY if cost is None else Cell(cost.value, number(factor * cost.value, 3))
            for cost, factor in zip(wire, _WIRE_FACTORS[: len(wire)], strict=True)
        ),
        cell(one.residual_ratio, lambda worst: f"{number(100 * worst, 2)} %"),
        Cell(one.p_lack, ""),
        words(note),
    )


def _cost_cells(cost: Cost | None, factor: float, study: Study) -> tuple[Cell, ...]:
    if cost is None:
        return (EMPTY,) * 4
    ends = None
    if cost.low is not None and cost.high is not None:
        ends = factor * cost.low, factor * cost.high
    exact = (Cell(value, "") for value in (cost.value, cost.low, cost.high))
    text = with_interval(factor * cost.value, ends, is_simulated=study.is_simulated)
    return (*exact, Cell(None, text))
