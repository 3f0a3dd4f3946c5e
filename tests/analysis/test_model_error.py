"""How far a model errs at values that nothing was fitted to, and the interval that this makes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lanlab.analysis.model_error import (
    LEAST_HELD_OUT,
    HeldOut,
    by_print_alone,
    cross_validated,
    error_logs,
    half_width_log,
    held_out_values,
    model_error_log,
    widened,
    with_others,
)
from lanlab.analysis.simulated import Accuracy, freedoms, kept_accuracies
from lanlab.report.simulation.accuracy_table import (
    accuracy_count_table,
    accuracy_sentences,
    missed_sentence,
)
from lanlab.studies import LoadedStudy, load_study

STUDY = load_study("schomer-claason")
PRINTED = [one for one in STUDY.published.value if one.metric == "elapsed_ns"]


def held_out(*error_ratios: float, guess_ratio: float | None = None) -> list[Accuracy]:
    found = []
    for value, error in zip(PRINTED, error_ratios, strict=False):
        baseline = None if guess_ratio is None else value.si * guess_ratio
        simulated = value.si * (1 + error)
        found.append(Accuracy(value, "held out", value.si, simulated, "", (), baseline))
    assert len(found) == len(error_ratios)
    return found


@pytest.mark.parametrize("others", [3, 7])
def test_the_interval_holds_the_next_error_in_95_of_100_cases(others: int) -> None:
    random = np.random.default_rng(1)
    errors = random.normal(0, 0.2, (4_000, others + 1))
    held = [abs(one[-1]) <= half_width_log(list(one[:-1])) for one in errors]
    assert 0.94 <= np.mean(held) <= 0.96


def test_fit_and_model_errors_add_in_quadrature_on_each_side() -> None:
    low, high = widened(100.0, 0.3, (100.0, 100.0 * math.exp(0.4)))
    assert low == pytest.approx(100 * math.exp(-0.3))
    assert high == pytest.approx(100 * math.exp(0.5))


@pytest.mark.parametrize(
    "found", [held_out(*[0.01] * (LEAST_HELD_OUT - 1)), held_out(0.1, 0.1, 0.1, -1.0), []]
)
def test_too_few_or_unsimulated_values_give_no_interval(found: list[Accuracy]) -> None:
    assert model_error_log(found) is None and cross_validated(found) == []
    assert " is right within " not in missed_sentence(found)


def test_fitted_and_exactly_published_values_are_not_held_out() -> None:
    one, two, *_ = held_out(0.1, 0.2)
    fitted, exact = replace(one, standing="fitted"), replace(one, baseline=one.published)
    assert held_out_values([fitted, exact, two]) == [two]


def test_guesses_from_publications_are_judged_like_simulations() -> None:
    found = held_out(0.5, -0.4, 0.4, -0.3, guess_ratio=1.1)
    guesses = by_print_alone(found)
    assert error_logs(guesses) == pytest.approx([-math.log(1.1)] * 4)
    assert all(one.is_inside for one in cross_validated(guesses))
    said = missed_sentence(found)
    assert said.endswith(" from published values alone are right within a factor of 1.30.")
    lacking = [replace(found[0], baseline=None), *found[1:]]
    assert by_print_alone(lacking) == [] and "values alone" not in missed_sentence(lacking)


def kept_of(study: LoadedStudy) -> list[Accuracy]:
    assert study.study.simulation is not None
    return held_out_values(kept_accuracies(study.published, study.study.simulation))


STUDIES = ("brutman-mtcp", "manford-kolahi", "milanovic-srbljic", "schomer-claason")


@pytest.mark.parametrize("name", STUDIES)
def test_every_held_out_value_is_kept(name: str) -> None:
    study = load_study(name)
    simulation = study.study.simulation
    assert simulation is not None
    kept = {one.value for one in simulation.prediction}
    exact = {one.value for one in simulation.baseline if one.guess == "1"}
    twice = {"p.xp.ipv4.1152"}
    assert set(simulation.held_out) - exact - twice <= kept
    assert len(kept_of(study)) == len(kept) >= LEAST_HELD_OUT


def test_nine_of_ten_published_values_lie_in_their_interval() -> None:
    checked = [one for name in STUDIES for one in cross_validated(kept_of(load_study(name)))]
    assert len(checked) >= 20
    assert sum(one.is_inside for one in checked) >= 0.9 * len(checked)


def test_sentences_count_values_within_5_10_and_20_percent() -> None:
    simulation = STUDY.study.simulation
    assert simulation is not None
    fitted = [replace(one, standing="fitted") for one in held_out(0.01, 0.2)]
    counts = accuracy_count_table(fitted, STUDY.study, STUDY.published)
    (row,) = counts.rows
    assert [cell.text for cell in row[:5]] == ["fitted", "1", "1", "2", "2"]
    (freedom,) = freedoms(STUDY.published, simulation)
    assert f"{freedom.free} free numbers for {freedom.values} values" in row[-1].text
    assert (counts.name, counts.title) == ("accuracy-counts", "How many are how near")
    noted = simulation.model_copy(update={"note": "A note of the study."})
    with_note = STUDY.study.model_copy(update={"simulation": noted})
    assert accuracy_sentences(fitted, with_note)[-1] == "A note of the study."
    without = STUDY.study.model_copy(
        update={"simulation": simulation.model_copy(update={"note": None})}
    )
    assert len(accuracy_sentences(fitted, without)) == 1
    assert accuracy_sentences([], with_note) == []


def by_hand(others: list[Accuracy], field: str) -> float:
    """Student's t of 3 degrees of freedom times the root mean square of three logarithms."""
    squares = [math.log(one.published / getattr(one, field)) ** 2 for one in others]
    assert len(squares) == 3
    return 3.1824463 * math.sqrt(sum(squares) / 3)


