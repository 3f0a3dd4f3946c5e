"""The ensemble of machines that agree with print, and what an assumed number moves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import ensemble
import numpy as np
import pytest
from ensemble import interval_of, walk

from lanlab.analysis.simulated import Accuracy
from lanlab.studies import load_study

pytestmark = pytest.mark.long

STUDY = load_study("milanovic-srbljic")


def of(name: str, simulated: float = 1.0) -> Accuracy:
    value = next(one for one in STUDY.published.value if one.id == name)
    printed = 1.15 if value.statistic == "gain" else value.si
    return Accuracy(value, "fitted", printed, simulated, "", ())


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        # "6 kB/s": by its digit. "about 2.1": a tenth. "almost twice": below. "15 % better".
        ("u2.cel", 5.5 / 6, 6.5 / 6),
        ("u2.cel_pen", 0.9, 1.1),
        ("t2.cel_pen", 0.9, 1.0),
        ("t500.cel_pen", 1.145 / 1.15, 1.155 / 1.15),
        ("u2.linux_win", 1.0, np.inf),
    ],
)
def test_a_printed_value_is_an_interval(name: str, low: float, high: float) -> None:
    ends = interval_of(of(name), STUDY)
    assert np.exp(ends) == pytest.approx((low, high))


def test_published_trials_give_the_interval_of_their_mean() -> None:
    """82, 80, 83, 85 and 80 s; by their digits alone it would be half a second either way."""
    study = load_study("schomer-claason")
    value = next(one for one in study.published.value if one.id == "t.w2ksp2.tcpip.ds1.time")
    ends = interval_of(Accuracy(value, "fitted", value.si, value.si, "", ()), study)
    assert np.exp(ends) * value.si / 1e9 == pytest.approx((79.4, 84.7), abs=0.1)


def test_ensemble_members_span_the_published_range() -> None:
    jacobian = np.array([[1.0, 1.0]])
    low, high = np.array([-0.1]), np.array([0.02])
    found = walk(jacobian, low, high, np.random.default_rng(1), members=400)
    sums = found.sum(axis=1)
    assert sums.min() >= -0.1 - 1e-12 and sums.max() <= 0.02 + 1e-12
    assert sums.min() < -0.09 and sums.max() > 0.01
    assert np.ptp(found[:, 0]) > 1.0
    again = walk(jacobian, low, high, np.random.default_rng(1), members=400)
    assert (again == found).all()


def test_evaluating_held_out_values_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machines = STUDY.path.with_name("machines.toml")
    before = machines.read_bytes()

    class Lab:
        loaded = STUDY

        def accuracy(self, simulation: object, metric: str) -> list[Accuracy]:
            # Simulated anew, other than what is kept.
            return [replace(of(name, 1.5), standing="held out") for name in ("t2.cel_pen",)]

    @contextmanager
    def opened(*_: object) -> Iterator[tuple[Lab, object]]:
        yield Lab(), STUDY.study.simulation

    monkeypatch.setattr(ensemble, "opened", opened)
    monkeypatch.setattr(sys, "argv", ["ensemble.py", "milanovic-srbljic", "--held-out"])
    ensemble.main()
    assert machines.read_bytes() == before
