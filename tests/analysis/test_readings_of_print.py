"""Which simulated condition a printed number is read off at, on a made-up publication."""

from typing import Any

import pytest

from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.simulation.accuracy import (
    Accuracy,
    Freedom,
    accuracies,
    counts,
    fitted_names,
    freedoms,
    kept_accuracies,
    standing_of,
)
from lanlab.store import Level
from lanlab.studies.machines import Simulation
from lanlab.studies.published import Published, PublishedValue

WHY = "made up for this test"


def value(name: str, si: float = 100.0, **given: Any) -> PublishedValue:
    """A printed number, of kilobits a second; what is not a field of it is a level."""
    fields = ("metric", "statistic", "kind", "status", "bound", "value")
    condition = {key: level for key, level in given.items() if key not in fields}
    own = {key: given[key] for key in fields if key in given}
    plain = {"metric": "goodput_bps", "statistic": "mean", "kind": "table", "value": si / 1000}
    rest = {"published": "", "unit": "kbit/s", "si_unit": "bit/s", "where": "here"}
    return PublishedValue.model_validate(
        {**plain, **rest, **own, "id": name, "si": si, "condition": condition}
    )


def published(*values: PublishedValue) -> Published:
    levels = {"os": ("a", "b", "c"), "host": ("x", "y")}
    factors = [
        {"name": name, "title": name, "levels": [{"level": one, "title": one} for one in own]}
        for name, own in levels.items()
    ]
    return Published.model_validate({"schema": 1, "value": values, "factor": factors})


def machines(fitted: dict[str, list[str]] | None = None, **more: Any) -> Simulation:
    own = [
        {
            "id": name,
            "title": name,
            "numbers": {
                f"{place}_us": {"value": 1, "fitted": [one]}
                for place, one in zip(
                    ("interrupt", "protocol"), (fitted or {}).get(name, ()), strict=False
                )
            },
        }
        for name in ("a", "b", "c")
    ]
    places = [{"when": {"os": name}, "machines": [name, name]} for name in ("a", "b", "c")]
    return Simulation.model_validate({"machine": own, "place": places, **more})


def cell(mean: float, limit: float | None = None, peak: bool = False, **at: Level) -> Cell:
    group, stands = ("peak", "greatest") if peak else ("", "each")
    return Cell(at, tuple(at), Trials((mean,)), stands, group, limit=limit)


def read(
    values: PublishedValue | list[PublishedValue],
    *cells: Cell,
    simulation: Simulation | None = None,
) -> list[Accuracy]:
    own = values if isinstance(values, list) else [values]
    cells_of = {own[0].metric: cells}
    return accuracies(published(*own), simulation or machines(), cells_of)


def test_a_reading_is_the_mean_or_the_greatest_of_several() -> None:
    low, high = cell(90, os="a", load=1), cell(110, os="a", load=2)
    (one,) = read(value("p", os="a"), low, cell(500, os="b"))
    assert (one.simulated, one.how, one.conditions) == (90, "mean", (low.name,))
    (several,) = read(value("p", os="a"), low, high)
    assert (several.simulated, several.how) == (110, "highest mean")
    (peak,) = read(value("p", os="a"), low, high, cell(105, peak=True, os="a"))
    assert (peak.simulated, peak.how, peak.published) == (105, "peak", 100)
    (least,) = read(value("p", statistic="minimum", os="a"), high, low)
    assert (least.simulated, least.how) == (90, "lowest mean")
    assert (one.low, one.high, one.baseline, one.repeats) == (None, None, None, None)


def test_a_share_is_relative_to_the_link_capacity() -> None:
    shared = value("p", 0.5, statistic="share_of_link", os="a")
    most = cell(90, 100, os="a", load=1)
    (one,) = read(shared, cell(80, 200, os="a", load=2), most, cell(500, None, os="a", load=3))
    assert (one.simulated, one.how) == (0.9, "greatest share of the link")
    assert one.conditions == (most.name,)
    (peak,) = read(shared, most, cell(120, 200, True, os="a"))
    assert (peak.simulated, peak.how) == (0.6, "share of the link at the peak")
    assert read(shared, cell(500, None, os="a")) == []
    here = machines(reading=[{"value": "p", "at": {"load": 1}, "because": WHY}])
    (there,) = read(shared, most, cell(99, 100, os="a", load=2), simulation=here)
    assert (there.simulated, there.how) == (0.9, "share of the link in one condition")


def ratio(**given: Any) -> PublishedValue:
    return value("r", 2.0, statistic="ratio", value=2.0, numerator="a", denominator="b", **given)


