"""The figure that says what limits a curve, and from where on something else does."""

from collections.abc import Sequence

import pytest
from synthetic_runs import synthetic_run

from lanlab.analysis.trials.run_data import RunData
from lanlab.figures import against_factor
from lanlab.figures.chart import Chart
from lanlab.figures.registry import build_figure
from lanlab.store import TrialRecord
from lanlab.studies.model import Figure


def drawn(monkeypatch: pytest.MonkeyPatch, causes: dict[int, str | None]) -> Chart:
    """Goodput against message size, limited by these from these sizes on."""

    def cause_of(trials: Sequence[TrialRecord]) -> str | None:
        size = trials[0].factors["message_size_bytes"]
        assert isinstance(size, int)
        return causes[max(least for least in causes if least <= size)]

    monkeypatch.setattr(against_factor, "cause_of", cause_of)
    run = synthetic_run("manford-kolahi", "quick")
    figure = Figure(figure="what_limits", title="What limits", experiments=("throughput",))
    return build_figure(RunData(run.run, run.trials, run.study, run.published), figure)


def test_each_limiting_cause_is_labelled_at_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chart = drawn(monkeypatch, {0: "sender's processor", 384: "wire"})
    assert [series.name for series in chart.series] == [
        "IPv4: sender's processor, wire from 384 B",
        "IPv6: sender's processor, wire from 384 B",
    ]
    assert not any(point.label for series in chart.series for point in series.points)


def test_points_without_a_cause_get_no_label(monkeypatch: pytest.MonkeyPatch) -> None:
    chart = drawn(monkeypatch, {0: None, 384: "wire", 1152: None, 1408: "wire"})
    assert [series.name for series in chart.series] == [
        "IPv4: wire from 384 B",
        "IPv6: wire from 384 B",
    ]


def test_measured_runs_name_no_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [series.name for series in drawn(monkeypatch, {0: None}).series] == ["IPv4", "IPv6"]
