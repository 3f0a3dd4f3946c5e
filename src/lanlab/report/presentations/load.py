"""How round trips under load are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lanlab.analysis.traffic.load_increase import Increase, LoadResult, load_results
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted, number, percent
from lanlab.figures.wording import condition_text
from lanlab.report.document.table import EMPTY, Cell, Column, Table, cell, words
from lanlab.report.presentations.base import Presentation, figure
from lanlab.store import TrialRecord
from lanlab.studies.model import Experiment, Figure, Study
from lanlab.workloads.load.workload import flow_goodputs


class LoadPresentation(Presentation):
    """Round trips idle and under load. The goodput of the load is a setting, not a result."""

    def sentences(self, data: RunData, experiment: str) -> list[str]:
        return [load_sentence(found, data.study) for found in load_results(data.trials, experiment)]

    def first_tables(self, data: RunData, experiment: str) -> list[Table]:
        rows = tuple(_row(found, data.study) for found in load_results(data.trials, experiment))
        name, title = f"{experiment}-under-load", "Round trips under load"
        return [Table(name, title, _LOAD_COLUMNS, rows)] if rows else []

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        yield figure(experiment, "round_trips_over_time", "Round trips over time")
        yield figure(experiment, "round_trip_percentiles", "Round-trip times")

    def to_json(self, trial: TrialRecord) -> dict[str, object]:
        """Goodput of each stream during the echo, by direction, under `streams_bps`."""
        return {"streams_bps": flow_goodputs(trial.raw)}


PRESENTATION = LoadPresentation()


_LOAD_COLUMNS = (
    Column("condition", "condition", "condition", is_number=False),
    Column("load", "load", "load", is_number=False),
    *(
        column
        for name, alone, under, rank in (
            ("median", "alone (ms)", "under load", 0),
            ("99th percentile", "", "p99 under load", 2),
        )
        for column in (
            Column(f"{name} alone (ns)", f"{name} alone (ms)", alone, rank=rank),
            Column(f"{name} under load (ns)", f"{name} under load (ms)", under, rank=rank),
            Column(
                f"increase of the {name} (ns)", "increase (ms), 95 %", "increase, 95 %", rank=rank
            ),
            Column(f"increase of the {name}, 95 % low (ns)"),
            Column(f"increase of the {name}, 95 % high (ns)"),
        )
    ),
    Column("mean under load (ns)", "mean under load (ms)"),
    Column("requests without a reply, alone (ratio)"),
    Column("requests without a reply (ratio)", "lost", "lost", rank=1),
    Column("goodput up (bit/s)", "goodput up (Mbit/s)", "up (Mbit/s)", rank=1),
    Column("goodput down (bit/s)", "goodput down (Mbit/s)", "down (Mbit/s)", rank=1),
    Column("echo round trips per minute", "echo round trips/min", "echo trips/min", rank=3),
    Column("trials", "trials", "trials", rank=3),
)


def _row(found: LoadResult, study: Study) -> tuple[Cell, ...]:
    goodputs = [found.goodput_bps.get(way) for way in ("up", "down")]
    mean = None if found.mean is None else found.mean.under_load
    return (
        words(condition_text(study, found.factors)),
        words(found.load),
        *_increase(found.median),
        *_increase(found.p99),
        cell(mean, _milliseconds),
        cell(found.loss_alone_ratio, percent),
        cell(found.loss_ratio, percent),
        *(cell(bps, lambda bps: number(bps / 1e6, 3)) for bps in goodputs),
        cell(found.echo_round_trips_per_minute, lambda count: number(count, 3)),
        cell(found.trials),
    )


def _increase(one: Increase | None) -> tuple[Cell, ...]:
    if one is None:
        return (EMPTY,) * 5
    return (
        cell(one.alone, _milliseconds),
        cell(one.under_load, _milliseconds),
        Cell(one.mean, increase_text(one)),
        Cell(one.low, ""),
        Cell(one.high, ""),
    )


def increase_text(one: Increase) -> str:
    """An increase in milliseconds, as in `29.3 (25.1 … 33.5)`."""
    text = _milliseconds(one.mean)
    return text if one.low is None or one.high is None else f"{text} ({_interval(one)})"


def _interval(one: Increase) -> str:
    return " … ".join(_milliseconds(end) for end in (one.low, one.high) if end is not None)


def _milliseconds(value: float) -> str:
    return number(value / 1e6, 3)


def load_sentence(found: LoadResult, study: Study) -> str:
    where = condition_text(study, found.factors)
    load = "both ways" if found.load == "both" else found.load
    of = f"Under load {load}{f' ({where})' if where else ''}"
    if found.median is None:
        return f"{of}, there is no trial of the echo alone in the same block to compare with."
    said = (
        f"{of}, the median round trip took {_grown(found.median)}: "
        f"{_milliseconds(found.median.under_load)} ms instead of "
        f"{_milliseconds(found.median.alone)} ms"
    )
    # With few round trips there is no 99th percentile.
    if found.p99 is not None:
        said += f"; the 99th percentile was {_milliseconds(found.p99.under_load)} ms"
        said += f" instead of {_milliseconds(found.p99.alone)} ms"
    said += "."
    if found.loss_ratio:
        said += f" {percent(found.loss_ratio)} of the requests had no reply in time."
    return said


def _grown(one: Increase) -> str:
    if one.mean < 0:
        low, high = (None if end is None else -end for end in (one.high, one.low))
        one = replace(one, mean=-one.mean, low=low, high=high)
        text = f"{_milliseconds(one.mean)} ms less"
    else:
        text = f"{_milliseconds(one.mean)} ms more"
    if one.low is None or one.high is None:
        return f"{text}, by {counted(one.blocks, 'block')}, too few for an interval"
    unclear = "" if one.low > 0 else ", so that no difference is shown"
    return f"{text} (95 % {_interval(one)}, {one.blocks} blocks{unclear})"
