"""Round trips and data beside the measured time."""

import pytest

from lanlab.workloads.copy.results import explained_time

#: 10 files of one client: two small requests and one with data each, of 1 ms and 2 ms.
TEN = {
    "answered": 30,
    "waits": 30,
    "response_mean_ns": 1_000_000,
    "moved_bytes": 60_000,
    "moving_ns": 20_000_000,
    "moving_waits": 10,
}


def test_round_trips_and_data_add_up() -> None:
    found = explained_time(TEN, 1, 0.05)
    assert found["waiting_s"] == pytest.approx(0.030)
    # The round trip of each request with data counts once.
    assert found["moving_s"] == pytest.approx(0.010)
    assert found["explained_ratio"] == pytest.approx(0.8)


def test_clients_side_by_side_wait_at_the_same_time() -> None:
    found = explained_time(TEN, 2, 0.02)
    assert (found["waits"], found["explained_ratio"]) == (15, pytest.approx(1.0))


def test_an_explanation_beyond_the_measured_time_is_more_than_all_of_it() -> None:
    assert explained_time(TEN, 1, 0.03)["explained_ratio"] == pytest.approx(4 / 3)
    assert explained_time(TEN, 1, 0.01)["explained_ratio"] == pytest.approx(4)


@pytest.mark.parametrize("unknown", [None, {**TEN, "response_mean_ns": None}])
def test_nothing_is_explained_without_response_times(unknown: dict[str, int] | None) -> None:
    assert explained_time(unknown, 1, 1.0) == {}
