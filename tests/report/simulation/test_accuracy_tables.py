"""The tables of how near a simulation comes to print, cell by cell, and what is said of them."""

from dataclasses import replace
from typing import Any

import pytest

from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.analysis.simulation.model_error import cross_validated, held_out_values
from lanlab.report.simulation.accuracy_table import (
    TITLE,
    accuracy_count_table,
    accuracy_table,
)
from lanlab.studies.load import load_study
from lanlab.studies.machines import Simulation

LOADED = load_study("manford-kolahi")
STUDY, PUBLISHED = LOADED.study, LOADED.published
KNOWN = next(one for one in PUBLISHED.value if one.metric == "goodput_bps")


def one(
    published: float = 80e6, simulated: float = 84e6, statistic: str = "mean", **given: Any
) -> Accuracy:
    changed = {key: given.pop(key) for key in ("id", "bound", "condition") if key in given}
    value = KNOWN.model_copy(
        update={"statistic": statistic, "bound": None, "condition": {}, "si": published, **changed}
    )
    made = Accuracy(value, "held out", published, simulated, "peak", ())
    return replace(made, **given)


def row(found: Accuracy, *others: Accuracy) -> dict[str, tuple[object, str]]:
    table = accuracy_table([found, *others], STUDY)
    cells = zip(table.columns, table.rows[0], strict=True)
    return {column.name or column.heading: (cell.value, cell.text) for column, cell in cells}


def test_rows_have_published_simulated_and_guessed_values() -> None:
    found = one(
        id="a.b", bound="~", condition={"os": "xp", "ip_version": 6},
        baseline=90e6, low=82e6, high=85e6,
    )  # fmt: skip
    assert row(found) == {
        "id": ("a.b", ""),
        "about": ("throughput, Windows XP, IPv6", "throughput, Windows XP, IPv6"),
        "published": (None, "about 80.00 Mbit/s"),
        "bound": ("about", ""),
        "simulated": (None, "84.00 Mbit/s"),
        "simulated_low": (82e6, ""),
        "simulated_high": (85e6, ""),
        "left open by the fit": (None, "82.00 Mbit/s … 85.00 Mbit/s"),
        "interval_low": (None, ""),
        "interval_high": (None, ""),
        "interval by the others held out": (None, ""),
        "error_ratio": (pytest.approx(0.05), "+5.0 %"),
        "baseline": (90e6, ""),
        "estimated from the publication": (None, "90.00 Mbit/s"),
        "skill": (pytest.approx(1 - 0.05 / 0.125), "0.60"),
        "standing": ("held out", "held out"),
        "how": ("peak", "peak"),
    }
    (cells,) = accuracy_table([found], STUDY).rows
    assert [cells[2].value, cells[5].value] == [80e6, 84e6]


def test_column_names_fit_csv_page_and_terminal() -> None:
    table = accuracy_table([one()], STUDY)
    columns = [(c.name, c.heading, c.short, c.is_number, c.rank) for c in table.columns]
    assert columns == [
        ("id", "", "", False, 0),
        ("about", "published value", "published value", False, 0),
        ("published", "", "", True, 0),
        ("bound", "", "", False, 0),
        ("", "published", "published", True, 0),
        ("simulated", "", "", True, 0),
        ("", "simulated", "simulated", True, 0),
        ("simulated_low", "", "", True, 0),
        ("simulated_high", "", "", True, 0),
        ("", "left open by the fit", "left open by the fit", True, 1),
        ("interval_low", "", "", True, 0),
        ("interval_high", "", "", True, 0),
        ("", "interval by the others held out", "by the others held out", True, 1),
        ("error_ratio", "error", "error", True, 0),
        ("baseline", "", "", True, 0),
        ("", "estimated from the publication", "estimated", True, 0),
        ("skill", "skill", "skill", True, 0),
        ("standing", "predicted or fitted", "predicted or fitted", False, 0),
        ("how", "read off as", "", False, 0),
    ]
    assert (table.name, table.title) == ("accuracy", TITLE)
    counts = accuracy_count_table([one()], STUDY, PUBLISHED)
    assert [(c.name, c.heading, c.short, c.is_number, c.rank) for c in counts.columns] == [
        ("standing", "published values", "published values", False, 0),
        ("within_0.05", "within 5 %", "within 5 %", True, 0),
        ("within_0.1", "within 10 %", "within 10 %", True, 0),
        ("within_0.2", "within 20 %", "within 20 %", True, 0),
        ("values", "of", "of", True, 0),
        ("worth", "what that is worth", "what that is worth", False, 0),
    ]


