"""A first trial that is unlike the others is seen, and spread alone is not taken for one."""

import pytest

from lanlab.analysis.disturbances.slow_first import slow_first
from lanlab.report.metrics.order_text import first_trial_text


def test_a_first_trial_of_a_cold_server_is_reported_with_a_hint() -> None:
    rates = [3.2e6, 164e6, 131e6, 128e6, 140e6, 135e6, 150e6, 138e6]
    found = slow_first("goodput_bps", rates)
    assert found is not None and found.ratio == pytest.approx(138 / 3.2)
    text = first_trial_text(found, len(rates))
    assert "43 times slower than the median of the other 7" in text and "--prepare" in text
    times = slow_first("elapsed_ns", [1 / rate for rate in rates])
    assert times is not None and times.ratio == pytest.approx(found.ratio)


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("goodput_bps", [90.0, 100.0, 101.0, 99.0]),
        # As far away as others are.
        ("goodput_bps", [30.0, 100.0, 40.0, 150.0, 90.0]),
        # Faster, as with a budget that is used up.
        ("goodput_bps", [900.0, 100.0, 101.0, 99.0]),
        ("rtt_mean_ns", [10.0, 100.0, 101.0, 99.0]),
        # Another than the first; too few; nothing measured.
        ("goodput_bps", [100.0, 2.0, 101.0, 99.0]),
        ("goodput_bps", [2.0, 100.0, 101.0]),
        ("goodput_bps", [0.0, 100.0, 101.0, 99.0]),
        ("goodput_bps", []),
        # Neither direction is better.
        ("offered_bps", [2.0, 100.0, 101.0, 99.0]),
    ],
)
def test_no_other_trials_are_called_a_slow_first(metric: str, values: list[float]) -> None:
    assert slow_first(metric, values) is None
