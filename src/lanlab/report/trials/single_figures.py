"""The figures of measurements whose study names none, such as by `lanlab stream`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    streams = [one.id for one in study.experiment if has_streams(one.workload)]
    stepped = {trial.experiment for trial in trials if steps_of(trial)}
    sampled = {trial.experiment for trial in trials if samples_of(trial)}
    steps = [
        ("goodput_over_time", "Goodput over time", name) for name in streams if name in stepped
    ]
    tcp = [(*one, name) for name in streams if name in sampled for one in _TCP_FIGURES.items()]
    return _unnamed(study, [*steps, *tcp])


def figures_of_round_trips(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Additional figures of experiments whose trials have histograms of round trips: their
    distributions.
    """
    counts = {e.id: len(round_trips_by_condition(trials, (e.id,))) for e in study.experiment}
    kinds = list(_DISTRIBUTIONS.items())
    return _unnamed(study, [(*one, name) for name, n in counts.items() for one in kinds[:n]])


def figures_of_losses(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Additional figures of experiments with at least three sending rates and stored losses: losses
    over time and rate.
    """
    found = []
    for experiment in study.experiment:
        own = [t for t in trials if t.experiment == experiment.id and rate_factor(t)]
        rates = {trial.factors[rate_factor(trial) or ""] for trial in own}
        if len(rates) >= _LEAST_RATES and any(map(has_losses, own)):
            found.append((_LOSSES, "Lost messages over time and sending rate", experiment.id))
    return _unnamed(study, found)


def _unnamed(study: Study, wanted: Iterable[tuple[str, str, str]]) -> tuple[Figure, ...]:
    """Those of these figures, by kind, title and experiment, that the study does not name."""
    named = {(one.figure, name) for one in figures_of(study) for name in one.experiments}
    return tuple(
        Figure(figure=figure, title=title, experiments=(name,))
        for figure, title, name in wanted
        if (figure, name) not in named
    )
