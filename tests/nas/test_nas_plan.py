"""The plan keeps its time, and names each of its tasks."""

from collections.abc import Sequence

import pytest

from lanlab.nas import plan
from lanlab.studies.load import parse_study
from lanlab.workloads.copy.datasets import mean_bytes

TARGETS = ("sftp://me@nas/", "nfs://nas/volume")


@pytest.mark.parametrize("scale", [plan.QUICK, plan.USUAL])
@pytest.mark.parametrize("mbps", [8, 80, 800])
@pytest.mark.parametrize("targets", [2, 7])
def test_copies_keep_the_budget(scale: plan.Scale, mbps: int, targets: int) -> None:
    speed = plan.Speed(mbps * 1e6, 200)

    def seconds(task: plan.Task) -> float:
        if task.workload == "metadata":
            # As long as five copies of a small file.
            return float(task.parameters["files"]) * 5 / 200
        octets = mean_bytes(task.parameters["dataset"])
        is_large = task.id.startswith("large")
        return octets / (mbps * 125_000) if is_large else octets / 16_000 / 200

    tasks = plan.tasks(scale, speed, targets)
    copying_s = sum(map(seconds, tasks))
    assert len({one.id for one in tasks}) == 10
    # The rest is for setting up, comparing and cleaning up.
    assert copying_s * scale.trials * targets <= 0.5 * scale.budget_s


def test_extreme_speeds_stay_within_bounds() -> None:
    slow = plan.tasks(plan.QUICK, plan.Speed(1.0, 0.001), 7)
    fast = plan.tasks(plan.USUAL, plan.Speed(1e12, 1e9), 1)

    def sizes(tasks: Sequence[plan.Task]) -> set[object]:
        return {one.parameters.get("dataset", one.parameters.get("files")) for one in tasks}

    assert sizes(slow) == {"1x100000B", "8x12000B", "8x16kB", 8}
    assert sizes(fast) == {"1x1000000000B", "8x120000000B", "4000x16kB", 800}


def test_the_plan_is_a_study() -> None:
    tasks = plan.tasks(plan.QUICK, plan.Speed(80e6, 200), 2)
    for made in (
        plan.study("nas", TARGETS, tasks, 3, {}),
        plan.check_study("nas", TARGETS, "1x2MB", {}),
    ):
        assert parse_study(made, "test").experiment
    assert plan.in_words(tasks).startswith("one file of ")
