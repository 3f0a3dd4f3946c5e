"""Places where a publication contradicts itself, recomputed from its published values."""

import pytest

from lanlab.analysis.published.discrepancies import KINDS, checked_discrepancies
from lanlab.studies.load import known_studies, load_study
from lanlab.studies.published import Published


@pytest.fixture(scope="module")
def schomer() -> Published:
    return load_study("schomer-claason").published


@pytest.mark.parametrize("name", known_studies())
def test_every_discrepancy_is_reported_once_and_recomputed(name: str) -> None:
    published = load_study(name).published
    found = checked_discrepancies(published)

    assert {one.discrepancy.id for one in found} == {one.id for one in published.discrepancy}
    for one in found:
        assert one.shown is (None if one.discrepancy.recompute is None else True)
    kinds = [KINDS.index(one.discrepancy.kind) for one in found]
    assert kinds == sorted(kinds)


def test_unconfirmed_discrepancies_are_reported_as_such(schomer: Published) -> None:
    values = tuple(
        one.model_copy(update={"value": 29.0}) if one.id == "t.w2ksp2.nwlink.ds2.thr" else one
        for one in schomer.value
    )
    found = checked_discrepancies(schomer.model_copy(update={"value": values}))
    assert [one.discrepancy.id for one in found if one.shown is False] == ["d3"]
