"""The peak of throughput over loads: by the law beyond saturation, not by the loads that ran."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.traffic.peaks import PEAKED, is_limited_by_offer, peak_of, peaks

#: Bits of a message, and what its interrupt and the rest of its handling cost, s.
BITS, INTERRUPT_S, HANDLING_S = 16.0, 184.7e-6, 430e-6
PEAK_BPS = BITS / (INTERRUPT_S + HANDLING_S)
GRID = [8_000.0, 16_000, 20_000, 24_000, 32_000, 40_000, 64_000]


def delivered_bps(load_bps: float) -> float:
    left = (1 - load_bps / BITS * INTERRUPT_S) / HANDLING_S * BITS
    return max(0.0, min(load_bps, left))


def curve(loads: Sequence[float]) -> list[tuple[float, float]]:
    return [(load, delivered_bps(load)) for load in loads]


def finer(loads: Sequence[float]) -> list[float]:
    between = [(low * high) ** 0.5 for low, high in itertools.pairwise(loads)]
    return sorted([*loads, *between])


@pytest.mark.parametrize("loads", [GRID, finer(GRID), finer(finer(GRID))])
def test_the_peak_does_not_depend_on_the_loads(loads: list[float]) -> None:
    found = peak_of(curve(loads))
    assert found is not None
    assert found.throughput == pytest.approx(PEAK_BPS, rel=1e-9)
    assert max(delivered_bps(load) for load in GRID) < 0.93 * PEAK_BPS


@pytest.mark.parametrize("shift", [0.97, 0.99, 1.01, 1.03])
def test_the_peak_varies_smoothly_with_costs(shift: float) -> None:
    points = [(load, shift * delivered_bps(load / shift)) for load in GRID]
    found = peak_of(points)
    assert found is not None
    assert found.throughput == pytest.approx(shift * PEAK_BPS, rel=1e-9)


def test_a_plateau_is_its_own_peak() -> None:
    found = peak_of([(load, min(load, 26_000.0)) for load in GRID])
    assert found is not None and found.throughput == pytest.approx(26_000)


def test_queued_messages_do_not_raise_the_peak() -> None:
    points = [(load, min(load, 26_000.0)) for load in GRID]
    found = peak_of([*points, (26_150, 26_140)])
    assert found is not None and found.throughput == pytest.approx(26_000)


@pytest.mark.parametrize(
    "points",
    [
        [],
        curve([8_000, 16_000, 20_000]),
        curve([8_000, 16_000, 20_000, 32_000]),
        curve([32_000, 40_000]),
    ],
)
def test_a_peak_needs_loads_on_either_side(points: list[tuple[float, float]]) -> None:
    assert peak_of(points) is None


def test_each_series_has_a_peak_for_each_trial() -> None:
    def cell(host: str, load: float, share: float) -> Cell:
        values = tuple(share * delivered_bps(load / share) * (1 + n / 1000) for n in range(3))
        levels = {"host": host, "rate_bps": round(load), "message_size_bytes": 2}
        return Cell(levels, ("host", "rate_bps"), Trials(values, (0, 1, 2)), group="udp")

    cells = [cell("slow", load, 1.0) for load in GRID] + [cell("fast", load, 9.0) for load in GRID]
    (found,) = peaks(cells)
    assert (found.levels, found.varied) == ({"host": "slow", "message_size_bytes": 2}, ("host",))
    assert found.stands == "greatest" and PEAKED == "goodput_bps"
    assert isinstance(found.sample, Trials)
    assert found.sample.blocks == (0, 1, 2)
    assert found.sample.values[0] == pytest.approx(PEAK_BPS, rel=1e-9)
    assert found.sample.values == tuple(sorted(found.sample.values))


def test_half_a_percent_of_loss_is_still_below_saturation() -> None:
    beyond = [(300.0, 240.0), (400.0, 220.0)]
    assert peak_of([(200.0, 199.0), *beyond]) == pytest.approx((250, 250))
    assert peak_of([(200.0, 198.94), *beyond]) is None


def test_the_peak_lies_between_its_neighbouring_loads() -> None:
    points = [(100.0, 100.0), (200.0, 200.0), (300.0, 150.0), (400.0, 149.0)]
    assert peak_of(points) == pytest.approx((198, 198))


def test_a_peak_is_not_below_a_measured_throughput() -> None:
    points = [(100.0, 100.0), (200.0, 200.0), (300.0, 240.0), (400.0, 220.0)]
    assert peak_of([*points, (500.0, 260.0)]) == pytest.approx((250, 260))
    rising = [(100.0, 100.0), (300.0, 240.0), (400.0, 260.0)]
    assert peak_of(rising) == pytest.approx((225, 260))


def test_throughput_that_rises_with_load_has_no_peak() -> None:
    for rise in (100.0, 150.0):
        assert peak_of([(100.0, 100.0), (300.0, 240.0), (400.0, 240.0 + rise)]) is None
    assert peak_of([(100.0, 100.0), (300.0, 240.0), (400.0, 330.0)]) is not None


def test_a_series_has_as_many_peaks_as_its_shortest_condition_has_trials() -> None:
    def cell(load: float, trials: int, group: str = "udp", varied: str = "rate_bps") -> Cell:
        values = tuple(delivered_bps(load) for _ in range(trials))
        blocks = tuple(range(10, 10 + trials))
        return Cell({"rate_bps": round(load)}, (varied,), Trials(values, blocks), group=group)

    three = [cell(8_000, 2), cell(32_000, 3), cell(40_000, 4)]
    (found,) = peaks(three)
    assert isinstance(found.sample, Trials)
    assert found.sample.values == pytest.approx([PEAK_BPS] * 2)
    assert (found.sample.blocks, found.sample.positions) == ((10, 11), (0, 1))
    assert found.levels == {} and found.varied == () and found.group == "udp"
    assert peaks(three[:2]) == []
    assert peaks([*three[:2], cell(40_000, 4, group="tcp")]) == []
    assert peaks([cell(load, 2, varied="host") for load in GRID]) == []
    # A trial without one leaves the series without a cell.
    flat = Cell({"rate_bps": 40_000}, ("rate_bps",), Trials((40_000.0, 1.0), (10, 11)), group="udp")
    assert peaks([*three[:2], flat]) == []
    # But not the series behind it.
    later = [replace(one, group="later") for one in three]
    (found,) = peaks([*three[:2], flat, *later])
    assert found.group == "later"


def test_a_rate_of_which_at_least_99_percent_arrived_is_limited_by_the_offer() -> None:
    offered = {"rate_bps": 1e6}
    assert is_limited_by_offer(PEAKED, offered, 990_000)
    assert not is_limited_by_offer(PEAKED, offered, 989_999)
    assert not is_limited_by_offer(PEAKED, {}, 990_000)
