"""How streams are shown."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence

from lanlab.analysis.traffic.over_time import stretches_of
from lanlab.analysis.trials.attempts import counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.document.table import Table
from lanlab.report.presentations.base import (
    GOODPUT,
    Presentation,
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
from lanlab.units import format_rate, format_time

#: Fewer steps of time do not show how steady a trial is.
_LEAST_STRETCHES = 5

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


class StreamPresentation(Presentation):
    def with_more_columns(self, data: RunData, table: Table, experiment: str, metric: str) -> Table:
        if metric != "goodput_bps":
            return table
        return with_arrival(data, table, experiment)

    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        """How steady a single condition was over time, for which its figure has the steps."""
        if not trials or trials[0].factors:
            return None
        rates = [
            (8e9 * one.octets / one.width_ns, one, trial)
            for trial in counting(trials)
            if len(own := stretches_of(trial)) >= _LEAST_STRETCHES
            for one in own
        ]
        if not rates:
            return None
        low, high = (end(rates, key=operator.itemgetter(0)) for end in (min, max))
        of = f" of trial {low[2].number}" if len(trials) > 1 else ""
        return (
            f"In steps of {format_time(low[1].width_ns / 1e9)}, goodput was {format_rate(low[0])} "
            f"to {format_rate(high[0])}; it was lowest {format_time(low[1].start_ns / 1e9)} after "
            f"the start{of}."
        )

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
