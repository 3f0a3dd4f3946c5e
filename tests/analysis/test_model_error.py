"""How far a model errs at values that nothing was fitted to, and the interval that this makes."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from model_errors import erring
from planned_runs import planned_run

from lanlab.analysis.simulation.accuracy import Accuracy, freedoms, kept_accuracies
from lanlab.analysis.simulation.model_error import (
    LEAST_HELD_OUT,
    HeldOut,
    by_print_alone,
    cross_validated,
    error_logs,
    half_width_log,
    held_out_values,
    model_error_log,
    of_metric,
    widened,
    with_others,
)
from lanlab.analysis.simulation.run import held_out_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.report.simulation.accuracy_table import (
    accuracy_count_table,
    missed_sentence,
)
from lanlab.studies.load import LoadedStudy, known_studies, load_study

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
    assert (
        " from published values alone are right within a factor of 1.30: the simulation is" in said
    )
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


def test_both_held_out_values_of_poo_and_tan_count_at_any_scale() -> None:
    """A quick run simulates neither of them as published."""
    assert [one.value.id for one in kept_of(load_study("poo-tan"))] == [
        "x.ratiopcat",
        "x.novell.r6k",
    ]
    run = planned_run("poo-tan", "tiny", where="simulated")
    said = missed_sentence(held_out_of(RunData(run.run, run.trials)))
    assert said.startswith("The simulation misses 2 published values")


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
        "The simulation misses 4 published values that had no part in the fit by up to 30 %. A "
        "value is right within a factor of 1.65, a ratio of two within 2.03 (95 %). 4 of 4 lie in "
        "the interval that the others give. Estimates from published values alone are right within "
        "a factor of 1.30: the simulation is no better."
    )
    assert missed_sentence(found[1:2]) == (
        "The simulation misses 1 published value that had no part in the fit by up to 20 %: too "
        "few for an interval, which needs 4."
    )
    better = held_out(0.1, -0.2, 0.3, 0.05, guess_ratio=2.0)
    assert "no better" not in missed_sentence(better)
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
    assert found == {"goodput_bps": 5, "stations": 1, "message_size_bytes": 2}
    told = (Path(__file__).parents[2] / "bench/results/simulation.md").read_text()
    table = told.partition("### Fitted\n\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (\w+)[^|]*\| ([^|]*) \|", table, re.MULTILINE)
    for name in known_studies():
        loaded = load_study(name)
        simulation = loaded.study.simulation
        assert simulation is not None
        author = loaded.study.source.authors[0].split()[-1]
        counts = [sum(map(int, re.findall(r"\d+", text))) for one, text in rows if one == author]
        assert sum(counts) == sum(one.free for one in freedoms(loaded.published, simulation)), name


def test_each_metric_has_an_error_of_its_own_and_a_time_is_one_of_a_rate() -> None:
    times = held_out(0.1, -0.2, 0.3, 0.05)
    trips = erring(math.log(1.5), "rtt_mean_ns")[:2]
    assert of_metric([*times, *trips], "goodput_bps") == times
    assert of_metric([*times, *trips], "rtt_mean_ns") == trips
    assert [one.accuracy for one in cross_validated([*times, *trips])] == times
    alone = [(one.low, one.high) for one in cross_validated(times)]
    assert [(one.low, one.high) for one in cross_validated([*times, *trips])] == alone
    said = missed_sentence([*times, *trips])
    assert said.startswith("The simulation misses 4 published values of elapsed time that had no")
    assert "A value is right within a factor of 1.65" in said
    assert "The simulation misses 2 published values of round-trip time that had no part" in said


def test_six_held_out_times_give_the_error_of_the_rate() -> None:
    found = kept_of(load_study("brutman-mtcp"))
    assert {one.value.metric for one in found} == {"elapsed_ns"} and len(found) == 6
    assert model_error_log(of_metric(found, "goodput_bps")) == model_error_log(found)
