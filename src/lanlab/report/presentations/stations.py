"""How stations are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lanlab.analysis.run_data import RunData
from lanlab.figures.station_figures import station_figures
from lanlab.figures.wording import condition_text
from lanlab.report.presentations.base import Presentation, SeriesOf, over
from lanlab.report.stations.stations_text import answer_sentence
from lanlab.store import Level
from lanlab.studies import Study
from lanlab.studies.model import Experiment, Figure
from lanlab.units import format_size

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


IN_CARRIER = ("service", "operation", "read_ratio", "message_size_bytes")
_OPERATIONS = {"read": "reads", "write": "writes", "mix": "reads and writes"}


def station_sentences(data: RunData, experiment: str) -> list[str]:
    """
    The number of users within each response time that a figure of the study names; empty for other
    workloads, or without such a figure.
    """
    asked = [
        (figure.within_s, (figure.metric or "response_mean_ns").split("_")[1])
        for figure in data.study.figure
        if figure.within_s is not None and experiment in figure.experiments
    ]
    return [
        answer_sentence(data.own(experiment), within_s, of) for within_s, of in dict.fromkeys(asked)
    ]


def carrier_of_stations(study: Study, parameters: Mapping[str, Level]) -> str:
    """Service, operation and block size, as in `SFTP, reads of 6.00 kB each,`."""
    service = condition_text(study, {"service": parameters["service"]})
    operations = _OPERATIONS.get(str(parameters.get("operation")), "operations")
    if parameters.get("operation") == "mix" and "read_ratio" in parameters:
        operations = f"{100 * float(parameters['read_ratio']):.0f} % reads, the rest writes,"
    size = parameters.get("message_size_bytes")
    of = f" of {format_size(int(size))} each," if isinstance(size, int) else ""
    return f"{service}, {operations}{of}"
