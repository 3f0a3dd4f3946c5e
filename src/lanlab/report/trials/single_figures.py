"""The figures of measurements whose study names none, such as by `lanlab stream`."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.loss_over_time import has_losses, rate_factor
from lanlab.analysis.over_time import steps_of
from lanlab.analysis.round_trip_times import round_trips_by_condition
from lanlab.analysis.tcp_over_time import samples_of
from lanlab.report.presentations import PRESENTATIONS
from lanlab.roles import has_streams
from lanlab.store import TrialRecord
from lanlab.studies import Study
from lanlab.studies.model import Figure

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
    """The figures that a study names, and for an experiment without any, suitable ones."""
    drawn = {name for figure in study.figure for name in figure.experiments}
    rest = [e for e in study.experiment if e.id not in drawn and e.search is None]
    fitting = (PRESENTATIONS[one.workload].figures(one) for one in rest)
    return (*study.figure, *(figure for figures in fitting for figure in figures))


def figures_over_time(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Additional figures of streams with a stored series that no figure shows: goodput over time,
    and for TCP the state of the sender's kernel.
    """
    shown = {
        (figure.figure, name)
        for figure in (*study.figure, *figures_of(study))
        for name in figure.experiments
    }
    streams = [one.id for one in study.experiment if has_streams(one.workload)]
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
    """Additional figures of experiments whose trials have histograms of round trips: their
    distributions.
    """
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
    """Additional figures of experiments with at least three sending rates and stored losses: losses
    over time and rate.
    """
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
