"""Studies without experiments, and published tables."""

import copy
from typing import Any

import pytest

from lanlab.errors import BadStudy
from lanlab.studies.load import load_study, parse_published, parse_study
from lanlab.studies.model import Study
from lanlab.studies.published import MissingValue, PublishedTable
from lanlab.studies.tables import laid_out

EMPTY: dict[str, Any] = {"schema": 1, "id": "files", "title": "Files"}
EXPERIMENT: dict[str, Any] = {
    "id": "sweep",
    "title": "Sweep",
    "workload": "stream",
    "metrics": ["goodput_bps"],
}


def refused(**changes: Any) -> str:
    with pytest.raises(BadStudy) as caught:
        parse_study({**EMPTY, **changes}, "study.toml")
    return str(caught.value)


def test_a_study_of_an_earlier_store_can_be_read() -> None:
    assert Study.model_validate({**EMPTY, "waiting": []}) == Study.model_validate(EMPTY)


def test_a_study_needs_experiments_and_scales() -> None:
    assert "`experiment`: found none; allowed: at least one" in refused()
    assert "`scale`: found {}; allowed: at least one" in refused(experiment=[EXPERIMENT])
    assert "`experiment.sweep.id`: found 2 experiments of this id" in refused(
        experiment=[EXPERIMENT, EXPERIMENT], scale={"quick": {}}
    )
    figure = {"figure": "bars", "title": "", "experiments": ["copies"]}
    assert "`figure.0.experiments`: found unknown name 'copies'" in refused(
        figure=[figure], experiment=[EXPERIMENT], scale={"quick": {}}
    )


def test_a_published_table_is_laid_out_as_it_was_printed() -> None:
    published = load_study("schomer-claason").published
    results, w98se, w2ksp2 = (laid_out(published, table) for table in published.table)

    assert results.headings == (
        "operating system", "protocol", "data set", "Time", "Throughput",
    )  # fmt: skip
    words, cells = results.rows[2]
    assert words == ("Windows 98 SE", "NWLink (IPX/SPX)", "1 file of 623 MB")
    assert [cell and cell.published for cell in cells] == ["320", "16"]
    assert len(results.rows) == 12
    first = [cells[0] for _, cells in w98se.rows]
    assert all(isinstance(cell, MissingValue) and cell.feasible for cell in first)
    assert [cell and cell.published for cell in w2ksp2.rows[1][1]] == [
        "113", "115", "115", "112", "1 1 1",
    ]  # fmt: skip


def test_tables_may_have_mixed_and_missing_rows() -> None:
    receivers = load_study("milanovic-srbljic").published
    [table] = receivers.table
    rows = {words[0]: cells for words, cells in laid_out(receivers, table).rows}
    assert [cell and cell.published for cell in rows["Kind of memory"]] == [
        "70 ns", "60 ns, EDO", "PC-100",
    ]  # fmt: skip

    speeds = load_study("brutman-mtcp").published
    reported = laid_out(speeds, speeds.table[1])
    assert [words[0] for words, _ in reported.rows] == [
        "Compaq Contura Aero (486SL, 33 MHz)", "Pentium III",
    ]  # fmt: skip
    # Nobody knows in which column it stood.
    assert [cell and cell.id for cell in reported.rows[0][1]] == [
        "rep.contura.mhz", None, None, "rep.contura.rate",
    ]  # fmt: skip


def test_two_numbers_in_one_cell_are_refused() -> None:
    published = load_study("schomer-claason").published
    value = published.value[0]
    twice = published.model_copy(
        update={"value": (*published.value, value.model_copy(update={"id": "again"}))}
    )

    with pytest.raises(ValueError, match=rf"results: {value.id}, again are for the same cell"):
        laid_out(twice, twice.table[0])
    lost = PublishedTable.model_validate(
        {**published.table[0].model_dump(), "row_factors": ["weather"]}
    )
    with pytest.raises(ValueError, match="results: no factor `weather`"):
        laid_out(published, lost)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("value", {"status": "odd"}, "`value.t.w98se.tcpip.ds1.time.status`: found 'odd'; allowed"),
        ("value", {"statistic": "median"}, "allowed: 'trial', 'mean', 'sd',"),
        ("missing", {"value": 3}, "`missing.b.w98se.tcpip.ds1.trial1.value`: found an unknown key"),
        ("missing", {"feasible": [1]}, "found [1]"),
        ("table", {"rows": [{"title": ""}]}, "exactly one of `row_factors` and `rows`"),
        (
            "table",
            {"row_factors": ["weather"]},
            "`table.results`: found table results: no factor `",
        ),
        ("table", {"id": "appendix-b-w98se"}, "`table.appendix-b-w98se.id`: found the id twice"),
        ("factor", {"name": "take"}, "`factor.take.name`: found 'take'; allowed: not metric, take"),
        ("factor", {"name": "trial"}, "`factor.trial.id`: found the id twice; allowed: once"),
        ("discrepancy", {"severity": "huge"}, "`discrepancy.d1.severity`: found 'huge'; allowed: "),
        ("discrepancy", {"kind": "taste"}, "`discrepancy.d1.kind`: found 'taste'"),
        ("discrepancy", {"recompute": "1 > 2"}, "`discrepancy.d1.recompute`: found what comes to"),
        ("discrepancy", {"recompute": "x"}, "`discrepancy.d1.recompute`: found `x`; allowed: num"),
        ("discrepancy", {"why": "?"}, "`discrepancy.d1.why`: found an unknown key; allowed: id, k"),
    ],
)
def test_an_error_in_a_publication_is_reported_with_its_place(
    part: str, change: dict[str, Any], message: str
) -> None:
    published = load_study("schomer-claason").published
    data = copy.deepcopy(published.model_dump(mode="json", exclude_none=True))
    data[part][0] |= change

    with pytest.raises(BadStudy) as caught:
        parse_published(data, "published.toml")

    assert message in str(caught.value)


def test_a_figure_of_chosen_levels_must_name_factors_of_its_experiments() -> None:
    experiment = EXPERIMENT | {"factors": {"ip_version": [4, 6]}}
    figure = {"figure": "bars", "title": "Bars", "experiments": ["sweep"], "at": {"ip_versoin": 4}}
    said = refused(experiment=[experiment], figure=[figure], scale={"quick": {}, "full": {}})
    assert "`figure.0.at.ip_versoin`: found unknown name 'ip_versoin'; allowed: ip_version" in said
