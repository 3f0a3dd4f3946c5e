"""Printed numbers beside simulated ones: what is read off where, and how it is counted."""

from __future__ import annotations

import pytest

from lanlab.analysis.simulated import SimulatedCell, accuracies, counts
from lanlab.store import Level
from lanlab.studies import load_study
from lanlab.studies.machines import Simulation


def cell(goodput_bps: float, **levels: Level) -> SimulatedCell:
    return SimulatedCell(levels, goodput_bps, 8_833_922.0, str(levels))


def machines_of(study: str) -> Simulation:
    simulation = load_study(study).study.simulation
    assert simulation is not None
    return simulation


def of_milanovic(overload_bps: float = 900_000.0) -> list[SimulatedCell]:
    """The 500-byte UDP cells of the receivers under NT, at two sending speeds."""
    common: dict[str, Level] = {"transport": "udp", "os": "nt4", "message_size_bytes": 500}
    rates = {"486dx2": 2_500_000.0, "pentium": 4_400_000.0, "celeron": 8_830_000.0}
    return [
        cell(peak if rate == 8e6 else overload_bps, **common, host=host, rate_bps=int(rate))
        for host, peak in rates.items()
        for rate in (8e6, 10_600_000)
    ]


def test_a_share_is_read_off_where_it_is_greatest_or_where_the_file_says() -> None:
    """The tenth of the 486 is that under overload, not its peak of 28 %."""
    study = load_study("milanovic-srbljic")
    cells = {"goodput_bps": of_milanovic()}
    found = {a.value.id: a for a in accuracies(study.published, machines_of(study.study.id), cells)}
    assert found["u500.pen.half"].simulated == pytest.approx(4_400_000 / 8_833_922)
    assert found["u500.486.tenth"].simulated == pytest.approx(900_000 / 8_833_922)
    assert found["u500.486.tenth"].standing == "fitted"
    assert found["u500.cel.full"].standing == "held out"
    assert found["u500.cel.full"].error_ratio == pytest.approx(0, abs=1e-3)


def test_ratios_compare_greatest_means_and_gains_are_ratios() -> None:
    """15 % more is a ratio of 1.15; a side of two systems is the mean of both."""
    study = load_study("milanovic-srbljic")
    common: dict[str, Level] = {"transport": "tcp", "message_size_bytes": 500}
    cells = [
        cell(9.2e6, **common, host="celeron", os="nt4"),
        cell(8.0e6, **common, host="pentium", os="nt4"),
        cell(8.4e6, **common, host="pentium", os="win95"),
        cell(9.4e6, **common, host="pentium", os="linux"),
    ]
    found = {
        a.value.id: a
        for a in accuracies(study.published, machines_of(study.study.id), {"goodput_bps": cells})
    }
    windows = found["t500.win_linux"]
    assert windows.published == pytest.approx(0.85)
    assert windows.simulated == pytest.approx(8.2 / 9.4)
    assert "t500.cel_486" not in found


def test_counts_leave_bounds_out() -> None:
    """At least four times is not a number to come near to."""
    study = load_study("milanovic-srbljic")
    common: dict[str, Level] = {"transport": "udp", "message_size_bytes": 2, "host": "pentium"}
    cells = [
        cell(100e3, **common, os="linux"),
        cell(20e3, **common, os="nt4"),
        cell(20e3, **common, os="win95"),
    ]
    found = accuracies(study.published, machines_of(study.study.id), {"goodput_bps": cells})
    (bound,) = [one for one in found if one.value.id == "u2.linux_win"]
    assert bound.simulated == pytest.approx(5) and not bound.is_counted
    assert counts([bound]) == (0, 0, 0, 0)


def test_the_end_of_a_range_is_read_off_at_its_size() -> None:
    """And a number that belongs to no simulated condition is left out."""
    study = load_study("manford-kolahi")
    cells = [
        cell(27e6, transport="udp", os="vista", ip_version=4, message_size_bytes=128),
        cell(85e6, transport="udp", os="vista", ip_version=4, message_size_bytes=1408),
    ]
    found = {
        a.value.id: a
        for a in accuracies(study.published, machines_of(study.study.id), {"goodput_bps": cells})
    }
    assert set(found) == {"r.abs.vista.ipv4.min", "r.abs.vista.ipv4.max"}
    least = found["r.abs.vista.ipv4.min"]
    assert least.error_ratio == pytest.approx(0.5 / 26.5)
    assert counts(found.values()) == (2, 2, 2, 2)
