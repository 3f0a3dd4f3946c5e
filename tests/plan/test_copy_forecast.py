"""What a plan says of the time of copies, before any has run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lanlab.plan.conditions import Condition
from lanlab.workloads import WORKLOADS
from lanlab.workloads.copy import CopyParameters


def forecast_s(link_rate_bps: float | None, **parameters: object) -> float:
    """Of one trial over a link."""
    values = CopyParameters.model_validate(parameters)
    kind = WORKLOADS["copy"]
    condition = Condition(
        experiment="copies",
        workload="copy",
        factors={},
        parameters=values.model_dump(exclude_none=True),
        expected_time_s=kind.expected_time_s(values),
        carried_bits=kind.carried_bits(values),
    )
    return condition.time_over_s(link_rate_bps)


def test_a_slow_link_takes_as_long_as_it_must() -> None:
    """623 MB there and back, or one way, at 10 Mbit/s and where nothing holds them up."""
    large = {"dataset": "schomer-large", "service": "ftp"}
    assert forecast_s(10e6, **large) == pytest.approx(2 * 8 * 623e6 / 10e6)
    assert forecast_s(10e6, **large, verify="size") == pytest.approx(8 * 623e6 / 10e6)
    down = {**large, "direction": "download", "verify": "none"}
    assert forecast_s(10e6, **down) == pytest.approx(2 * 8 * 623e6 / 10e6)
    assert 10 < forecast_s(None, **large) < 60
    assert forecast_s(10e9, **large) == forecast_s(None, **large)


def test_what_goes_over_no_link_of_ours_is_not_held_up_by_it() -> None:
    """A directory of this host, and a server of the user's own."""
    large = {"dataset": "schomer-large"}
    for elsewhere in ({"service": "directory"}, {"server": "ftp://nas/"}):
        assert forecast_s(10e6, **large, **elsewhere) == forecast_s(None, **large, **elsewhere)


def test_the_files_of_a_directory_are_counted(tmp_path: Path) -> None:
    """And not taken for a second, however many they are."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below/a").write_bytes(bytes(600_000))
    (tmp_path / "b").write_bytes(bytes(400_000))
    (tmp_path / "link").symlink_to("/etc/passwd")
    parameters = {"dataset": f"dir:{tmp_path}", "service": "ftp", "verify": "size"}
    assert forecast_s(1e6, **parameters) == pytest.approx(8.0)
