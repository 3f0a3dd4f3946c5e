"""How echoes are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanlab.analysis.run_data import RunData
from lanlab.report.document.trial_columns import TrialColumn, time_of
from lanlab.report.presentations.base import figure
from lanlab.report.presentations.flows import FlowPresentation
from lanlab.report.traffic.echo_text import echo_lines
from lanlab.report.traffic.stream_columns import share_text
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Experiment, Figure


def _unanswered(trial: TrialRecord) -> str:
    asked = trial.metrics.get("requests")
    return share_text(1 - trial.metrics["replies"] / asked) if asked else ""


_COLUMNS: Sequence[TrialColumn] = (
    TrialColumn("mean", time_of("rtt_mean_ns")),
    TrialColumn("median", time_of("rtt_p50_ns")),
    TrialColumn("p99", time_of("rtt_p99_ns")),
    TrialColumn("longest", time_of("rtt_max_ns")),
    TrialColumn("no reply", _unanswered),
)


class EchoPresentation(FlowPresentation):
    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        from lanlab.report.traffic.round_trips import round_trip_remark

        return round_trip_remark(data, trials)

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        yield figure(experiment, "round_trip_percentiles", "Round-trip times")

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        return echo_lines(trial, with_modes=with_modes)

    def columns(self, trial: TrialRecord) -> Sequence[TrialColumn]:
        return _COLUMNS


PRESENTATION = EchoPresentation()