def test_a_ratio_compares_levels_with_all_else_equal() -> None:
    here = machines(place=[{"when": {"os": "a", "host": "x"}, "machines": ["a", "a"]}])
    a, b = cell(90, os="a", host="x"), cell(30, os="b", host="x")
    (one,) = read(ratio(), a, b, cell(500, os="a", host="y"), simulation=here)
    assert (one.simulated, one.how) == (3, "ratio of the highest means")
    assert one.conditions == (a.name, b.name) and one.published == 2
    both = (cell(500, os="a", host="y"), cell(10, os="b", host="y"))
    assert read(ratio(), a, b, *both, simulation=here) == []
    assert read(ratio(), a, cell(10, os="b", host="y"), simulation=here) == []
    assert read(ratio(), a, simulation=here) == []
    assert len(read(ratio(host="x"), a, b, *both, simulation=here)) == 1


def test_a_ratio_of_peaks_is_labelled_as_one() -> None:
    a, b = cell(90, peak=True, os="a"), cell(30, peak=True, os="b")
    assert read(ratio(), a, b)[0].how == "ratio of the peaks"
    plain = read(ratio(), a, cell(30, os="b"))[0]
    assert (plain.how, plain.simulated) == ("ratio of the highest means", 3)


def test_foreign_and_derived_numbers_are_omitted() -> None:
    values = [
        value("own", os="a"),
        value("related", kind="related", os="a"),
        value("wrong", status="wrong", os="a"),
        value("sd", statistic="sd", os="a"),
        value("difference", statistic="difference", minuend="a", subtrahend="b"),
        value("other", metric="rtt_mean_ns", os="a"),
        value("elsewhere", os="c"),
    ]
    found = read(values, cell(90, os="a"), cell(80, os="b"))
    assert [one.value.id for one in found] == ["own"]


def test_the_file_names_the_condition_of_a_reading() -> None:
    reading = {"value": "p", "at": {"load": 2}, "because": WHY}
    said = machines(reading=[reading, {**reading, "value": "q", "at": {"load": 1}}])
    cells = (cell(90, os="a", load=1), cell(80, os="a", load=2))
    found = read([value("p", os="a", trial=4), value("q", os="a")], *cells, simulation=said)
    assert [one.simulated for one in found] == [80, 90]


@pytest.mark.parametrize(("level", "found"), [(True, 1), (1, 0)])
def test_the_boolean_true_is_not_the_number_one(level: Level, found: int) -> None:
    assert len(read(value("p", flag=True), cell(90, flag=level))) == found


def test_a_reading_has_the_range_left_by_the_fit() -> None:
    ranges = [{"value": "q", "low": 1, "high": 2}, {"value": "p", "low": 80, "high": 95}]
    found = read(
        [value("p", os="a"), value("n", os="b")],
        cell(90, os="a"),
        cell(70, os="b"),
        simulation=machines(range=ranges),
    )
    assert [(one.low, one.high) for one in found] == [(80, 95), (None, None)]


def test_earlier_predictions_have_no_range_of_current_machines() -> None:
    simulation = machines(
        {"a": ["p"]},
        prediction=[{"value": "p", "simulated": 120}],
        baseline=[{"value": "p", "guess": "value('q') * 2", "because": WHY}],
        range=[{"value": "p", "low": 80, "high": 95}],
    )
    values = [value("p", os="a"), value("q", 70.0, os="b")]
    before, after, other = read(values, cell(90, os="a"), cell(60, os="b"), simulation=simulation)
    assert (before.standing, before.simulated) == ("predicted before the fit", 120)
    assert (before.low, before.high) == (None, None)
    assert before.baseline == pytest.approx(140)
    assert before.skill == pytest.approx(1 - 20 / 40)
    assert (after.standing, after.simulated, after.baseline) == ("fitted", 90, None)
    assert (after.low, after.high) == (80, 95)
    assert (other.standing, other.baseline) == ("not fitted", None)
    simulated = {"goodput_bps": [cell(90, os="a"), cell(60, os="b")]}
    assert fitted_names(published(*values), simulation, simulated) == {"p": {": os a"}}


def test_kept_accuracies_need_no_simulated_condition() -> None:
    values = [value("p", os="a"), value("q", os="b"), ratio()]
    simulation = machines(
        {"a": ["p"]},
        held_out=["q", "r"],
        prediction=[
            {"value": "p", "simulated": 120},
            {"value": "q", "simulated": 130},
            {"value": "r", "simulated": 1.5},
        ],
        baseline=[{"value": "r", "guess": "4", "because": WHY}],
        range=[{"value": name, "low": 80, "high": 95} for name in ("p", "q")],
    )
    p, q, r = kept_accuracies(published(*values), simulation)
    assert (p.standing, p.simulated, p.low, p.high) == ("predicted before the fit", 120, None, None)
    assert (q.standing, q.simulated, q.low, q.high) == ("held out", 130, 80, 95)
    assert (r.published, r.simulated, r.baseline, r.skill) == (2, 1.5, 4, 1 - 0.25)
    assert (q.published, q.how, q.conditions) == (100, "kept with the study", ())
    assert (p.baseline, q.baseline) == (None, None)


