"""The ensemble of machines that agree with print, and what an assumed number moves."""

import numpy as np
import pytest
from ensemble import walk

from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.studies.load import load_study

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
