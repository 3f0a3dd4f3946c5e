"""How stations are shown."""

from __future__ import annotations

from collections.abc import Iterator

from lanlab.analysis.run_data import RunData
from lanlab.figures.station_figures import station_figures
from lanlab.report.presentations.base import Presentation, SeriesOf, over
from lanlab.report.stations.stations_answer import (
    IN_CARRIER,
    carrier_of_stations,
    station_sentences,
)
from lanlab.studies.model import Experiment, Figure

_NUMBER = "stations"


class StationsPresentation(Presentation):
    def sentences(self, data: RunData, experiment: str) -> list[str]:
        return station_sentences(data, experiment)

    def range_factor(self, experiment: Experiment) -> str:
        return _NUMBER if _NUMBER in experiment.factors else super().range_factor(experiment)

    def series_text(self, of: SeriesOf) -> str:
        others = {key: level for key, level in of.rest.items() if key not in IN_CARRIER}
        return over(carrier_of_stations(of.study, of.summary.parameters), of.words(others))

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from map(Figure.model_validate, station_figures(experiment.id))


PRESENTATION = StationsPresentation()
