"""A single measurement of each workload has figures, and its page begins with the answer."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from answered import sentences

from lanlab.analysis.traffic.over_time import STEPS, joined_steps, steps_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import StoreError
from lanlab.figures.chart import Chart
from lanlab.figures.registry import build_figure
from lanlab.report.page.rendering import rendered
from lanlab.report.presentations.stations import station_figures
from lanlab.report.runs.run_page import run_on_page
from lanlab.report.trials.single_figures import figures_of, stored_figures
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.series import Series
from lanlab.studies.load import parse_study
from lanlab.studies.model import Study
from lanlab.studies.published import Published

NOTHING = Published.model_validate({"schema": 1})


def a_run(
    workload: str,
    metrics: list[dict[str, Any]],
    parameters: dict[str, Any],
    *,
    factors: dict[str, list[Any]] | None = None,
    figures: list[dict[str, Any]] | None = None,
) -> tuple[RunRecord, list[TrialRecord], Study]:
    """A single measurement as the command line keeps it; each trial is of all levels in turn."""
    named = "stations" if workload == "stations" else "single"
    study = parse_study(
        {
            "schema": 1,
            "id": workload,
            "title": f"one {workload}",
            "testbed": {"hosts": 2},
            "experiment": [
                {
                    "id": named,
                    "title": f"one {workload}",
                    "workload": workload,
                    "metrics": [next(iter(metrics[0]))],
                    "parameters": parameters,
                    "factors": factors or {},
                }
            ],
            "figure": figures or [],
            "scale": {"single": {"trials": {"min": 3, "max": 3}}},
        },
        "test",
    )
    run = RunRecord(
        id="20261123-081500-single-4f2a",
        study_id=workload,
        study=study.model_dump(mode="json", exclude_none=True, by_alias=True),
        scale="single",
        seed=7,
        testbed={"name": "virtual", "link": "10M cable", "link_rate_bps": 10_000_000, "facts": {}},
        versions={"lanlab": "0.1.0"},
        status="done",
        started_at="2026-11-23T08:15:00.000000+00:00",
        ended_at="2026-11-23T08:16:00.000000+00:00",
    )
    levels = [dict(zip(factors or {}, each, strict=True)) for each in _levels(factors)]
    trials = [
        TrialRecord(
            run_id=run.id,
            number=number,
            experiment=named,
            workload=workload,
            factors=levels[number % len(levels)],
            parameters={"driver": "lanlab", **parameters, **levels[number % len(levels)]},
            block=number // len(levels),
            purpose="trial",
            status="done",
            started_at=run.started_at,
            elapsed_s=1.0,
            metrics=own,
            raw={},
            error=None,
        )
        for number, own in enumerate(metrics)
    ]
    return run, trials, study


def _levels(factors: dict[str, list[Any]] | None) -> list[tuple[Any, ...]]:
    return list(itertools.product(*(factors or {}).values()))


def charts(run: RunRecord, trials: list[TrialRecord], study: Study) -> dict[str, Chart]:
    found = figures_of(study)
    return {f.figure: build_figure(RunData(run, trials, study, NOTHING), f) for f in found}


def stations(limit_s: float | None = 0.02) -> tuple[RunRecord, list[TrialRecord], Study]:
    """A server that takes 2.5 ms for each operation."""
    levels = [1, 2, 4, 8, 15]
    metrics = [
        {
            "operations_per_s": (400.0 + number) * (1 + 0.01 * block),
            "response_mean_ns": 2.5e6 * number * (1 + 0.01 * block),
            "goodput_bps": 19.2e6,
            "stations": number,
        }
        for block in range(3)
        for number in levels
    ]
    return a_run(
        "stations",
        metrics,
        {"service": "sftp", "message_size_bytes": 6000, "operation": "write", "ip_version": 4},
        factors={"stations": levels},
        figures=None if limit_s is None else station_figures("stations", limit_s),
    )


def test_stations_draw_both_curves_with_the_bound_and_the_answer() -> None:
    found = charts(*stations())
    response, throughput = (
        found["response_against_stations"],
        found["throughput_against_stations"],
    )

    assert [p.x for p in response.series[0].points] == [1, 2, 4, 8, 15]
    lines = {limit.name: limit.points for limit in response.limits}
    assert lines["limit of 20.0 ms"] == ((1.0, 20.0), (15.0, 20.0))
    assert lines["7 stations"][1] == (7.0, 20.0)
    for chart in (response, throughput):
        assert chart.caption.startswith("7 stations within 20.0 ms (95 % interval: ")
    assert "limit of 20.0 ms" not in {limit.name for limit in throughput.limits}


def test_stations_of_an_older_store_are_drawn_without_a_limit() -> None:
    found = charts(*stations(None))

    assert not found["response_against_stations"].is_empty
    assert not any("limit of" in one.name for one in found["response_against_stations"].limits)


def test_the_answer_of_stations_comes_first() -> None:
    run, trials, _ = stations()
    said = sentences(run, trials)

    assert said[0].startswith("7 stations")


def test_copies_draw_goodput_by_service_and_size() -> None:
    metrics = [{"elapsed_s": 1.0 + 0.1 * at, "goodput_bps": 5e6 + 1e5 * at} for at in range(3)]
    run, trials, study = a_run(
        "copy", metrics, {"service": "webdav", "dataset": "50x6kB", "ip_version": 4}
    )
    rows = [[12, 50, 300_000, 400_000_000]]
    trials = [
        replace(t, raw={"client": {"file_times": {"series": "client-files", "by_size": rows}}})
        for t in trials
    ]
    found = charts(run, trials, study)

    assert found["copy_times"].y.name == "goodput"
    assert found["copy_times"].x.categories == ("WebDAV, 50 files of 6 kB",)
    (point,) = found["goodput_against_file_size"].series[0].points
    assert point.x == pytest.approx(6.0)


def test_echoes_draw_their_percentiles() -> None:
    metrics = [
        {
            "rtt_mean_ns": 3e4,
            "rtt_min_ns": 1e4,
            "rtt_p50_ns": 3e4 + 1e3 * at,
            "rtt_p99_ns": 9e4,
            "rtt_max_ns": 2e5,
        }
        for at in range(3)
    ]
    run, trials, study = a_run(
        "echo", metrics, {"message_size_bytes": 128, "requests": 100, "ip_version": 4}
    )
    chart = charts(run, trials, study)["round_trip_percentiles"]

    assert chart.x.categories == ("least", "median", "99 %", "greatest")
    assert chart.y.unit == "µs"
    assert [p.y for p in chart.series[0].points] == pytest.approx([10, 31, 90, 200])


def streams() -> tuple[RunRecord, list[TrialRecord], Study]:
    run, trials, study = a_run(
        "stream",
        [{"goodput_bps": 9.5e6} for _ in range(3)],
        {
            "message_size_bytes": 1408,
            "time_s": 2,
            "warmup_s": 0.5,
            "ip_version": 4,
            "transport": "udp",
        },
    )
    told = {
        "window_ns": 2 * 10**9,
        "intervals": {"interval_ns": 10**8, "series": "receiver-intervals"},
    }
    return run, [replace(trial, raw={"receiver": told}) for trial in trials], study


def of_store(trial: TrialRecord, name: str) -> Series:
    import numpy as np

    return Series(name, {"bytes": np.full(27, 118_750 + trial.number)}, {})


def test_streams_draw_throughput_over_time() -> None:
    run, trials, study = streams()
    chart = charts(run, STEPS.added(trials, of_store), study)["goodput_over_time"]

    assert [one.name for one in chart.series] == ["trial 0", "trial 1", "trial 2"]
    first = chart.series[0].points
    # Warm-up and measured time, and nothing after.
    assert (len(first), first[0].x, first[-1].x) == (25, 0.05, pytest.approx(2.45))
    assert first[0].y == pytest.approx(9.5)
    lines = {limit.name: limit.points for limit in chart.limits}
    assert lines["end of the warm-up"][0] == (0.5, 0.0)
    assert lines["link limit"][0][1] == pytest.approx(9.55, abs=0.1)


def test_a_long_stream_says_how_steady_it_was() -> None:
    run, trials, _ = streams()

    def read(trial: TrialRecord, name: str) -> Series:
        import numpy as np

        # Warm-up of 0.5 s, six seconds, and a rest. The second trial has a dip in its fourth.
        octets = np.full(70, 118_750 + 10 * trial.number)
        octets[37:42] //= 1 + (trial.number == 1)
        return Series(name, {"bytes": octets}, {})

    told = trials[0].raw["receiver"] | {"window_ns": 6 * 10**9}
    long = [replace(trial, raw={"receiver": told}) for trial in trials]
    dip = "lowest 3.50 s after the start of trial 1."
    said = f"In steps of 1.00 s, goodput was 7.13 Mbit/s to 9.50 Mbit/s; it was {dip}"
    assert said in sentences(run, STEPS.added(long, read))
    assert not any("In steps" in one for one in sentences(run, STEPS.added(trials, read)))
    assert not any("In steps" in one for one in sentences(run, long))


def test_both_directions_share_a_time_axis() -> None:
    run, trials, study = streams()
    both = [replace(t, raw=t.raw | {"reverse_receiver": both_told(t)}) for t in trials]

    def read(trial: TrialRecord, name: str) -> Series:
        import numpy as np

        back = np.where(np.arange(27) < 12, 237_500, 0)
        columns = {"bytes": back} if name == "reverse-receiver-intervals" else None
        return Series(name, columns, {}) if columns else of_store(trial, name)

    chart = charts(run, STEPS.added(both, read), study)["goodput_over_time"]

    assert [one.name for one in chart.series] == [
        "trial 0, first to second host",
        "trial 0, second to first host",
        "trial 1, first to second host",
        "trial 1, second to first host",
    ]
    there, back = chart.series[:2]
    assert [point.x for point in there.points] == [point.x for point in back.points]
    assert [round(point.y) for point in back.points] == 12 * [19] + 13 * [0]
    assert there.points[0].y == pytest.approx(9.5)
    assert "2 of 3 trials" in chart.caption


def both_told(trial: TrialRecord) -> dict[str, Any]:
    told = trial.raw["receiver"]
    intervals = {**told["intervals"], "series": "reverse-receiver-intervals"}
    return {**told, "intervals": intervals}


def test_both_tcp_senders_share_a_time_axis() -> None:
    run, trials, study = streams()
    row = [10**8, 30_000, 60_000, 10**6, 0, 0, 0, 0, 0, 0, 0, 0]
    later = [3 * 10**8, *row[1:]]  # It has had nothing to send.
    back = [[at, 90_000, *row[2:]] for at in (10**8, 3 * 10**8)]
    raw = {
        "sender": {"tcp_samples": {"over_time": [row, later]}},
        "reverse_sender": {"tcp_samples": {"over_time": back}},
    }
    trials = [replace(trial, raw=trial.raw | raw) for trial in trials]
    figures = stored_figures(study, trials)
    (figure,) = [one for one in figures if one.figure == "tcp_window_over_time"]
    chart = build_figure(RunData(run, trials, study, NOTHING), figure)

    assert {one.name: one.points[0].y for one in chart.series} == {
        "congestion window": 30,
        "receiver's window": 60,
        "congestion window, second direction": 90,
        "receiver's window, second direction": 60,
    }
    assert "limited the sender of the first direction" in chart.caption
    assert [band.name for band in chart.bands] == ["nothing to send"]


def test_a_lost_series_does_not_change_the_rest() -> None:
    run, trials, study = streams()

    def lost(trial: TrialRecord, name: str) -> Series:
        raise StoreError("the file is gone")

    assert STEPS.added(trials, lost) == trials
    assert charts(run, trials, study)["goodput_over_time"].is_empty
    assert not steps_of(trials[0])


def test_only_incomplete_steps_are_dropped() -> None:
    steps = joined_steps(list(range(1_003)), 10)

    assert len(steps) <= 100
    assert {step.width_ns for step in steps} == {110}
    assert sum(step.octets for step in steps) == sum(range(11 * len(steps)))


def test_a_page_begins_with_the_answer() -> None:
    run, trials, _ = stations()
    page = run_on_page(RunData(run, trials, published=NOTHING), "x")
    html = rendered("report", pages=[page])

    assert len(page.experiments[0].figures) == 2
    assert html.index("7 stations") < html.index("<svg") < html.index("What was run")
