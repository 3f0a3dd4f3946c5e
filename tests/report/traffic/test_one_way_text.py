"""A one-way delay never stands in a report without what its clocks are worth."""

from dataclasses import replace

import pytest
from answered import sentences
from synthetic_runs import SyntheticRun, synthetic_run


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return synthetic_run("manford-kolahi", link_rate_bps=100_000_000)


def said(run: SyntheticRun, error_ns: int | None, median_ns: int = 30_000) -> str:
    """What is said of that run with such one-way delays in its streams."""
    delays = {} if error_ns is None else {"clock_error_ns": error_ns}
    if error_ns is not None:
        delays["one_way_delay_p50_ns"] = median_ns
    trials = [
        replace(t, metrics=t.metrics | delays) if t.workload == "stream" else t for t in run.trials
    ]
    return " ".join(sentences(run.run, trials, run.published))


def test_one_clock_or_no_delays_need_no_remark(run: SyntheticRun) -> None:
    assert "One-way" not in said(run, None)
    assert "One-way" not in said(run, 0)


def test_two_clocks_are_reported_with_their_bound(run: SyntheticRun) -> None:
    told = said(run, 5_000)

    assert "compare two clocks, each ± 5.00 µs." in told
    assert told.count("One-way delays of") == 1


def test_a_delay_below_the_clock_error_is_reported_as_unknown(run: SyntheticRun) -> None:
    assert "each ± 80.0 µs, which is more than some of the delays: ignore those." in said(
        run, 80_000
    )
