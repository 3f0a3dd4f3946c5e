"""The figures of a measurement that names none, as `lanlab stream` and its like are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lanlab.analysis.loss_over_time import has_losses, rate_factor
from lanlab.analysis.over_time import steps_of
from lanlab.analysis.round_trip_times import round_trips_by_condition
from lanlab.analysis.tcp_over_time import samples_of
from lanlab.figures.wording import quantity
from lanlab.store import TrialRecord
from lanlab.studies import Study
from lanlab.studies.model import Experiment, Figure
from lanlab.studies.scaling import is_numeric

#: The second compares conditions.
_DISTRIBUTIONS = {
    "round_trip_ecdf": "Round-trip times, how many are no longer",
    "round_trip_violins": "Round-trip times, distributions",
}
_LOSSES, _LEAST_RATES = "loss_over_time_and_rate", 3
_TCP_FIGURES = {
    "tcp_window_over_time": "Windows of TCP over time",
    "tcp_round_trip_over_time": "Round trip of TCP over time",
    "tcp_rate_over_time": "Rates of TCP over time",
    "tcp_retransmissions_over_time": "Segments sent again over time",
}


def figures_of(study: Study) -> tuple[Figure, ...]:
    """The figures that a study names, and of an experiment that none draws those that fit it."""
    drawn = {name for figure in study.figure for name in figure.experiments}
    rest = [e for e in study.experiment if e.id not in drawn and e.search is None]
    return (*study.figure, *(figure for one in rest for figure in _fitting(one)))


def figures_over_time(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Further figures of each stream whose course is there and that no figure shows: its goodput
    over time, and over TCP what its sender's kernel knew."""
    shown = {
        (figure.figure, name)
        for figure in (*study.figure, *figures_of(study))
        for name in figure.experiments
    }
    streams = [one.id for one in study.experiment if one.workload in ("stream", "load")]
    stepped = {trial.experiment for trial in trials if steps_of(trial)}
    sampled = {trial.experiment for trial in trials if samples_of(trial)}
    wanted = [("goodput_over_time", "Goodput over time", name) for name in streams]
    found = [one for one in wanted if one[2] in stepped and (one[0], one[2]) not in shown]
    found += [
        (figure, title, name)
        for name in streams
        if name in sampled
        for figure, title in _TCP_FIGURES.items()
        if (figure, name) not in shown
    ]
    return tuple(
        Figure(figure=figure, title=title, experiments=(name,)) for figure, title, name in found
    )


def figures_of_round_trips(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Further figures of each experiment whose trials keep histograms of round trips: their
    distributions."""
    named = {(figure.figure, name) for figure in study.figure for name in figure.experiments}
    found = []
    for experiment in study.experiment:
        conditions = round_trips_by_condition(trials, (experiment.id,))
        drawn = list(_DISTRIBUTIONS.items())[: min(len(conditions), 2)]
        found += [
            Figure(figure=figure, title=title, experiments=(experiment.id,))
            for figure, title in drawn
            if (figure, experiment.id) not in named
        ]
    return tuple(found)


def figures_of_losses(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Further figures of each experiment with three sending rates and more, whose stored intervals
    have losses: these over time and rate."""
    named = {(figure.figure, name) for figure in study.figure for name in figure.experiments}
    found = []
    for experiment in study.experiment:
        own = [t for t in trials if t.experiment == experiment.id and rate_factor(t)]
        rates = {trial.factors[rate_factor(trial) or ""] for trial in own}
        is_drawn = len(rates) >= _LEAST_RATES and any(map(has_losses, own))
        if is_drawn and (_LOSSES, experiment.id) not in named:
            title = "Lost messages over time and sending rate"
            found.append(Figure(figure=_LOSSES, title=title, experiments=(experiment.id,)))
    return tuple(found)


def station_figures(
    experiment: str, within_s: float | None = None, of: str = "mean"
) -> list[dict[str, Any]]:
    """
    The figures of stations, as a study file has them.

    Args:
        experiment: Its id.
        within_s: The response time that is not to be passed.
        of: Which: `mean`, `p50`, `p90` or `p99`.
    """
    limit = {} if within_s is None else {"within_s": within_s}
    response = f"response_{of}_ns"
    drawn: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("response_against_stations", "Response time by stations", {"metric": response, **limit}),
        (
            "throughput_against_stations",
            "Throughput by stations",
            {"metric": "operations_per_s"},
        ),
        ("station_fairness", "Fairness among stations", {}),
    )
    return [
        {"figure": name, "title": title, "experiments": [experiment], **more}
        for name, title, more in drawn
    ]


def _fitting(experiment: Experiment) -> Iterator[Figure]:
    def figure(name: str, title: str, **more: Any) -> Figure:
        return Figure(figure=name, title=title, experiments=(experiment.id,), **more)

    numeric = [key for key in experiment.factors if is_numeric(experiment.workload, key)]
    if numeric and experiment.workload != "stations":
        for metric in experiment.metrics:
            name = quantity(None, metric).name
            yield figure("against_factor", f"{name[0].upper()}{name[1:]}", metric=metric)
    if experiment.workload == "stations":
        yield from map(Figure.model_validate, station_figures(experiment.id))
    elif experiment.workload == "copy":
        yield figure("copy_times", "Goodput by service and dataset", metric="goodput_bps")
        yield figure("goodput_against_file_size", "Goodput by size of files")
    elif experiment.workload in ("echo", "load"):
        if experiment.workload == "load":
            yield figure("round_trips_over_time", "Round trips over time")
        yield figure("round_trip_percentiles", "Round-trip times")
    elif experiment.workload == "stream":
        if experiment.factors and not numeric:
            yield figure("bars", "Goodput")
        yield figure("goodput_over_time", "Goodput over time")
