"""The text on what disciplines the clocks of two hosts."""

from dataclasses import replace
from typing import Any

import pytest
from planned_runs import planned_run

from lanlab.analysis.disturbances.clocks_kept import clocks_kept

CHRONY: dict[str, Any] = {
    "synchronised": True,
    "maximum_error_ns": 1_200_000,
    "disciplined_by": ["chronyd"],
}


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        (CHRONY, "by chronyd, right to within 1.20 ms"),
        (CHRONY | {"disciplined_by": ["ptp4l", "phc2sys"]}, "by ptp4l and phc2sys, right to"),
        (CHRONY | {"synchronised": False}, "by chronyd, not synchronised"),
        (CHRONY | {"synchronised": False, "disciplined_by": []}, "by nothing"),
        (CHRONY | {"disciplined_by": []}, "by a program that is not seen, right to within"),
    ],
)
def test_hosts_are_named_with_their_clock_sources(clock: dict[str, Any], said: str) -> None:
    trial = planned_run("manford-kolahi", "tiny", 100_000_000).trials[0]
    hosts = {"host0": {"clock": CHRONY}, "host1": {"clock": clock}}
    setup = {"hosts": {"receiver": "nas", "sender": "pc1"}}
    raw = {"setup": setup, "facts": {"before": {"hosts": hosts}}}
    assert clocks_kept([replace(trial, raw=raw)]).startswith("pc1 by chronyd, right to within")
    assert f"; nas {said}" in clocks_kept([replace(trial, raw=raw)])
    # Of one of them it is not known, or the engine is older.
    hosts["host1"] = {}
    assert clocks_kept([replace(trial, raw=raw)]) == ""
    assert clocks_kept([replace(trial, raw={})]) == ""
    assert clocks_kept([]) == ""
