"""The plan keeps its time, and names each of its tasks."""

import pytest

from lanlab.nas import plan
from lanlab.studies.load import parse_study
from lanlab.workloads.copy_datasets import mean_bytes

TARGETS = ("sftp://me@nas/", "nfs://nas/volume")


@pytest.mark.parametrize("scale", [plan.QUICK, plan.USUAL])
@pytest.mark.parametrize("mbps", [8, 80, 800])
@pytest.mark.parametrize("targets", [2, 7])
def test_copies_keep_the_budget(scale: plan.Scale, mbps: int, targets: int) -> None:
    speed = plan.Speed(mbps * 1e6, 200)
    tasks = plan.tasks(scale, speed, targets)
    copying_s = sum(
        mean_bytes(one.dataset) / (mbps * 125_000)
        if one.id.startswith("large")
        else mean_bytes(one.dataset) / 16_000 / 200
        for one in tasks
    )
    assert len({one.id for one in tasks}) == 8
    # The rest is for setting up, comparing and cleaning up.
    assert copying_s * scale.trials * targets <= 0.5 * scale.budget_s


def test_extreme_speeds_stay_within_bounds() -> None:
    slow = plan.tasks(plan.QUICK, plan.Speed(1.0, 0.001), 7)
    fast = plan.tasks(plan.USUAL, plan.Speed(1e12, 1e9), 1)
    assert {one.dataset for one in slow} == {"1x250000B", "8x32000B", "16x16kB"}
    assert {one.dataset for one in fast} == {"1x1000000000B", "8x120000000B", "4000x16kB"}


def test_the_plan_is_a_study() -> None:
    tasks = plan.tasks(plan.QUICK, plan.Speed(80e6, 200), 2)
    for made in (
        plan.study("nas", TARGETS, tasks, 3, {}),
        plan.check_study("nas", TARGETS, "1x2MB", {}),
    ):
        assert parse_study(made, "test").experiment
    assert plan.in_words(tasks).startswith("one file of ")
