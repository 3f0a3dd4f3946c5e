"""The package as a whole: its scales, what it exports, and that it is loaded late."""

import sys

import pytest
from programs import ran

from lanlab.analysis import statistics
from lanlab.workloads import WORKLOADS

LOADED = """
import sys
import lanlab.analysis, lanlab.report.answer.answers, lanlab.run, lanlab.cli.app
print(*[name for name in ("numpy", "scipy", "lanlab.analysis.statistics") if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("metric", "scale"),
    [
        ("goodput_bps", "log"),
        ("received_messages_per_s", "log"),
        ("rtt_p99_ns", "log"),
        ("kernel_rtt_mean_ns", "log"),
        ("elapsed_s", "log"),
        ("received_ratio", "linear"),
        ("jain_index", "linear"),
        ("lost_messages", "linear"),
        ("sender_cpu_s", "linear"),
        ("start_skew_ns", "linear"),
    ],
)
def test_the_kind_of_a_metric_decides_its_scale(metric: str, scale: str) -> None:
    assert statistics.scale_of(metric) == scale


def test_every_metric_has_a_scale() -> None:
    for workload in WORKLOADS.values():
        assert {statistics.scale_of(metric) for metric in workload.metrics} == {"linear", "log"}


def test_public_names_exist_and_are_documented() -> None:
    assert len(statistics.__all__) == len(set(statistics.__all__))
    for name in statistics.__all__:
        assert getattr(statistics, name).__doc__ or name == "Scale"


def test_importing_statistics_loads_no_numeric_library() -> None:
    done = ran([sys.executable, "-c", LOADED], check=True)

    assert done.stdout.split() == []
