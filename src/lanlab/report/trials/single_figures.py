"""The figures of measurements whose study names none, such as by `lanlab stream`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lanlab.analysis.traffic.over_time import steps_of
from lanlab.analysis.traffic.round_trip_times import round_trips_by_condition
from lanlab.analysis.traffic.tcp_over_time import samples_of
from lanlab.report.presentations import PRESENTATIONS
from lanlab.roles import has_streams
from lanlab.store import TrialRecord
from lanlab.studies.model import Figure, Study

_DISTRIBUTIONS = {
    "round_trip_ecdf": "Cumulative distribution of round-trip times",
    "round_trip_violins": "Distributions of round-trip times",
}
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


def stored_figures(study: Study, trials: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """Figures of what trials have stored, if the study names none: distributions of round trips,
    goodput over time, and for TCP the state of the sender's kernel.
    """
    found: list[tuple[str, str, str]] = []
    for name in study.titles:
        counts = len(round_trips_by_condition(trials, (name,)))
        found += [(*one, name) for one in list(_DISTRIBUTIONS.items())[:counts]]
    streams = [one.id for one in study.experiment if has_streams(one.workload)]
    stepped = {trial.experiment for trial in trials if steps_of(trial)}
    sampled = {trial.experiment for trial in trials if samples_of(trial)}
    found += [
        ("goodput_over_time", "Goodput over time", name) for name in streams if name in stepped
    ]
    found += [(*one, n) for n in streams if n in sampled for one in _TCP_FIGURES.items()]
    named = {(one.figure, name) for one in figures_of(study) for name in one.experiments}
    return tuple(
        Figure(figure=figure, title=title, experiments=(name,))
        for figure, title, name in found
        if (figure, name) not in named
    )


def titled_apart(study: Study, figures: Sequence[Figure]) -> list[Figure]:
    """The figures, those of equal titles with the title of their experiment."""
    counts = Counter(figure.title for figure in figures)

    def titled(one: Figure) -> Figure:
        said = f"{one.title[0].lower()}{one.title[1:]}"
        return one.model_copy(update={"title": f"{study.titles[one.experiments[0]]}: {said}"})

    return [titled(one) if counts[one.title] > 1 else one for one in figures]