def test_each_interval_comes_from_the_other_three_values() -> None:
    found = held_out(0.1, -0.2, 0.3, 0.05, guess_ratio=1.1)
    found[1] = replace(found[1], low=0.9 * found[1].simulated, high=1.2 * found[1].simulated)
    found[2] = replace(found[2], baseline=2 * found[2].published)
    for place, one in enumerate(cross_validated(found)):
        others = [other for other in found if other is not found[place]]
        own = one.accuracy
        assert own is found[place]
        fit = (own.low, own.high) if own.low is not None and own.high is not None else None
        ends = widened(own.simulated, by_hand(others, "simulated"), fit)
        assert (one.low, one.high) == pytest.approx(ends)
    inside = [one.is_inside for one in cross_validated(by_print_alone(found))]
    assert inside == [True, True, False, True]


def test_a_value_on_an_interval_end_is_inside() -> None:
    one, *_ = held_out(0.1)
    at = one.published
    for ends in ((at, 2 * at), (at / 2, at)):
        assert HeldOut(one, *ends).is_inside
    for ends in ((1.01 * at, 2 * at), (at / 2, 0.99 * at)):
        assert not HeldOut(one, *ends).is_inside


def test_a_range_that_excludes_its_value_narrows_nothing() -> None:
    low, high = widened(100.0, 0.3, (110.0, 120.0))
    assert low == pytest.approx(100 * math.exp(-0.3))
    assert high == pytest.approx(100 * math.exp(math.hypot(0.3, math.log(1.2))))
    low, high = widened(100.0, 0.3, (80.0, 90.0))
    assert low == pytest.approx(100 * math.exp(-math.hypot(0.3, math.log(0.8))))
    assert high == pytest.approx(100 * math.exp(0.3))


def test_a_share_has_an_interval_and_a_zero_has_none() -> None:
    found = [replace(one, published=0.5, simulated=0.4) for one in held_out(*[0.1] * 4)]
    assert model_error_log(found) == pytest.approx(half_width_log([math.log(0.5 / 0.4)] * 4))
    assert model_error_log([*found, replace(found[0], published=0.0)]) is None
    (guess,) = by_print_alone([replace(found[0], baseline=0.3, low=0.3, high=0.6)])
    assert (guess.simulated, guess.low, guess.high) == (0.3, None, None)


def test_the_sentence_states_count_and_spread_of_the_interval() -> None:
    # By hand: ln 1.1, 0.8, 1.3 and 1.05 have a root mean square of 0.18034, and t of 4 degrees of
    # freedom is 2.7764: a factor of e^0.5007. Guesses are missed by 1.1 each: e^0.2646.
    found = held_out(0.1, -0.2, 0.3, 0.05, guess_ratio=1.1)
    assert missed_sentence(found) == (
        "At 4 published values that nothing was fitted to, the model errs by up to 30 %: it is "
        "right within a factor of 1.65 (95 %). For 4 of 4, the errors at the others predict this. "
        "Estimates from published values alone are right within a factor of 1.30."
    )
    assert missed_sentence(found[1:2]) == (
        "At 1 published value that nothing was fitted to, the model errs by up to 20 %. An "
        "interval needs 4 such values."
    )
    assert missed_sentence([]).startswith("The model's error is unknown")


def test_held_out_values_in_run_and_archive_count_once() -> None:
    kept, own = held_out(0.1, -0.1), held_out(0.2, 0.3, -0.2)
    found = with_others(kept, own)
    assert [one.error_ratio for one in found] == pytest.approx([0.1, -0.1, -0.2])
    assert [one.value.id for one in found] == [one.value.id for one in own]


def test_free_numbers_are_counted_as_documented() -> None:
    poo = load_study("poo-tan")
    assert poo.study.simulation is not None
    found = {one.metric: one.free for one in freedoms(poo.published, poo.study.simulation)}
    assert found == {"goodput_bps": 4, "stations": 1, "message_size_bytes": 2}
