"""Trials that come in two modes are seen where they can be, and no side is called better for it."""

import pytest

from lanlab.analysis.comparison.compare import Basis, Compared, Sample, compared, judged
from lanlab.report.comparison.comparison_text import comparison_sentences, verdict_text
from lanlab.studies.model import Study

STUDY = Study.model_validate({"schema": 1, "id": "s", "title": "S"})
FAST = [100.0, 100.3, 99.8, 100.1, 99.9, 100.2]
SLOW = [value * 0.7 for value in FAST]


def one(
    base: list[float], other: list[float], metric: str = "goodput_bps", basis: Basis = "mixed"
) -> Compared:
    sides = (Sample(tuple(own), tuple(range(len(own))), 0, 0, 0, 1.0) for own in (base, other))
    found = compared(
        *sides,
        experiment="e",
        metric=metric,
        factors={},
        names=("RUN1", "RUN2"),
        basis=basis,
    )
    return judged([found])[0]


def test_a_difference_explained_by_modes_gets_no_verdict() -> None:
    found = one([*FAST, 100.4, SLOW[0]], [*SLOW, 70.3, FAST[0]])
    assert found.differs and found.modes is not None
    assert found.modes.ratio == pytest.approx(1 / 0.7, rel=0.01)
    assert found.may_be_modes and found.better is None
    assert verdict_text(found) == "differs, or two modes"
    said = comparison_sentences(STUDY, [found])
    assert said[-1] == (
        "The trials come in two modes: 2 of 16 are about 30 % away from the others of their "
        "condition, with none in between. A difference no greater than that (1 here) may mean that "
        "one side had more trials in the slow mode, so neither side is called better."
    )
    assert " 1 different." in said[0]


def test_a_difference_beyond_the_modes_is_reported() -> None:
    doubled = [2 * value for value in (*SLOW[:2], *FAST)]
    found = one([*FAST, *SLOW[:2]], doubled)
    assert found.modes is not None and found.differs
    assert found.better is True and verdict_text(found) == "differs, better"


def test_too_few_trials_to_detect_modes_are_reported() -> None:
    said = comparison_sentences(STUDY, [one(FAST[:3], SLOW[:3])])
    assert said[-1] == (
        "With 3 runs a side two modes cannot be seen: a machine that is slow for some runs can "
        "look like a difference. Alternate the sides and run again."
    )
    shifted = [0.7 * value for value in FAST[1:]]
    assert not one(FAST[:4], shifted[:4], basis="levels").differs
    by_block = one(FAST[:5], shifted[:5], basis="levels")
    assert by_block.differs
    assert comparison_sentences(STUDY, [by_block])[-1] == (
        "With 5 trials a side two modes cannot be seen: a machine that is slow for some trials can "
        "look like a difference. Measure 10 trials of each to see that."
    )
    many = [value + 0.01 * place for place, value in enumerate(FAST * 2)]
    said = comparison_sentences(STUDY, [one(many, [0.7 * value for value in many])])
    assert not any("two modes" in sentence for sentence in said)


def test_shares_and_counts_have_no_modes() -> None:
    found = one([0.5, 0.5, 0.1, 0.5], [0.1, 0.1, 0.5, 0.1], metric="loss_ratio")
    assert found.modes is None and not found.may_be_modes
