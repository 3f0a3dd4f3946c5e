"""One condition has one interval, whoever shows it."""

import csv
import io
import math
from dataclasses import replace

import pytest
from answered import sentences
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.analysis.findings.judge import judge_run
from lanlab.analysis.statistics.condition_mean import condition_mean
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.number_text import with_interval
from lanlab.figures.registry import build_figure
from lanlab.figures.wording import quantity
from lanlab.report.comparison.compared import between_runs
from lanlab.report.document.table import Table
from lanlab.report.metrics.metric_table import metric_table
from lanlab.report.metrics.order_text import ABOVE, above_limit_remark
from lanlab.report.runs.measurement import mean_text
from lanlab.report.runs.run_page import run_on_page
from lanlab.store import TrialRecord
from lanlab.studies.findings import Findings
from lanlab.units import format_rate

EXPERIMENT, METRIC = "throughput", "goodput_bps"
#: What each further trial of a condition has of the first: no normal spread.
FACTORS = (1.0, 0.55, 1.6)


@pytest.fixture(scope="module")
def skewed() -> SyntheticRun:
    planned = synthetic_run("manford-kolahi", "quick", link_rate_bps=1_000_000_000)
    seen: dict[str, int] = {}
    trials = []
    for trial in planned.trials:
        place = seen.setdefault(repr((trial.experiment, trial.factors)), 0)
        seen[repr((trial.experiment, trial.factors))] += 1
        if place < len(FACTORS):
            trials.append(_scaled(trial, FACTORS[place]))
    return replace(planned, trials=trials)


def _scaled(trial: TrialRecord, factor: float) -> TrialRecord:
    if METRIC not in trial.metrics:
        return trial
    return replace(trial, metrics={**trial.metrics, METRIC: factor * trial.metrics[METRIC]})


def summary(run: SyntheticRun) -> Summary:
    return RunData(*run.pair()).summaries(EXPERIMENT, METRIC)[0]


