"""Published numbers held against themselves, with what was worked out from them elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from scipy import stats

from lanlab.analysis.rereading_doubts import KINDS, doubts
from lanlab.analysis.rereading_order import OrderDrift, order_drifts
from lanlab.analysis.rereading_pairs import PrintedPair, printed_pairs
from lanlab.analysis.rereading_rates import checked_rates
from lanlab.analysis.rereading_trials import printed_step, printed_trials_of
from lanlab.studies import Level, Published, known_studies, load_study


@pytest.fixture(scope="module")
def schomer() -> Published:
    return load_study("schomer-claason").published


def the_drift(drifts: tuple[OrderDrift, ...], **common: Level) -> OrderDrift:
    return next(one for one in drifts if dict(one.common) == common)


def test_the_windows_2000_trials_drift_and_those_of_windows_98_do_not(schomer: Published) -> None:
    """Slopes and p as linear regression with each condition's own mean gives them elsewhere."""
    drifts = order_drifts(schomer)

    late = the_drift(drifts, os="w2ksp2")
    assert late.drift is not None and late.p_holm is not None
    assert late.drift.slope / 1e9 == pytest.approx(1.38, abs=0.005)
    assert (late.drift.high - late.drift.low) / 2e9 == pytest.approx(0.93, abs=0.005)
    assert late.drift.p == pytest.approx(0.0053, abs=5e-5)
    assert late.p_holm == pytest.approx(2 * late.drift.p)
    assert late.change == pytest.approx(4 * late.drift.slope)
    early = the_drift(drifts, os="w98se")
    assert early.drift is not None
    assert early.drift.slope / 1e9 == pytest.approx(0.10, abs=0.005)
    assert early.drift.p == pytest.approx(0.8389, abs=5e-5)


def test_single_conditions_drift_as_scipy_says(schomer: Published) -> None:
    found = the_drift(
        order_drifts(schomer), os="w2ksp2", protocol="netbeui", dataset="many-small-files"
    )

    theirs = stats.linregress([1, 2, 3, 4, 5], [124, 130, 132, 138, 137])
    assert found.drift is not None
    assert found.drift.slope / 1e9 == pytest.approx(theirs.slope)
    assert found.drift.p == pytest.approx(theirs.pvalue)


def test_trials_without_spread_have_a_reason_in_place_of_a_slope(schomer: Published) -> None:
    found = the_drift(
        order_drifts(schomer), os="w98se", protocol="nwlink", dataset="many-small-files"
    )
    assert found.drift is None and "equal" in found.why


def pair(pairs: tuple[PrintedPair, ...], a: str, b: str, at: Mapping[str, Level]) -> PrintedPair:
    return next(p for p in pairs if (p.a, p.b) == (a, b) and dict(p.at) == at)


def test_four_orders_of_protocols_are_not_significant(schomer: Published) -> None:
    """Those of which Holm's p over all twelve pairs is above 0.05, as worked out elsewhere."""
    own = [one for one in printed_pairs(schomer) if one.factor == "protocol"]

    missed = {
        (one.at["os"], one.at["dataset"], one.a, one.b): one.p_holm
        for one in own
        if one.p_holm is not None and one.p_holm > 0.05
    }
    assert len(own) == 12
    assert missed == {
        ("w98se", "one-large-file", "tcpip", "netbeui"): pytest.approx(0.07, abs=0.005),
        ("w98se", "many-small-files", "tcpip", "netbeui"): pytest.approx(0.56, abs=0.005),
        ("w2ksp2", "one-large-file", "nwlink", "netbeui"): pytest.approx(0.71, abs=0.005),
        ("w2ksp2", "many-small-files", "nwlink", "netbeui"): pytest.approx(0.71, abs=0.005),
    }


def test_a_lost_trial_is_tried_with_all_that_it_can_have_been(schomer: Published) -> None:
    """By both rules of rounding together: p from that of the most favourable to the least."""
    at = {"os": "w98se", "dataset": "one-large-file"}
    found = pair(printed_pairs(schomer), "tcpip", "netbeui", at)

    tried = [
        stats.ttest_ind([263, 263, 261, 263, x], [266, 264, 265, 264, y], equal_var=False).pvalue
        for x in range(263, 270)
        for y in range(264, 271)
    ]
    assert found.p_range == pytest.approx((min(tried), max(tried)))
    later = pair(printed_pairs(schomer), "nwlink", "netbeui", {**at, "os": "w2ksp2"})
    assert later.p_range is None


