"""Printed numbers beside simulated ones: what is read off where, and how it is counted."""

import pytest

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.simulation.accuracy import accuracies, counts, freedoms
from lanlab.store import Level
from lanlab.studies.load import load_study
from lanlab.studies.machines import Simulation


def cell(goodput_bps: float, **levels: Level) -> Cell:
    return Cell(levels, tuple(levels), Trials((goodput_bps,)), limit=8_833_922.0)


def machines_of(study: str) -> Simulation:
    simulation = load_study(study).study.simulation
    assert simulation is not None
    return simulation


def of_milanovic(overload_bps: float = 900_000.0) -> list[Cell]:
    """The 500-byte UDP cells of the receivers under NT, at two sending speeds."""
    common: dict[str, Level] = {"transport": "udp", "os": "nt4", "message_size_bytes": 500}
    rates = {"486dx2": 2_500_000.0, "pentium": 4_400_000.0, "celeron": 8_830_000.0}
    return [
        cell(peak if rate == 8e6 else overload_bps, **common, host=host, rate_bps=int(rate))
        for host, peak in rates.items()
        for rate in (8e6, 10_600_000)
    ]


def test_a_share_is_read_at_its_maximum_or_a_given_load() -> None:
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


def test_range_ends_are_compared_at_their_message_size() -> None:
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


def test_numbers_that_were_chosen_by_hand_are_free() -> None:
    study = load_study("manford-kolahi")
    simulation = machines_of(study.study.id)
    found = {one.metric: one for one in freedoms(study.published, simulation)}
    rates = found["goodput_bps"]
    assert (rates.free, rates.values, rates.left) == (10, 8, -2)
    trips = found["rtt_mean_ns"]
    assert (trips.free, trips.values, trips.left) == (4, 4, 0)
    by_hand = [
        number
        for machine in simulation.machine
        for number in machine.numbers.values()
        if number.by_hand is not None
    ]
    assert len(by_hand) == 7 and all(number.fitted for number in by_hand)


@pytest.mark.parametrize(
    "name", ["brutman-mtcp", "manford-kolahi", "milanovic-srbljic", "schomer-claason"]
)
def test_every_predicted_value_has_a_baseline(name: str) -> None:
    simulation = machines_of(name)
    predicted = {one.value for one in simulation.prediction} | set(simulation.held_out)
    assert {one.value for one in simulation.baseline} <= predicted
    if name != "brutman-mtcp":
        assert {one.value for one in simulation.baseline} == predicted
