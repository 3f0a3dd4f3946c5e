"""Every trial of a run."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping

from lanlab.analysis.copies.agreed import agreed_words
from lanlab.analysis.disturbances.words import flags
from lanlab.analysis.trials.modes import Modes
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import number
from lanlab.figures.wording import condition_text, quantity
from lanlab.report.document.table import EMPTY, Cell, Column, LazyCell, Table, words
from lanlab.roles import ROLES
from lanlab.store import TrialRecord
from lanlab.studies.model import Study

#: CSV columns for the I/O modes of a trial, and the fields of `Modes`.
_MODES = {
    "io": "io",
    "io chosen because": "io_reason",
    "messages at once": "burst_messages",
    "receive": "receive",
    "receive chosen because": "receive_reason",
    "times by": "timestamps",
    "sending threads": "sender_threads",
    "receiving threads": "receiver_threads",
    "write size (B)": "write_bytes",
    "read size (B)": "read_bytes",
}


_COUNTS = {counts: Cell(counts, "") for counts in (True, False)}
_NOT_COUNTED = Cell(None, "no")
_LOAD = functools.partial(number, digits=2)
_TIME_OF_DAY = operator.itemgetter(slice(11, 23))


def trial_table(data: RunData) -> Table:
    """Every trial, in order. CSV also has the level of each factor, in lanlab's units."""
    factors = list(dict.fromkeys(name for trial in data.trials for name in trial.factors))
    is_service = any(
        agreed_words(trial) for trial in data.trials if "client" in ROLES[trial.workload]
    )
    columns = (
        Column("number", "no.", "no."),
        Column("block", "block"),
        *(Column(name, name, name, is_number=False) for name in ("experiment", "condition")),
        Column("purpose", "purpose", is_number=False),
        Column("status", "status", "status", is_number=False),
        *map(Column, ("metric", "result", "unit")),
        Column("", "result", "result"),
        Column("start skew (ns)", "start skew"),
        Column("greatest lateness (ns)", "greatest lateness"),
        Column("load average before", "load"),
        Column("polluted by", "disturbed by", "disturbed by", is_number=False),
        Column("counts", "", is_number=False),
        Column("", "in its mean", is_number=False),
        Column("elapsed (s)", "took (s)"),
        Column("started at", "started (UTC)", is_number=False),
        Column("error", "error", "error", is_number=False),
        Column("", "measured with", is_number=False),
        *(Column(name) for name in _MODES),
        *([Column("agreed with the server", "agreed", is_number=False)] if is_service else []),
        # A factor may also be one of these modes.
        *(Column(f"{name} (factor)" if name in _MODES else name) for name in factors),
    )
    metrics = {experiment.id: experiment.metrics[0] for experiment in data.study.experiment}
    quantities = {metric: quantity(data.study, metric) for metric in ("", *metrics.values())}
    units = {metric: Cell(one.si_unit, "") for metric, one in quantities.items()}
    counted = {trial.number for trial in data.counting}
    experiments = experiment_cells(data.study)
    rows = []
    conditions: dict[int, Cell] = {}

    def condition(trial: TrialRecord) -> Cell:
        # Thousands of trials share one mapping of factors, so its cells are made once.
        key = id(trial.factors)
        if key not in conditions:
            conditions[key] = words(condition_text(data.study, trial.factors))
        return conditions[key]

    for trial, (modes, load), judgement in zip(
        data.trials, data.modes_and_loads, data.judgements, strict=True
    ):
        metric = metrics.get(trial.experiment, "")
        result = trial.metrics.get(metric)
        error = trial.error or {}
        rows.append(
            (
                LazyCell(trial.number, str),
                LazyCell(trial.block, str),
                experiments.get(trial.experiment) or words(trial.experiment),
                condition(trial),
                words(trial.purpose),
                words(trial.status),
                words(metric),
                Cell(result, ""),
                units[metric],
                _optional(result, quantities[metric].text),
                _optional(trial.metrics.get("start_skew_ns"), _microseconds),
                _optional(trial.metrics.get("max_lateness_ns"), _microseconds),
                _optional(load, _LOAD),
                words(flags(judgement)),
                _COUNTS[trial.number in counted],
                EMPTY if trial.number in counted or trial.status != "done" else _NOT_COUNTED,
                LazyCell(trial.elapsed_s, "{:.2f}".format),
                LazyCell(trial.started_at, _TIME_OF_DAY),
                words(": ".join(str(error[k]) for k in ("code", "message") if error.get(k))),
                *_cells_of(modes),
                *([words(agreed_words(trial))] if is_service else []),
                *(Cell(trial.factors.get(name), "") for name in factors),
            )
        )
    return Table("trials", "Every trial", columns, tuple(rows))


def experiment_cells(study: Study) -> Mapping[str, Cell]:
    """The id of each experiment, shown as its title if the study has several."""
    is_one = len(study.titles) == 1
    return {one: Cell(one, "" if is_one else title) for one, title in study.titles.items()}


@functools.lru_cache(maxsize=256)
def _cells_of(modes: Modes | None) -> list[Cell]:
    if modes is None:
        return [EMPTY] * (1 + len(_MODES))
    fields = modes.to_json()
    return [Cell(None, modes.words()), *(Cell(fields[field], "") for field in _MODES.values())]


def _optional(value: float | None, write: Callable[[float], str]) -> Cell:
    return EMPTY if value is None else LazyCell(value, write)


def _microseconds(value: float) -> str:
    return f"{number(value / 1e3, 3)} µs"