def test_printed_deviations_make_tests_too() -> None:
    pairs = printed_pairs(load_study("manford-kolahi").published)

    [rtt] = [one for one in pairs if one.metric == "rtt_mean_ns"]
    theirs = stats.ttest_ind_from_stats(12.3, 1.26, 40, 14.1, 1.33, 40, equal_var=False)
    assert rtt.test is not None
    assert rtt.test.p_two_sided == pytest.approx(theirs.pvalue, rel=1e-6)
    assert {one.factor for one in pairs} == {"os", "ip_version"}


@pytest.mark.parametrize("name", ["brutman-mtcp", "milanovic-srbljic", "poo-tan"])
def test_studies_of_single_measurements_have_no_pair_to_test(name: str) -> None:
    published = load_study(name).published
    assert printed_pairs(published) == () and order_drifts(published) == ()


def test_two_throughputs_do_not_follow_from_size_and_time(schomer: Published) -> None:
    rates = checked_rates(schomer)

    assert len(rates) == 12
    assert {one.rate.id for one in rates if not one.follows} == {
        "t.w2ksp2.nwlink.ds2.thr",
        "t.w2ksp2.netbeui.ds2.thr",
    }


def test_all_rates_of_old_pcs_follow_with_1024_bytes_and_none_with_1000() -> None:
    rates = checked_rates(load_study("brutman-mtcp").published)

    assert len(rates) == 22
    assert all(one.follows for one in rates)
    assert not any(one.follows_with_1000 for one in rates)


def test_a_changed_number_no_longer_follows(schomer: Published) -> None:
    values = tuple(
        one.model_copy(update={"value": 20.0, "si": 20e6, "published": "20"})
        if one.id == "t.w98se.tcpip.ds1.thr"
        else one
        for one in schomer.value
    )
    changed = checked_rates(schomer.model_copy(update={"value": values}))
    assert sum(not one.follows for one in changed) == 3


@pytest.mark.parametrize("name", known_studies())
def test_every_discrepancy_is_told_once_and_what_can_be_computed_holds(name: str) -> None:
    published = load_study(name).published
    found = doubts(published)

    assert {one.discrepancy.id for one in found} == {one.id for one in published.discrepancy}
    for one in found:
        assert one.shown is (None if one.discrepancy.recompute is None else True)
    kinds = [KINDS.index(one.discrepancy.kind) for one in found]
    assert kinds == sorted(kinds)


def test_a_discrepancy_that_the_numbers_do_not_show_is_told_as_such(schomer: Published) -> None:
    values = tuple(
        one.model_copy(update={"value": 29.0}) if one.id == "t.w2ksp2.nwlink.ds2.thr" else one
        for one in schomer.value
    )
    found = doubts(schomer.model_copy(update={"value": values}))
    assert [one.discrepancy.id for one in found if one.shown is False] == ["d3"]


def test_steps_of_print_follow_from_the_digits(schomer: Published) -> None:
    """`263` is to a second, `1 1 1` too; `10.9` of the other study to a tenth."""
    by_id = {value.id: value for value in schomer.value}
    assert printed_step(by_id["t.w98se.tcpip.ds1.time"]) == pytest.approx(1e9)
    assert printed_step(by_id["b.w2ksp2.tcpip.ds2.trial5"]) == pytest.approx(1e9)
    others = {value.id: value for value in load_study("brutman-mtcp").published.value}
    assert printed_step(others["ftp.pcjr.xircom.send_time"]) == pytest.approx(1e8)


def test_trials_come_in_order_with_those_that_are_lost(schomer: Published) -> None:
    found = printed_trials_of(schomer)

    assert len(found) == 12
    assert [one.numbers for one in found[:1]] == [(2.0, 3.0, 4.0, 5.0)]
    assert sum(len(one.lost) for one in found) == 6
