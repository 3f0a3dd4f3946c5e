"""How copies are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanlab.analysis.trials.attempts import by_condition, counting
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted
from lanlab.report.copies.copy_text import common_copy_lines, copy_lines
from lanlab.report.document.table import Table
from lanlab.report.presentations.base import (
    GOODPUT,
    Presentation,
    TrialColumn,
    figure,
    text_of,
    time_of,
)
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Experiment, Figure
from lanlab.units import format_size

_COLUMNS: Sequence[TrialColumn] = (
    TrialColumn("time", time_of("elapsed_s")),
    GOODPUT,
    TrialColumn("files/s", text_of("files_per_s", "{:.4g}".format)),
    TrialColumn("median file", time_of("file_time_p50_s")),
    TrialColumn("retries", text_of("retries", lambda count: f"{count}" if count else "")),
)


class CopyPresentation(Presentation):
    trial_columns = _COLUMNS

    def remark(self, data: RunData, trials: Sequence[TrialRecord]) -> str | None:
        unlike = [
            sorted(amounts)
            for own in by_condition(counting(trials)).values()
            if len(amounts := {int(one.metrics.get("copied_bytes", 0)) for one in own}) > 1
        ]
        if not unlike:
            return None
        ends = " to ".join(format_size(size) for size in (unlike[0][0], unlike[0][-1]))
        conditions = counted(len(unlike), "condition")
        return (
            f"The trials of {conditions} copied unlike amounts ({ends}): compare rates, not times."
        )

    def further_tables(self, data: RunData, experiment: str) -> list[Table]:
        from lanlab.report.copies.copy_table import tables_of_copies

        return tables_of_copies(data, experiment)

    def figures(self, experiment: Experiment) -> Iterator[Figure]:
        yield from super().figures(experiment)
        title = "Goodput of the copies"
        yield figure(experiment, "copy_times", title, metric="goodput_bps")
        yield figure(experiment, "goodput_against_file_size", "Goodput by size of files")

    def lines(self, run: RunRecord, trial: TrialRecord, *, with_modes: bool) -> list[str]:
        return copy_lines(run, trial)

    def common_lines(self, trials: Sequence[TrialRecord]) -> list[str]:
        return common_copy_lines(trials)


PRESENTATION = CopyPresentation()