@pytest.mark.parametrize(
    ("given", "column", "cell"),
    [
        ({"baseline": None}, "skill", (None, "")),
        ({"baseline": None}, "estimated from the publication", (None, "")),
        ({"baseline": 80e6}, "skill", (None, "the estimate is exact")),
        ({"baseline": 81e6}, "skill", (pytest.approx(-3), "no better than the estimate")),
        ({"baseline": 84e6}, "skill", (0, "no better than the estimate")),
        ({"simulated": 76e6}, "error_ratio", (pytest.approx(-0.05), "\N{MINUS SIGN}5.0 %")),
        ({"simulated": 80e6}, "error_ratio", (0, "0.0 %")),
        ({"repeats": "c.d"}, "standing", ("held out, as c.d", "held out, follows from another")),
        ({"low": 82e6}, "left open by the fit", (None, "")),
        ({"high": 85e6}, "left open by the fit", (None, "")),
        ({"bound": None}, "bound", (None, "")),
    ],
)
def test_unknown_values_are_left_empty(
    given: dict[str, Any], column: str, cell: tuple[object, str]
) -> None:
    assert row(one(**given))[column] == cell


@pytest.mark.parametrize(
    ("statistic", "shown"),
    [
        ("ratio", "0.500 times"),
        ("gain", "0.500 times"),
        ("deficit", "0.500 times"),
        ("share_of_link", "50.0 % of the link"),
    ],
)
def test_numbers_other_than_rates_keep_their_unit(statistic: str, shown: str) -> None:
    compared = {"numerator": "vista", "denominator": "xp", "ip_version": 4}
    found = row(one(0.5, 0.5, statistic, condition=compared))
    assert found["simulated"][1] == shown
    assert found["about"][1] == "throughput, vista to xp, IPv4"
    alone = {"numerator": "vista", "ip_version": 4}
    assert row(one(0.5, 0.5, statistic, condition=alone))["about"][1] == "throughput, IPv4"


@pytest.mark.parametrize(
    ("statistic", "words"), [("minimum", "smallest "), ("maximum", "largest "), ("mean", "")]
)
def test_the_ends_of_a_range_are_told_apart(statistic: str, words: str) -> None:
    about = row(one(statistic=statistic, condition={"ip_version": 4}))["about"][1]
    assert about == f"{words}throughput, IPv4"


def test_each_value_has_the_interval_from_the_others() -> None:
    found = [one(id=f"v{n}", simulated=80e6 * (1 + e)) for n, e in enumerate((0.6, 0.02, 0.01))]
    found += [one(id="v3", simulated=79e6, standing="predicted before the fit")]
    far, *_ = cross_validated(held_out_values(found))
    seen = row(*found)
    assert seen["interval_low"] == (far.low, "") and seen["interval_high"] == (far.high, "")
    text = seen["interval by the others held out"][1]
    assert text.endswith(" Mbit/s, published value outside")
    inside = row(*found[1:], found[0])["interval by the others held out"][1]
    assert inside and "outside" not in inside
    fitted = replace(found[0], standing="fitted")
    assert row(fitted, *found)["interval_low"] == (None, "")
    assert row(found[3], *found[:3])["interval_low"][0] is not None


def with_numbers(*fitted: list[str]) -> Simulation:
    numbers = dict(zip(("interrupt_us", "protocol_us"), fitted, strict=False))
    made = {name: {"value": 1.0, "fitted": own} for name, own in numbers.items()}
    machine = {"id": "pc", "title": "", "numbers": made}
    return Simulation.model_validate({"machine": [machine]})


@pytest.mark.parametrize(
    ("values", "said"),
    [(2, "no degree of"), (3, "1 degree of"), (4, "2 degrees of")],
)
def test_fitted_values_state_their_degrees_of_freedom(values: int, said: str) -> None:
    names = [one.id for one in PUBLISHED.value if one.metric == "goodput_bps"][:values]
    study = STUDY.model_copy(update={"simulation": with_numbers(names, names[:1])})
    fitted = replace(one(), standing="fitted")
    (cells,) = accuracy_count_table([fitted], study, PUBLISHED).rows
    worth = f"2 free numbers for {values} values of goodput: {said} freedom left"
    assert [cell.text for cell in cells] == ["fitted", "1", "1", "1", "1", worth]
    assert [cell.value for cell in cells[1:5]] == [1, 1, 1, 1]
    without = STUDY.model_copy(update={"simulation": None})
    assert accuracy_count_table([fitted], without, PUBLISHED).rows[0][-1].text == ""


def test_every_counted_standing_has_a_row() -> None:
    near = [one(id=f"v{n}", baseline=90e6) for n in range(3)]
    far = one(id="v3", simulated=100e6, baseline=81e6)
    exact = one(id="v4", baseline=80e6)
    other = replace(one(id="v5", simulated=72.1e6), standing="not fitted")
    bound = replace(one(id="v6", bound=">="), standing="predicted before the fit")
    found = [*near, far, exact, other, bound]
    table = accuracy_count_table(found, STUDY, PUBLISHED)
    inside = sum(each.is_inside for each in cross_validated([*near, far]))
    assert [[cell.text for cell in cells] for cells in table.rows] == [
        [
            "held out", "3", "3", "3", "4",
            f"3 of 4 nearer than print; {inside} of 4 in the interval by the others",
        ],
        ["not fitted", "0", "1", "1", "1", ""],
    ]  # fmt: skip
    three = accuracy_count_table(near, STUDY, PUBLISHED)
    assert three.rows[0][-1].text == "3 of 3 nearer than print"
