"""What stood in a trial's record is taken out into columns: every value, and in its own place."""

import copy
import json
from typing import Any

import numpy as np
import pytest
from store_samples import a_trial

from lanlab.store import Series, take_intervals


def columns(series: Series) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in series.columns.items()}  # type: ignore[union-attr]


TOLD = {
    "interval_ns": 250,
    "bytes": [10, 0, 30],
    "messages": [1, 0, 3],
    "lost_messages": [0, 5, -1],
}
BY_TCP = {"interval_ns": 100, "bytes": [7, 8], "messages": [], "lost_messages": []}


def test_intervals_of_either_end_become_columns_and_leave_their_width_and_name() -> None:
    raw = {"sender": {"intervals": BY_TCP, "x": 1}, "receiver": {"intervals": TOLD, "y": 2}, "z": 3}
    before = copy.deepcopy(raw)
    kept, (source, target) = take_intervals(a_trial(raw=raw))
    assert (source.name, target.name) == ("sender-intervals", "receiver-intervals")
    assert columns(target) == {
        "start_ns": [0, 250, 500],
        "width_ns": [250, 250, 250],
        "bytes": [10, 0, 30],
        "messages": [1, 0, 3],
        "lost_messages": [0, 5, -1],
    }
    # Over TCP there are no messages to count, which is not none.
    assert columns(source) == {
        "start_ns": [0, 100],
        "width_ns": [100, 100],
        "bytes": [7, 8],
        "messages": [None, None],
        "lost_messages": [None, None],
    }
    units = {"start_ns": "ns", "width_ns": "ns", "bytes": "B"}
    units |= {"messages": "messages", "lost_messages": "messages"}
    assert source.units == target.units == units
    assert kept.raw == {
        "sender": {"intervals": {"interval_ns": 100, "series": "sender-intervals"}, "x": 1},
        "receiver": {"intervals": {"interval_ns": 250, "series": "receiver-intervals"}, "y": 2},
        "z": 3,
    }
    assert raw == before
    # What was taken is not there a second time.
    assert take_intervals(kept) == (kept, ())


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"sender": None, "receiver": "text"},
        {"receiver": {"intervals": None}},
        {"receiver": {"intervals": {"interval_ns": 5, "bytes": 17}}},
        {"client": {"file_times": None, "readings": None}},
        {"client": {"file_times": {"number": []}, "readings": {"series": "client-readings"}}},
        {"client": {"file_times": {"opened_ns": [1]}}},
        {"server": {"file_times": {"number": [1], "opened_ns": [1]}}},
    ],
)
def test_unknown_series_stay_in_the_record(raw: dict[str, Any]) -> None:
    trial = a_trial(raw=raw)
    kept, series = take_intervals(trial)
    assert (kept, series) == (trial, ())


def test_file_times_are_in_the_order_of_opening() -> None:
    told = {
        "number": [4, 5, 6, 7],
        "opened_ns": [30, 10, 20, 10],
        "done_ns": [35, 18, 29, 17],
        "bytes": [1, 2, 3, 4],
    }
    kept, (files,) = take_intervals(a_trial(raw={"client": {"file_times": told, "k": 9}, "a": 1}))
    assert files.name == "client-files"
    assert columns(files) == {
        "number": [5, 7, 6, 4],
        "opened_ns": [10, 10, 20, 30],
        "done_ns": [18, 17, 29, 35],
        "bytes": [2, 4, 3, 1],
    }
    assert files.units == {"opened_ns": "ns", "done_ns": "ns", "bytes": "B"}
    assert kept.raw == {"client": {"file_times": {"series": "client-files"}, "k": 9}, "a": 1}


@pytest.mark.parametrize(
    ("thinned", "every"), [({}, "1"), ({"thinned": None}, "1"), ({"thinned": {"every": 8}}, "8")]
)
def test_readings_carry_the_names_of_their_outcomes_and_of_how_many_they_are_one(
    thinned: dict[str, Any], every: str
) -> None:
    told = {
        "intended_ns": np.array([1, 2], np.int64),
        "offset_bytes": np.array([3, 4], np.int64),
        "bytes": np.array([5, 6], np.int64),
        "outcome": np.array([0, 1], np.uint8),
    }
    source = {"readings": told, "outcomes": ["ok", "lost"], **thinned}
    kept, (readings,) = take_intervals(a_trial(raw={"client": source}))
    assert readings.name == "client-readings"
    assert columns(readings) == {name: values.tolist() for name, values in told.items()}
    assert readings.units == {"intended_ns": "ns", "offset_bytes": "B", "bytes": "B"}
    assert json.loads(readings.facts["outcomes"]) == ["ok", "lost"]
    assert json.loads(readings.facts["operations"]) == ["read", "write"]
    assert readings.facts["every"] == every
    assert kept.raw["client"]["readings"] == {"series": "client-readings"}
    assert kept.raw["client"]["outcomes"] == ["ok", "lost"]


def test_all_series_of_a_trial_are_extracted_together() -> None:
    source = {
        "file_times": {"number": [1], "opened_ns": [2], "bytes": [3]},
        "readings": {
            name: np.array([1], np.int64) for name in ("intended_ns", "offset_bytes", "bytes")
        },
        "outcomes": ["ok"],
        "intervals": TOLD,
    }
    kept, series = take_intervals(a_trial(raw={"client": source}, workload="copy"))
    names = ["client-intervals", "client-files", "client-readings"]
    assert [each.name for each in series] == names
    assert kept.raw["client"]["file_times"] == {"series": "client-files"}
    assert kept.raw["client"]["intervals"]["series"] == "client-intervals"
