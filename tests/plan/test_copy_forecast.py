"""What a plan says of the time of copies and streams, before any has run."""

from pathlib import Path

import pytest

from lanlab.plan.conditions import Condition
from lanlab.workloads import WORKLOADS
from lanlab.workloads.copy.parameters import CopyParameters


def forecast_s(link_rate_bps: float | None, **parameters: object) -> float:
    values = CopyParameters.model_validate(parameters)
    kind = WORKLOADS["copy"]
    condition = Condition(
        experiment="copies",
        workload="copy",
        factors={},
        values=values,
        expected_time_s=kind.expected_time_s(values),
        carried_bits=kind.carried_bits(values),
    )
    return condition.time_over_s(link_rate_bps)


def test_the_forecast_of_a_copy_includes_the_link_time() -> None:
    """623 MB there and back, or one way, at 10 Mbit/s and where nothing holds them up."""
    large = {"dataset": "schomer-large", "service": "ftp"}
    assert forecast_s(10e6, **large) == pytest.approx(2 * 8 * 623e6 / 10e6)
    assert forecast_s(10e6, **large, verify="size") == pytest.approx(8 * 623e6 / 10e6)
    down = {**large, "direction": "download", "verify": "none"}
    assert forecast_s(10e6, **down) == pytest.approx(2 * 8 * 623e6 / 10e6)
    assert 10 < forecast_s(None, **large) < 60
    assert forecast_s(10e9, **large) == forecast_s(None, **large)


def test_local_and_external_copies_ignore_the_link() -> None:
    large = {"dataset": "schomer-large"}
    for elsewhere in ({"service": "directory"}, {"server": "ftp://nas/"}):
        assert forecast_s(10e6, **large, **elsewhere) == forecast_s(None, **large, **elsewhere)


def test_files_of_a_directory_are_counted_for_the_forecast(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/a").write_bytes(bytes(600_000))
    (tmp_path / "b").write_bytes(bytes(400_000))
    (tmp_path / "link").symlink_to("/etc/passwd")
    parameters = {"dataset": f"dir:{tmp_path}", "service": "ftp", "verify": "size"}
    assert forecast_s(1e6, **parameters) == pytest.approx(8.0)


def streamed_s(link_rate_bps: float | None, **parameters: object) -> float:
    kind = WORKLOADS["stream"]
    values = kind.Parameters.model_validate({"warmup_s": 0, **parameters})
    return Condition(
        experiment="streams",
        workload="stream",
        factors={},
        values=values,
        expected_time_s=kind.expected_time_s(values),
        carried_bits=kind.carried_bits(values),
    ).time_over_s(link_rate_bps)


def test_a_number_of_messages_takes_its_link_time() -> None:
    """A million of 1408 bytes at 100 Mbit/s are two minutes, not a second."""
    million = {"messages": 1_000_000, "message_size_bytes": 1408}
    frames_s = 1e6 * 8 * (1408 + 28 + 38) / 100e6
    assert streamed_s(100e6, transport="udp", **million) == pytest.approx(frames_s)
    assert streamed_s(None, transport="udp", **million) == 1.0
    # TCP waits for the link at any rate; UDP at a rate of its own is lost instead.
    tcp_s = 1e6 * 8 * 1408 * 1538 / 1448 / 100e6
    assert streamed_s(100e6, transport="tcp", **million) == pytest.approx(tcp_s)
    faster = {**million, "rate_bps": 1e9}
    assert streamed_s(100e6, transport="tcp", **faster) == pytest.approx(tcp_s)
    assert streamed_s(100e6, transport="udp", **faster) == pytest.approx(1e6 * 8 * 1408 / 1e9)
    assert streamed_s(100e6, transport="udp", time_s=2, message_size_bytes=1408) == 2
    amount = {"bytes": 4_194_304, "message_size_bytes": 1460}
    assert streamed_s(10e6, transport="tcp", **amount) == pytest.approx(3.565, abs=0.01)
