"""How streams are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lanlab.analysis.run_data import RunData
from lanlab.report.document.table import Table
from lanlab.report.presentations.base import (
    GOODPUT,
    FlowPresentation,
    TrialColumn,
    figure,
    numeric_factors,
    rate_of,
    text_of,
    time_of,
)
from lanlab.report.traffic.stream_columns import (
    not_sent_text,
    resent_text,
    share_text,
    with_arrival,
)
from lanlab.report.traffic.stream_text import directions, stream_lines
from lanlab.report.traffic.tcp_text import round_trip_text, window_text
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Experiment, Figure

_COLUMNS: Mapping[str, Sequence[TrialColumn]] = {
    "udp": (
        GOODPUT,
        TrialColumn("peer's goodput", rate_of("peer_goodput_bps")),
        TrialColumn("loss", text_of("loss_ratio", share_text)),
        TrialColumn("jitter", time_of("delay_variation_mean_ns")),
        TrialColumn("not sent", lambda trial: not_sent_text(trial.metrics)),
    ),
    "tcp": (
        GOODPUT,
        TrialColumn("acknowledged", rate_of("acknowledged_bps")),
        TrialColumn("retransmitted", lambda trial: resent_text(trial.metrics)),
        TrialColumn("round trip", round_trip_text),
        TrialColumn("window", window_text),
    ),
}


class StreamPresentation(FlowPresentation):
    def with_more_columns(self, data: RunData, table: Table, experiment: str, metric: str) -> Table:
        if metric != "goodput_bps":
            return table
        return with_arrival(data, table, experiment)

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        if experiment.factors and not numeric_factors(experiment):
            yield figure(experiment, "bars", "Goodput")
        yield figure(experiment, "goodput_over_time", "Goodput over time")

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        return stream_lines(run, trial, with_modes=with_modes)

    def columns(self, trial: TrialRecord) -> Sequence[TrialColumn]:
        return _COLUMNS[str(trial.parameters["transport"])]

    def directions(self, trial: TrialRecord) -> list[tuple[str, TrialRecord]]:
        return directions(trial)


PRESENTATION = StreamPresentation()
