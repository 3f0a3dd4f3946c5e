"""
No published number was lost or changed.

`reference/` holds what was typed from the papers once: each number as printed, its value, its unit,
and the value in SI units; and which figures, findings, discrepancies and losses there are. The
studies' files say the same in lanlab's words and units, and are held against it here.
"""

import csv
from pathlib import Path

import pytest
from every_one import check_each

from lanlab.studies.expressions import evaluate
from lanlab.studies.load import LoadedStudy, known_studies, load_study
from lanlab.studies.published import MissingValue, PublishedValue
from lanlab.studies.tables import laid_out

Row = dict[str, str]


def read(name: str) -> list[Row]:
    with (Path(__file__).parent / "reference" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


NUMBERS = read("numbers.csv")
OTHERS = read("others.csv")
STUDIES: dict[str, LoadedStudy] = {name: load_study(name) for name in known_studies()}
PRINTED = {
    (name, value.id): value for name, study in STUDIES.items() for value in study.published.printed
}

#: lanlab's unit for one of the reference, and how many of it that is.
UNITS = {
    "s": ("ns", 1e9),
    "B/s": ("bit/s", 8.0),
    "B": ("bytes", 1.0),
    "bit": ("bits", 1.0),
    "bit/s": ("bit/s", 1.0),
    "Hz": ("Hz", 1.0),
    "m": ("m", 1.0),
}
STATUS = {
    "": None,
    "missing": "missing",
    "approx": "approximate",
    "heading-lost": "heading lost",
    "ocr-repaired": "OCR repaired",
    "wrong": "wrong",
    "approx-column-uncertain": "column uncertain",
}


#: Words of units that mean the same.
SAME = {"Bytes": "B", "bytes": "B", "share of link capacity": "share"}


def others(what: str) -> list[tuple[str, str]]:
    return [(row["study"], row["id"]) for row in OTHERS if row["what"] == what]


def number_of(row: Row) -> PublishedValue | MissingValue:
    return PRINTED[row["study"], row["id"]]


NAMED_NUMBERS = [(f"{row['study']}:{row['id']}", row) for row in NUMBERS]


def test_exactly_the_526_printed_numbers_exist() -> None:
    assert len(NUMBERS) == 526
    assert sorted(PRINTED) == sorted((row["study"], row["id"]) for row in NUMBERS)
    assert sum(len(list(study.published.printed)) for study in STUDIES.values()) == 526


def test_every_number_matches_the_reference() -> None:
    check_each(NAMED_NUMBERS, check_printed)


def check_printed(row: Row) -> None:
    """Hold one number against its row: characters, value, status, unit and bound."""
    found = number_of(row)

    assert found.published == row["published"]
    if row["value"]:
        assert isinstance(found, PublishedValue)
        assert found.value == float(row["value"])
        assert found.status == STATUS[row["status"]]
        unit = row["unit"].partition(" (")[0]
        assert found.unit in (unit, SAME.get(unit))
        # "About" is a status there and a bound here.
        about = "~" if row["status"].startswith("approx") else None
        assert found.bound == (row["bound"] or about)
    else:
        assert isinstance(found, MissingValue)
        assert row["status"] in ("", "missing")
        for key in ("feasible", "feasible_if_truncated"):
            bounds = tuple(float(one) for one in row[key].split("-") if one)
            assert (getattr(found, key) or ()) == bounds


def test_every_converted_value_equals_the_reference() -> None:
    with_value = [(name, row) for name, row in NAMED_NUMBERS if row["value"]]
    assert len(with_value) > 500
    check_each(with_value, check_unit)


def check_unit(row: Row) -> None:
    found = number_of(row)

    assert isinstance(found, PublishedValue)
    if row["si_unit"] in UNITS:
        unit, factor = UNITS[row["si_unit"]]
        assert found.si_unit == unit
    else:  # a ratio, a count of something, or a bare name such as "Category 5e"
        assert row["si_unit"] in ("1", "")
        assert found.si_unit not in {unit for unit, _ in UNITS.values()}
        factor = 1.0
    assert found.si == pytest.approx(float(row["si"] or row["value"]) * factor, rel=1e-12)
    if row["si_if_1024"]:
        assert found.si_if_1024 == pytest.approx(float(row["si_if_1024"]) * factor, rel=1e-12)
    else:
        assert found.si_if_1024 is None


def test_all_27_figures_exist_with_their_series() -> None:
    figures = [
        (name, figure.number, str(len(figure.series)))
        for name, study in STUDIES.items()
        for figure in study.published.figure
    ]
    wanted = [(row["study"], row["id"], row["detail"]) for row in OTHERS if row["what"] == "figure"]

    assert len(figures) == 27
    assert sorted(figures) == sorted(wanted)


def test_all_9_losses_exist() -> None:
    lost = [name for name, study in STUDIES.items() for _ in study.published.lost]

    assert len(lost) == 9
    assert sorted(lost) == sorted(name for name, _ in others("lost"))


def test_all_88_findings_match_the_reference() -> None:
    findings = {(name, one.id): one for name, study in STUDIES.items() for one in study.findings}
    rows = [row for row in OTHERS if row["what"] == "finding"]

    # What the text says only in parts, of which the reference has the parts, and what it lacks.
    of_parts = [
        ("poo-tan", "f31"),
        ("manford-kolahi", "f17"),
        ("manford-kolahi", "f18"),
        ("milanovic-srbljic", "f19"),
    ]
    assert len(rows) == 88
    assert sorted(findings) == sorted([*others("finding"), *of_parts])
    for row in rows:
        found = findings[row["study"], row["id"]]
        assert found.decided_by == row["detail"].replace("simulator", "simulation"), found.id
        assert found.where and found.expected
        # What the reference computes, the finding does.
        assert not row["recomputes"] or found.expected.recompute, found.id


def test_all_66_discrepancies_have_kind_severity_and_correction() -> None:
    found = {
        (name, one.id): one
        for name, study in STUDIES.items()
        for one in study.published.discrepancy
    }
    rows = [row for row in OTHERS if row["what"] == "discrepancy"]

    assert len(found) == 66
    assert sorted(found) == sorted(others("discrepancy"))
    for row in rows:
        one = found[row["study"], row["id"]]
        assert " ".join(filter(None, (one.kind, one.severity, one.correct))) == row["detail"]
        assert not row["recomputes"] or one.recompute, one.id


RECOMPUTED = [
    (f"{name}:{key}", (study, expression))
    for name, study in STUDIES.items()
    for key, expression in [
        *((one.id, one.recompute) for one in study.published.discrepancy),
        *((one.id, one.expected and one.expected.recompute) for one in study.findings),
    ]
    if expression
]


def test_stated_values_recompute_from_published_numbers() -> None:
    def check(stated: tuple[LoadedStudy, str]) -> None:
        study, expression = stated
        assert evaluate(expression, study.published.numbers().__getitem__) is True

    assert len(RECOMPUTED) > 50
    check_each(RECOMPUTED, check)


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_appears_in_one_cell_of_one_table(name: str) -> None:
    published = STUDIES[name].published
    cells = [
        cell.id
        for table in published.table
        for _, row in laid_out(published, table).rows
        for cell in row
        if cell is not None
    ]

    assert len(set(cells)) == len(cells)
    assert {value.id for value in published.printed if value.kind == "table"} <= set(cells)


@pytest.mark.parametrize("name", STUDIES)
def test_conditions_of_numbers_use_factors_of_their_study(name: str) -> None:
    published = STUDIES[name].published
    levels = {f.name: {one.level for one in f.levels} for f in published.factor}
    compares = {"numerator", "denominator", "minuend", "subtrahend"}
    named_in = {str(level) for known in levels.values() for level in known}
    named_in |= {"ipv4", "ipv6", "windows"}
    for value in published.printed:
        if value.kind not in ("table", "text", "restated", "derived"):
            continue
        for key, level in value.condition.items():
            if key in compares:
                assert level in named_in, value.id
            elif key in levels:
                assert not levels[key] or level in levels[key], value.id
            else:  # a parameter that the study keeps
                assert key == "bytes" or (key, level) == ("transport", "tcp"), value.id


@pytest.mark.parametrize("name", STUDIES)
def test_measured_metrics_are_declared_with_their_unit(name: str) -> None:
    published = STUDIES[name].published
    units = {metric.name: metric.unit for metric in published.metric}
    for value in published.value:
        measured = value.kind in ("table", "text", "restated", "derived")
        if not measured or value.statistic in ("level", "fact"):
            continue
        assert value.metric in units, value.id
        if value.statistic in ("ratio", "gain", "deficit", "share_of_link"):
            assert value.si_unit == "ratio", value.id
        else:
            assert value.si_unit == units[value.metric], value.id
