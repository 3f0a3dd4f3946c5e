"""The figures that a study may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module

from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.failures import missing_places
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UnknownName, of_name
from lanlab.figures.chart import Chart
from lanlab.figures.finishing import (
    in_readable_unit,
    with_distinct_labels,
    without_far_limits,
)
from lanlab.figures.gather import FigureData
from lanlab.figures.number_text import listed
from lanlab.figures.panels import with_series
from lanlab.figures.wording import condition_text
from lanlab.lazily import Lazily
from lanlab.store import TrialRecord
from lanlab.studies.model import Figure, Study
from lanlab.studies.plain_level import plain_level

_SET_APART = "Series with the same position are drawn side by side."

Builder = Callable[[FigureData], Chart]
#: Each module with its figures; a figure is the function of its name.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "against_factor": ("against_factor", "against_size", "rtt_against_size", "what_limits"),
    "against_stations": (
        *("delay_throughput", "greatest_throughput", "response_against_stations"),
        "throughput_against_stations",
    ),
    "bars": ("bars", "flow_shares"),
    "copies": ("copy_times", "cost_per_byte_and_file", "goodput_against_file_size"),
    "distributions": (*("round_trip_ecdf", "round_trip_percentiles", "round_trip_violins"),),
    "forests": ("factor_effects",),
    "over_time": (
        *("goodput_over_time", "round_trips_over_time", "tcp_rate_over_time"),
        *("tcp_retransmissions_over_time", "tcp_round_trip_over_time", "tcp_window_over_time"),
    ),
    "received_against_sent": (
        *("losses_against_sent", "received_against_sent", "received_ratio_against_sent"),
        "saturation_curve",
    ),
    "station_trials": ("station_errors", "station_fairness"),
}


def _builder(module: str, name: str) -> Builder:
    function = "tcp_over_time" if name.startswith("tcp_") else name
    builder: Builder = getattr(import_module(f"lanlab.figures.{module}"), function)
    return builder


FIGURES: Mapping[str, Builder] = Lazily(
    {name: partial(_builder, module, name) for module, own in _MODULES.items() for name in own}
)


def check_figures(study: Study) -> None:
    """Check before a run that all figures of a study are known."""
    for figure in study.figure:
        if figure.figure not in FIGURES:
            raise UnknownName("figure", figure.figure, FIGURES)


def build_figure(data: RunData, figure: Figure) -> Chart:
    """One figure of a study from the trials of a run."""
    builder = of_name("figure", figure.figure, FIGURES)
    at = {name: plain_level(name, level) for name, level in figure.at.items()}
    trials = data.trials
    if at:
        trials = [t for t in trials if all(t.factors.get(name) == at[name] for name in at)]
    chart = builder(FigureData(data, figure, trials))
    if at:
        # An omitted level leaves a series without points.
        chart = with_series(chart, [n for n, one in enumerate(chart.series) if one.points])
    chart = without_far_limits(with_distinct_labels(in_readable_unit(chart)))
    if chart.is_set_apart:
        chart = replace(chart, caption=f"{chart.caption} {_SET_APART}")
    missing = missing_text(trials, data.study, figure.experiments)
    return replace(chart, caption=f"{chart.caption} {missing}".strip()) if missing else chart


_MOST_NAMED = 4
#: Purposes of trials whose means figures draw. Failed steps of a search are always repeated.
_DRAWN = ("trial", "curve")


def missing_text(trials: Sequence[TrialRecord], study: Study, experiments: Sequence[str]) -> str:
    """A sentence on conditions that lack trials, as in `Failed trials are missing: 100 B (n = 3 of
    5).`; empty if no condition lacks any.
    """
    own = [t for t in trials if t.experiment in experiments and t.purpose in _DRAWN]
    counts: dict[str, list[int]] = {}
    if not (missed := missing_places(own)):
        return ""
    for place, found in enumerate((counting(own), missed)):
        for trial in found:
            words = condition_text(study, trial.factors) or trial.experiment
            counts.setdefault(words, [0, 0])[place] += 1
    lacking = {words: count for words, count in counts.items() if count[1]}
    named = [f"{words} (n = {n} of {n + lost})" for words, (n, lost) in lacking.items()]
    return f"Failed trials are missing: {listed(named, _MOST_NAMED)}."