def csv_rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_the_interval_comes_from_the_statistics_and_stays_above_zero(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    told = condition_mean(METRIC, one.values)

    assert told is not None and one.n > 2
    assert (one.mean, one.ci_low, one.ci_high) == (pytest.approx(told.mean), told.low, told.high)
    assert told.low > 0 and told.high - told.mean > 1.5 * (told.mean - told.low)


def test_the_interval_ends_at_the_limit_of_the_link(skewed: SyntheticRun) -> None:
    one = summary(replace(skewed, trials=[_scaled(trial, 0.4) for trial in skewed.trials]))
    told = condition_mean(METRIC, one.values)

    assert told is not None and one.limit is not None
    assert max(one.values) < one.limit < told.high
    assert (one.ci_low, one.ci_high) == (told.low, one.limit)
    # Here a trial is above it, so it is not the limit of a mean.
    above = summary(skewed)
    assert above.limit is not None and above.ci_high is not None
    assert above.ci_high > above.limit


def test_table_and_csv_have_the_interval(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    table = metric_table(
        RunData(*skewed.pair(), skewed.study, skewed.published), EXPERIMENT, METRIC
    )
    row = csv_rows(table)[0]
    texts = [cell.text for cell in table.rows[0]]

    assert float(row["95 % low (bit/s)"]) == one.ci_low
    assert float(row["95 % high (bit/s)"]) == one.ci_high
    shown = quantity(skewed.study, METRIC)
    assert one.mean is not None
    assert with_interval(shown.shown(one.mean), shown.interval(one.ci_low, one.ci_high)) in texts


def test_the_figure_has_the_interval(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    figure = next(f for f in skewed.study.figure if EXPERIMENT in f.experiments)
    chart = build_figure(RunData(*skewed.pair(), skewed.study, skewed.published), figure)
    shown = quantity(skewed.study, METRIC)
    ends = [(p.low, p.high) for series in chart.series for p in series.points]

    assert shown.interval(one.ci_low, one.ci_high) in ends


def test_tables_of_the_page_have_the_interval(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    page = run_on_page(RunData(*skewed.pair(), published=skewed.published), "x")
    table = next(t for e in page.experiments for t in e.tables if t.name.endswith(METRIC))

    assert float(csv_rows(table)[0]["95 % low (bit/s)"]) == one.ci_low


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_compare_has_the_interval(skewed: SyntheticRun, factor: float) -> None:
    """With 0.4 times the rate it ends at the limit of the link."""
    skewed = replace(skewed, trials=[_scaled(trial, factor) for trial in skewed.trials])
    one = summary(skewed)
    again = replace(skewed.run, id="20261121-091500-manford-kolahi-4f2b")
    found = between_runs([skewed.pair(), (again, skewed.trials)], metrics=[METRIC])
    row = csv_rows(found.csv())[0]

    assert float(row["base mean 95 % low"]) == one.ci_low
    assert float(row["other mean 95 % high"]) == one.ci_high


def test_a_single_condition_finding_has_the_interval(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    declared = Findings.model_validate(
        {
            "schema": 1,
            "finding": [
                {
                    "id": "one",
                    "claim": "one",
                    "statement": {
                        "form": "value",
                        "metric": METRIC,
                        "at": dict(one.factors),
                        "min": 1e6,
                    },
                }
            ],
        }
    )
    judged = judge_run(declared.finding, RunData(*skewed.pair()))
    (compared,) = judged.judgements[0].comparisons

    assert compared.confidence == pytest.approx(0.95)
    assert (compared.low, compared.high) == pytest.approx((one.ci_low, one.ci_high))


def test_the_command_line_has_the_interval(skewed: SyntheticRun) -> None:
    one = summary(skewed)
    own = [t for t in skewed.trials if t.experiment == EXPERIMENT and t.factors == one.factors]

    assert one.ci_low is not None and one.ci_high is not None
    said = mean_text(METRIC, own, limit=one.limit)
    assert format_rate(one.ci_low) in said and format_rate(one.ci_high) in said
    assert "95 % confidence interval of the mean" in said


def test_rates_of_files_are_not_times(skewed: SyntheticRun) -> None:
    own = [
        replace(trial, metrics={"files_created_and_removed_per_s": rate})
        for trial, rate in zip(skewed.trials[:3], (1200.0, 1250.0, 1300.0), strict=True)
    ]
    said = mean_text("files_created_and_removed_per_s", own)
    assert said.startswith("1,250 files/s (95 % confidence interval of the mean 1,1")


def test_a_mean_above_the_limit_is_reported_with_its_interval(
    skewed: SyntheticRun,
) -> None:
    one = summary(skewed)
    assert one.mean is not None
    within = replace(one, limit=one.mean / 1.01)
    beyond = replace(one, limit=one.mean / 1.01, ci_low=one.mean / 1.005, ci_high=one.mean * 1.005)
    at = replace(one, limit=one.mean / 1.0001)

    said = above_limit_remark(RunData(*skewed.pair(), skewed.study), [within])
    assert said is not None and ABOVE in said
    assert "101.0 % of it" in said and "the interval includes the limit" in said
    assert "token bucket" in said
    told = above_limit_remark(RunData(*skewed.pair(), skewed.study), [beyond])
    assert told is not None and "the interval excludes the limit" in told
    assert above_limit_remark(RunData(*skewed.pair(), skewed.study), [at]) is None
    two = replace(within, values=one.values[:2], ci_low=None, ci_high=None)
    few = above_limit_remark(RunData(*skewed.pair(), skewed.study), [two])
    assert few is not None and "(2 trials, so no interval)" in few
    # Seeds have no interval, and nothing was measured.
    modelled = synthetic_run("manford-kolahi", where="simulated")
    simulated = above_limit_remark(RunData(*modelled.pair(), modelled.study), [within])
    assert simulated is not None and simulated.startswith("Simulated ")
    assert "±" not in simulated and "interval" not in simulated and "measured" not in simulated


def test_an_interval_ends_at_the_offered_load() -> None:
    """On loopback no link limits a stream, but its sender does."""
    run = synthetic_run("milanovic-srbljic", "quick", link_rate_bps=None)
    trials = [
        replace(trial, metrics={**trial.metrics, "goodput_bps": rate * (0.97 + 0.01 * trial.block)})
        for trial in run.trials
        if (rate := float(trial.parameters.get("rate_bps") or 0))
    ]
    found = RunData(run.run, trials).summaries("udp-2", "goodput_bps")
    assert found and all(
        one.ci_high == float(one.parameters["rate_bps"]) for one in found if one.n > 2
    )


def test_the_table_marks_a_mean_above_the_limit() -> None:
    planned = synthetic_run("manford-kolahi", "quick")
    trials = [_scaled(trial, 1.02) for trial in planned.trials]
    run = replace(planned, trials=trials)
    table = metric_table(RunData(*run.pair(), run.study, run.published), EXPERIMENT, METRIC)

    assert any(f"% {ABOVE}" in cell.text for row in table.rows for cell in row)
    assert any(ABOVE in sentence for sentence in sentences(*run.pair()))
    assert not math.isnan(float(csv_rows(table)[0]["share of limit (ratio)"]))
