"""How round trips under load are shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lanlab.analysis.run_data import RunData
from lanlab.report.document.table import Table
from lanlab.report.presentations.base import Presentation, figure
from lanlab.report.traffic.load_table import load_sentences, load_table
from lanlab.store import TrialRecord
from lanlab.studies.model import Experiment, Figure
from lanlab.workloads.load import flow_goodputs


class LoadPresentation(Presentation):
    """Round trips idle and under load. The goodput of the load is a setting, not a result."""

    answers_alone = True

    def sentences(self, data: RunData, experiment: str) -> list[str]:
        return load_sentences(data, experiment)

    def first_tables(self, data: RunData, experiment: str) -> list[Table]:
        table = load_table(data, experiment)
        return [table] if table.rows else []

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        yield figure(experiment, "round_trips_over_time", "Round trips over time")
        yield figure(experiment, "round_trip_percentiles", "Round-trip times")

    def to_json(self, trial: TrialRecord) -> dict[str, Any]:
        """Goodput of each stream during the echo, by direction, under `streams_bps`."""
        return {"streams_bps": flow_goodputs(trial.raw)}


PRESENTATION = LoadPresentation()
