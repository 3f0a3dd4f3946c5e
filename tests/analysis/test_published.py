"""Printed numbers find the conditions that they belong to, and our numbers beside them."""

import pytest
from planned_runs import PlannedRun, planned_run

from lanlab.analysis import Summary, summarise
from lanlab.analysis.published import points_for
from lanlab.analysis.published_statements import Statement, statements


@pytest.fixture(scope="module")
def manford() -> PlannedRun:
    return planned_run("manford-kolahi", "quick", 100_000_000)


@pytest.fixture(scope="module")
def milanovic() -> PlannedRun:
    return planned_run("milanovic-srbljic", "quick", 10_000_000)


def goodputs(found: PlannedRun) -> list[Summary]:
    return summarise(found.run, found.trials, "throughput", "goodput_bps")


def statement(found: PlannedRun, identifier: str) -> Statement:
    all_of_them = statements(found.run, found.trials, found.published)
    return next(one for one in all_of_them if one.value.id == identifier)


def test_a_mean_is_shown_next_to_its_condition_under_the_system_it_was_measured_on(
    manford: PlannedRun,
) -> None:
    """384 bytes over IPv6: both systems of the study, each with mean and deviation."""
    here = {"ip_version": 6, "message_size_bytes": 384}
    summary = next(one for one in goodputs(manford) if one.factors == here)

    points = points_for(summary, manford.published)

    assert {(point.series, point.value.statistic, point.value.si) for point in points} == {
        ("vista", "mean", 69.1e6),
        ("vista", "sd", 1.5e6),
        ("xp", "mean", 58.8e6),
        ("xp", "sd", 0.55e6),
    }


def test_a_number_belongs_to_one_condition(manford: PlannedRun) -> None:
    matched = [
        point.value.id
        for summary in goodputs(manford)
        for point in points_for(summary, manford.published)
    ]

    assert matched
    assert len(matched) == len(set(matched))


def test_a_published_number_is_either_a_point_or_a_statement(manford: PlannedRun) -> None:
    points = {
        point.value.id
        for summary in goodputs(manford)
        for point in points_for(summary, manford.published)
    }
    stated = {one.value.id for one in statements(manford.run, manford.trials, manford.published)}

    assert not points & stated


def test_a_published_maximum_is_compared_within_its_ip_version(
    manford: PlannedRun,
) -> None:
    """IPv4 gets further than IPv6, and must not stand in for it."""
    of_ipv6 = [one.mean or 0.0 for one in goodputs(manford) if one.factors["ip_version"] == 6]

    found = statement(manford, "r.abs.vista.ipv6.max")

    assert found.ours == max(of_ipv6)
    assert found.ours < max(one.mean or 0.0 for one in goodputs(manford))


def test_a_share_of_the_link_is_compared_with_our_share_of_ours(milanovic: PlannedRun) -> None:
    found = statement(milanovic, "u500.pen.half")

    assert found.series == "pentium, nt4"
    assert found.ours == pytest.approx(1.0)


def test_a_share_of_an_unlimited_link_has_no_counterpart() -> None:
    found = statement(planned_run("milanovic-srbljic", "quick", None), "u500.pen.half")

    assert (found.ours, found.how) == (None, "this link has no rate of its own")


def test_known_wrong_values_are_not_compared(manford: PlannedRun) -> None:
    sent = {"ip_version": 6, "message_size_bytes": 384}
    summary = next(one for one in goodputs(manford) if one.factors == sent)
    known = {point.value.id for point in points_for(summary, manford.published)}
    known.add("r.abs.vista.ipv6.max")
    values = [
        value.model_copy(update={"status": "wrong"}) if value.id in known else value
        for value in manford.published.value
    ]
    printed = manford.published.model_copy(update={"value": tuple(values)})

    assert points_for(summary, printed) == ()
    stated = {one.value.id for one in statements(manford.run, manford.trials, printed)}
    assert stated and not stated & known


def test_a_ratio_of_two_machines_has_no_counterpart(milanovic: PlannedRun) -> None:
    found = statement(milanovic, "u2.cel_pen")

    assert found.ours is None
    assert "compares systems" in found.how


def test_a_run_whose_trials_all_failed_has_no_counterparts() -> None:
    found = planned_run("milanovic-srbljic", "tiny", fails=lambda planned: True)

    stated = statements(found.run, found.trials, found.published)

    assert stated
    assert {(one.ours, one.how) for one in stated} == {(None, "no trial has ended")}


def test_numbers_of_other_experiments_are_not_compared() -> None:
    found = planned_run("brutman-mtcp", "quick", 10_000_000)
    summaries = summarise(found.run, found.trials, "speed-test", "goodput_bps")

    matched = [
        (summary.factors["bytes"], point.value.id)
        for summary in summaries
        for point in points_for(summary, found.published)
    ]

    # Six machines with their adapters, sending and receiving, all of one amount.
    assert len(matched) == 12
    assert {amount for amount, _ in matched} == {4_194_304}
    assert all(identifier.startswith("speedtest.") for _, identifier in matched)
    assert statements(found.run, found.trials, found.published) == ()


def test_a_published_maximum_is_a_statement(
    manford: PlannedRun,
) -> None:
    here = {"ip_version": 6, "message_size_bytes": 384}
    mean = next(
        one for one in manford.published.value
        if one.statistic == "mean" and one.condition.items() >= here.items()
    )  # fmt: skip
    maximum = mean.model_copy(update={"id": "most", "statistic": "maximum"})
    published = manford.published.model_copy(update={"value": (mean, maximum)})
    summary = next(one for one in goodputs(manford) if one.factors == here)
    assert [point.value.id for point in points_for(summary, published)] == [mean.id]
