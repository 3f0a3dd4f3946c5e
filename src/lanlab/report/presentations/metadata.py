"""How metadata is shown."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.copies.agreed import agreed_words
from lanlab.report.copies.copy_text import times_of
from lanlab.report.presentations.base import Presentation, TrialColumn, text_of, time_of
from lanlab.report.traffic.stream_text import line
from lanlab.store import RunRecord, TrialRecord
from lanlab.units import format_time
from lanlab.workloads.metrics import OPERATIONS


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 1000 else f"{per_s:.4g}"


_COLUMNS: Sequence[TrialColumn] = (
    TrialColumn("time", time_of("elapsed_s")),
    TrialColumn("files/s", text_of("files_created_and_removed_per_s", _rate)),
    TrialColumn("median create", time_of("create_time_p50_s")),
    TrialColumn("median remove", time_of("remove_time_p50_s")),
)


def _operation_line(trial: TrialRecord, operation: str, what: str) -> str | None:
    rate = trial.metrics.get(f"{operation}_per_s")
    if rate is None:
        return None
    times = times_of(trial.metrics, operation)
    exchanges = trial.metrics.get(f"{operation}_exchanges")
    needs = "" if exchanges is None else f"; round trips {exchanges:.3g}"
    if (explained := trial.metrics.get(f"{operation}_explained_ratio")) is not None:
        response = format_time(trial.metrics[f"{operation}_response_mean_s"])
        needs += f" \N{MULTIPLICATION SIGN} {response} explain {100 * explained:.0f} %"
    return line(what, f"{_rate(rate)}/s; {times}{needs}")


class MetadataPresentation(Presentation):
    trial_columns = _COLUMNS

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        said = [_operation_line(trial, name, what) for name, what in OPERATIONS.items()]
        connecting = f"{format_time(trial.metrics['connect_s'])}, not in the measured time"
        return [*filter(None, said), line("connecting", connecting), *self.common_lines([trial])]

    def common_lines(self, trials: Sequence[TrialRecord]) -> list[str]:
        client = trials[-1].result("client")
        said = []
        if words := agreed_words(trials[-1]):
            said.append(line("method", words))
        lacking: dict[str, list[str]] = {}
        for one in client.get("not_measured", ()):
            lacking.setdefault(one["reason"], []).append(OPERATIONS[one["operation"]])
        for reason, names in lacking.items():
            said.append(line("no result", f"{', '.join(names)}: {reason}"))
        compared = trials[-1].metrics.get("verified_names")
        if compared is not None:
            said.append(line("checked", f"{compared:,} names compared with listings"))
        return said


PRESENTATION = MetadataPresentation()
