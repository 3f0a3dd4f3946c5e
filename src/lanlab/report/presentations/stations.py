"""How stations are shown."""

from __future__ import annotations

from collections.abc import Iterator

from lanlab.analysis.trials.run_data import RunData
from lanlab.report.presentations.base import Presentation
from lanlab.report.stations.stations_text import answer_sentence
from lanlab.studies.model import Experiment, Figure

_NUMBER = "stations"


class StationsPresentation(Presentation):
    def sentences(self, data: RunData, experiment: str) -> list[str]:
        """The number of stations within each response time that a figure of the study names."""
        asked = [
            (figure.within_s, (figure.metric or "response_mean_ns").split("_")[1])
            for figure in data.study.figure
            if figure.within_s is not None and experiment in figure.experiments
        ]
        own = data.own(experiment)
        return [answer_sentence(own, within_s, of) for within_s, of in dict.fromkeys(asked)]

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from map(Figure.model_validate, station_figures(experiment.id))


PRESENTATION = StationsPresentation()


def station_figures(
    experiment: str, within_s: float | None = None, of: str = "mean"
) -> list[dict[str, object]]:
    """The figures of stations, in the form of a study file."""
    limit = {} if within_s is None else {"within_s": within_s}
    response = f"response_{of}_ns"
    drawn: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("response_against_stations", "Response time by stations", {"metric": response, **limit}),
        ("throughput_against_stations", "Throughput by stations", {"metric": "operations_per_s"}),
        ("station_fairness", "Fairness among stations", {}),
    )
    return [
        {"figure": name, "title": title, "experiments": [experiment], **more}
        for name, title, more in drawn
    ]
