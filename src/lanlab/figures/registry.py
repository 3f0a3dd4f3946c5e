"""The figures that a study may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lanlab.errors import UnknownName
from lanlab.figures.against_factor import against_factor
from lanlab.figures.against_size import against_size
from lanlab.figures.bars import bars
from lanlab.figures.chart import Chart
from lanlab.figures.copy_times import copy_times
from lanlab.figures.cost_per_byte_and_file import cost_per_byte_and_file
from lanlab.figures.flow_shares import flow_shares
from lanlab.figures.goodput_against_file_size import goodput_against_file_size
from lanlab.figures.lacking import lacking_text
from lanlab.figures.losses_against_sent import losses_against_sent
from lanlab.figures.received_against_sent import received_against_sent
from lanlab.figures.received_ratio_against_sent import received_ratio_against_sent
from lanlab.figures.rtt_against_size import rtt_against_size
from lanlab.figures.saturation_curve import saturation_curve
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Published, Study
from lanlab.studies.model import Figure

Builder = Callable[[RunRecord, Sequence[TrialRecord], Study, Published, Figure], Chart]

FIGURES: Mapping[str, Builder] = {
    "against_factor": against_factor,
    "against_size": against_size,
    "bars": bars,
    "copy_times": copy_times,
    "cost_per_byte_and_file": cost_per_byte_and_file,
    "flow_shares": flow_shares,
    "goodput_against_file_size": goodput_against_file_size,
    "losses_against_sent": losses_against_sent,
    "received_against_sent": received_against_sent,
    "received_ratio_against_sent": received_ratio_against_sent,
    "rtt_against_size": rtt_against_size,
    "saturation_curve": saturation_curve,
}


def build_figure(
    run: RunRecord,
    trials: Sequence[TrialRecord],
    study: Study,
    published: Published,
    figure: Figure,
) -> Chart:
    """Draw up one figure of a study from the trials of a run.

    Raises:
        UnknownName: There is no figure of that name.
    """
    try:
        builder = FIGURES[figure.figure]
    except KeyError:
        raise UnknownName("figure", figure.figure, FIGURES) from None
    chart = builder(run, trials, study, published, figure)
    lacking = lacking_text(trials, study, figure.experiments)
    return replace(chart, caption=f"{chart.caption} {lacking}".strip()) if lacking else chart
