"""What the table of `lanlab stations` says of trials that failed, or that have no steady state."""

from typing import Any

import pytest

from lanlab.report.stations.stations_text import stations_table
from lanlab.store import TrialRecord
from lanlab.workloads.carrier_counts import DISCARDED, TROUBLES

GOOD = {"operations_per_s": 100.0, "goodput_bps": 1e6, "response_mean_ns": 1e6, "errors": 0}


def trial(
    stations: int,
    metrics: dict[str, Any] | None,
    steady: dict[str, Any] | None = None,
    attempts: int | None = None,
) -> TrialRecord:
    source: dict[str, Any] = {"kind": "stationed", "station_sums": {"steady": steady}}
    if attempts is not None:
        source["readings_count"] = attempts
    return TrialRecord(
        run_id="r",
        number=stations,
        experiment="e",
        workload="stations",
        factors={"stations": stations},
        parameters={"stations": stations, "loop": "closed", "service": "smb"},
        block=0,
        purpose="trial",
        status="failed" if metrics is None else "done",
        started_at="",
        elapsed_s=1.0,
        metrics=metrics or {},
        raw={"client": source},
        error=None if metrics is not None else {"code": "stations.none_left", "message": "gone"},
    )


def remarks(*trials: TrialRecord) -> dict[str, str]:
    return {row[0].text: row[-1].text for row in stations_table(trials).rows}


def test_partial_results_of_failed_trials_are_shown_but_not_counted() -> None:
    """A server that died at N = 9, and one that was not there any more at 12."""
    rows = stations_table(
        [trial(4, GOOD), trial(9, None, attempts=1234), trial(12, None), trial(4, None)]
    ).rows
    assert [row[0].value for row in rows] == [4, 9, 12]
    assert [row[1].text for row in rows] == ["100", "", ""]
    assert [row[-1].text for row in rows] == [
        "1 of 2 trials failed",
        "failed after 1,234 attempts at operations",
        "failed",
    ]


@pytest.mark.parametrize(
    ("readings", "steady", "said"),
    [
        (300, {"active_start_ns": 5, "active_end_ns": 900}, "not steady"),
        (249, {"active_start_ns": 5, "active_end_ns": 900}, "too few readings"),
        (300, {"active_start_ns": 5, "active_end_ns": 5}, "never all active"),
    ],
)
def test_reasons_for_no_steady_state_are_distinguished(
    readings: int, steady: dict[str, Any], said: str
) -> None:
    metrics = {**GOOD, "readings": readings, "steady_ratio": 0}
    assert remarks(trial(2, metrics, steady)) == {"2": said}


def test_a_trial_with_only_errors_has_no_response_time() -> None:
    nothing = {"operations_per_s": 0.0, "goodput_bps": 0.0, "errors": 7, "readings": 0}
    (row,) = stations_table([trial(2, GOOD), trial(2, nothing)]).rows
    assert row[3].text == "1.00 ms" and row[4].text == ""
    (alone,) = stations_table([trial(2, nothing)]).rows
    assert [cell.text for cell in alone[3:6]] == ["", "", ""]


def test_an_interval_that_says_nothing_is_not_printed_and_disturbed_trials_are_counted() -> None:
    """Three response times once gave "9.16 ns … 41.3 s"."""
    own = [trial(1, {**GOOD, "response_mean_ns": 1e6 * ms}) for ms in (0.02, 0.2, 5)]
    own[0].raw["pollution"] = {"findings": [{"repeat_helps": True}]}
    (row,) = stations_table(own).rows
    assert row[4].text == "too few trials" and row[-1].text == "1 of 3 disturbed"


def test_lost_and_resent_frames_are_reported_for_both_ends() -> None:
    counted = dict.fromkeys((*DISCARDED, *TROUBLES), 0)
    trials = [trial(4, GOOD), trial(4, GOOD), trial(9, GOOD)]
    for one, again in zip(trials, (2, 3, 0), strict=True):
        one.raw["client"]["carrier"] = counted | {"information_sent_again": again}
        one.raw["server"] = {"carrier": counted | {"kernel_drops": 0, "ignored": again}}
    assert remarks(*trials) == {
        "4": "frames: 5 sent again, server's frames: 5 discarded (out of place in LLC)",
        "9": "",
    }
