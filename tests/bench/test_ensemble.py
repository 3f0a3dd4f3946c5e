"""The ensemble of machines that agree with print, and what an assumed number moves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import ensemble
import numpy as np
import pytest
from ensemble import walk

from lanlab.analysis.simulated import Accuracy
from lanlab.studies import load_study

pytestmark = pytest.mark.long

STUDY = load_study("milanovic-srbljic")


def of(name: str, simulated: float = 1.0) -> Accuracy:
    value = next(one for one in STUDY.published.value if one.id == name)
    printed = 1.15 if value.statistic == "gain" else value.si
    return Accuracy(value, "fitted", printed, simulated, "", ())


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
