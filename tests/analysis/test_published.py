"""Printed numbers find the conditions that they belong to, and our numbers beside them."""

import pytest
from planned_runs import PlannedRun, planned_run

from lanlab.analysis.published.values import points_for
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary


@pytest.fixture(scope="module")
def manford() -> PlannedRun:
    return planned_run("manford-kolahi", "quick", 100_000_000)


def goodputs(found: PlannedRun) -> list[Summary]:
    return RunData(found.run, found.trials).summaries("throughput", "goodput_bps")


def test_a_mean_is_shown_next_to_its_condition_under_the_system_it_was_measured_on(
    manford: PlannedRun,
) -> None:
    """384 bytes over IPv6: both systems of the study, each with mean and deviation."""
    here = {"ip_version": 6, "message_size_bytes": 384}
    summary = next(one for one in goodputs(manford) if one.factors == here)

    points = points_for(summary, manford.published)

    assert {(point.series, point.value.statistic, point.value.si) for point in points} == {
        ("Windows Vista SP1", "mean", 69.1e6),
        ("Windows Vista SP1", "sd", 1.5e6),
        ("Windows XP", "mean", 58.8e6),
        ("Windows XP", "sd", 0.55e6),
    }


def test_a_number_belongs_to_one_condition(manford: PlannedRun) -> None:
    matched = [
        point.value.id
        for summary in goodputs(manford)
        for point in points_for(summary, manford.published)
    ]

    assert matched
    assert len(matched) == len(set(matched))


@pytest.mark.parametrize("of", [{"status": "wrong"}, {"experiment": "another"}])
def test_wrong_values_and_those_of_other_experiments_are_not_compared(
    manford: PlannedRun, of: dict[str, str]
) -> None:
    sent = {"ip_version": 6, "message_size_bytes": 384}
    summary = next(one for one in goodputs(manford) if one.factors == sent)
    known = {point.value.id for point in points_for(summary, manford.published)}
    known.add("r.abs.vista.ipv6.max")
    values = [
        value.model_copy(update=of) if value.id in known else value
        for value in manford.published.value
    ]
    printed = manford.published.model_copy(update={"value": tuple(values)})

    assert points_for(summary, printed) == ()


def test_numbers_of_another_amount_are_not_compared() -> None:
    found = planned_run("brutman-mtcp", "quick", 10_000_000)
    summaries = RunData(found.run, found.trials).summaries("speed-test", "goodput_bps")

    matched = [
        (summary.factors["bytes"], point.value.id)
        for summary in summaries
        for point in points_for(summary, found.published)
    ]

    # Six machines with their adapters, sending and receiving, all of one amount.
    assert len(matched) == 12
    assert {amount for amount, _ in matched} == {4_194_304}
    assert all(identifier.startswith("speedtest.") for _, identifier in matched)


def test_a_published_maximum_is_of_no_single_condition(
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