def test_fitted_takes_precedence_over_held_out() -> None:
    simulation = machines({"b": ["p"]}, held_out=["p"])
    assert standing_of("p", simulation, [{"os": "a"}, {"os": "b"}]) == "fitted"
    assert standing_of("p", simulation, [{"os": "a"}]) == "held out"
    assert standing_of("q", simulation, [{"os": "b"}, {"os": "unknown"}]) == "not fitted"


def times_and_rates(*rates: tuple[float, float, float, float]) -> list[Accuracy]:
    """A condition for each: printed time, simulated time, printed rate, simulated rate."""
    values: list[PublishedValue] = []
    cells: dict[str, list[Cell]] = {"elapsed_ns": [], "goodput_bps": []}
    for place, (time, time_here, rate, rate_here) in enumerate(rates):
        values.append(value(f"t{place}", time, metric="elapsed_ns", case=place))
        values.append(value(f"r{place}", rate, case=place))
        cells["elapsed_ns"].append(cell(time_here, case=place))
        cells["goodput_bps"].append(cell(rate_here, case=place))
    return accuracies(published(*values), machines(), cells)


def test_a_rate_repeats_the_time_of_the_same_transfer() -> None:
    found = times_and_rates((10, 20, 100, 50), (10, 20, 100, 50.98), (10, 20, 100, 51.1))
    repeats = {one.value.id: one.repeats for one in found}
    assert repeats == {"t0": None, "r0": "t0", "t1": None, "r1": "t1", "t2": None, "r2": None}
    assert counts(found)[-1] == 4


def test_equal_numbers_of_other_conditions_or_metrics_are_not_repeats() -> None:
    """Nor one that was simulated otherwise at the same condition."""
    values = [value("p", os="a"), value("q", os="b"), value("s", statistic="maximum", os="a")]
    p, q, s = read(values, cell(90, os="a"), cell(90, os="b"))
    assert (p.repeats, q.repeats, s.repeats) == (None, None, "p")
    assert (p.is_counted, s.is_counted) == (True, False)
    cells = {"rtt_mean_ns": [cell(90, os="a")], "goodput_bps": [cell(90, os="a")]}
    trips = [value("p", os="a"), value("q", metric="rtt_mean_ns", os="a")]
    assert [o.repeats for o in accuracies(published(*trips), machines(), cells)] == [None, None]


@pytest.mark.parametrize(
    ("simulated", "within"),
    [
        (105.0, (1, 1, 1, 1)),
        (95.0, (1, 1, 1, 1)),
        (105.4, (0, 1, 1, 1)),
        (110.0, (0, 1, 1, 1)),
        (110.9, (0, 0, 1, 1)),
        (80.0, (0, 0, 1, 1)),
        (121.9, (0, 0, 0, 1)),
    ],
)
def test_errors_are_counted_up_to_5_10_and_20_percent(
    simulated: float, within: tuple[int, ...]
) -> None:
    assert counts(read(value("p", os="a"), cell(simulated, os="a"))) == within


@pytest.mark.parametrize(
    ("guess", "is_exact"), [("1000.001", True), ("1000.00105", False), ("1000", True)]
)
def test_a_guess_within_a_millionth_is_exact(guess: str, is_exact: bool) -> None:
    simulation = machines(held_out=["p"], baseline=[{"value": "p", "guess": guess, "because": WHY}])
    (one,) = read(value("p", 1e6, os="a"), cell(9.0, os="a"), simulation=simulation)
    assert one.is_exact_by_print is is_exact
    assert (one.skill is None, one.can_fail) == (is_exact, not is_exact)


@pytest.mark.parametrize("bound", [">=", "<=", "<", ">", "~", "<~"])
def test_only_at_least_and_at_most_are_bounds(bound: str) -> None:
    (one,) = read(value("p", bound=bound, os="a"), cell(90, os="a"))
    assert one.is_bound is (bound not in ("~", "<~"))
    assert one.can_fail is one.is_counted is not one.is_bound


def test_free_numbers_are_counted_per_fitted_metric() -> None:
    values = [value("p", os="a"), value("q", os="b"), value("t", metric="rtt_mean_ns", os="a")]
    simulation = machines({"a": ["p", "t"], "b": ["q"], "c": ["q"]})
    assert freedoms(published(*values), simulation) == [
        Freedom("goodput_bps", 2, 2),
        Freedom("rtt_mean_ns", 1, 1),
    ]
    assert Freedom("goodput_bps", 3, 2).left == -1
