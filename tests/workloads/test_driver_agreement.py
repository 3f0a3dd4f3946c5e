"""
lanlab and the programs that others wrote measure one condition, in blocks, and agree.

On a link of 10 Mbit/s, which decides the figures: what a busy machine adds is little beside it.
They are skipped where a program is missing; with LANLAB_REQUIRE_PEERS=1 that is a failure.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
from missing import missing
from peer_finding import peer_program

from lanlab.analysis.trials.summary import interval_of_mean
from lanlab.cli.running.settings import RunSettings
from lanlab.cli.running.single import measure
from lanlab.errors import UnmetNeed
from lanlab.report.runs.measurement import by_driver
from lanlab.store import Level, TrialRecord

TRIALS = 3
#: Intervals of three trials without any spread are points: beyond both, this much is agreement.
TOLERANCE = 0.01


def measured_by_both(
    workload: str, peer: str, folder: Path, trials: int = TRIALS, **parameters: Level | None
) -> list[TrialRecord]:
    settings = RunSettings(trials, "virtual", "10M", store=str(folder / "store.sqlite"))
    try:
        _, records = measure(workload, {"driver": f"lanlab,{peer}", **parameters}, settings)
    except UnmetNeed as error:
        missing(error)
    return records


def check_agreement(trials: list[TrialRecord], metric: str) -> None:
    """No trial failed, and both drivers' intervals, widened, overlap."""
    failed = [trial.error for trial in trials if trial.status != "done"]
    assert not failed
    intervals = {}
    for name, measured in by_driver(trials).items():
        interval = interval_of_mean(metric, [trial.metrics[metric] for trial in measured])
        assert interval is not None
        intervals[name] = interval
    (low, high), (other_low, other_high) = intervals.values()
    assert low * (1 - TOLERANCE) <= other_high, intervals
    assert other_low * (1 - TOLERANCE) <= high, intervals


def check_blocks_and_records(trials: list[TrialRecord]) -> None:
    """Each block has both; the record has command, version and output of the other program."""
    blocks: dict[int | None, set[Level]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, set()).add(trial.factors["driver"])
    assert list(blocks.values()) == [{"lanlab", "iperf3"}] * TRIALS
    theirs = next(trial for trial in trials if trial.parameters["driver"] == "iperf3")
    assert theirs.parameters["warmup_s"] == 1
    assert theirs.raw["setup"]["version"].startswith("iperf 3.")
    assert "--server" in theirs.raw["receiver"]["command"]
    assert '"sum_received"' in theirs.raw["receiver"]["output"]
    assert theirs.raw["facts"]["before"]["counters"]["host0/eth0"]


#: As fast as the link takes it.
UDP: Mapping[str, Level] = {"transport": "udp", "message_size_bytes": 500, "time_s": 1}


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(UDP, id="udp"),
        # At a rate below.
        pytest.param(
            {"transport": "udp", "message_size_bytes": 1408, "time_s": 1, "rate_bps": "4M"},
            id="udp at a rate",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"transport": "tcp", "time_s": 1, "warmup_s": 1, "congestion_control": "cubic"},
            id="tcp",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"transport": "udp", "ip_version": 6, "message_size_bytes": 500, "time_s": 1},
            id="udp over IPv6",
            marks=pytest.mark.long,
        ),
    ],
)
@pytest.mark.figures
def test_iperf3_and_lanlab_agree_on_goodput(
    parameters: Mapping[str, Level], tmp_path: Path
) -> None:
    peer_program("iperf3")
    trials = measured_by_both("stream", "iperf3", tmp_path, **parameters)
    check_agreement(trials, "goodput_bps")
    if "rate_bps" in parameters:
        # The link takes this rate: nothing is lost, by iperf3's numbers and by ours.
        lost = {t.parameters["driver"]: t.metrics.get("loss_ratio") for t in trials}
        assert set(lost.values()) == {0}, f"loss: {lost}"
    if parameters == UDP:
        check_blocks_and_records(trials)


@pytest.mark.figures
@pytest.mark.long
def test_sockperf_and_lanlab_agree_on_the_round_trip(tmp_path: Path) -> None:
    peer_program("sockperf")
    trials = measured_by_both(
        "echo", "sockperf", tmp_path, message_size_bytes=1408, receive="block", time_s=1
    )
    check_agreement(trials, "rtt_mean_ns")


#: Programs, and a condition that each measures; the outputs of all others are recorded.
EVERY = [
    ("iperf", "iperf2", "stream", {"transport": "udp"}),
    ("nuttcp", "nuttcp", "stream", {"transport": "tcp"}),
    ("sockperf", "sockperf", "stream", {"transport": "udp", "rate_messages_per_s": 800.0}),
    ("qperf", "qperf", "stream", {"transport": "tcp"}),
    ("qperf", "qperf", "echo", {"transport": "udp"}),
]


@pytest.mark.parametrize(
    ("program", "name", "workload", "condition"),
    EVERY,
    ids=[f"{name} {workload} {condition['transport']}" for _, name, workload, condition in EVERY],
)
@pytest.mark.figures
@pytest.mark.long
def test_other_drivers_agree_roughly_with_lanlab(
    program: str, name: str, workload: str, condition: Mapping[str, Level], tmp_path: Path
) -> None:
    peer_program(program)
    metric = "goodput_bps" if workload == "stream" else "rtt_mean_ns"
    trials = measured_by_both(
        workload, name, tmp_path, 2, message_size_bytes=1408, time_s=1, **condition
    )
    failed = [trial.error for trial in trials if trial.status != "done"]
    assert not failed
    means = {
        driver: sum(trial.metrics[metric] for trial in measured) / len(measured)
        for driver, measured in by_driver(trials).items()
    }
    near = means["lanlab"] == pytest.approx(means[name], rel=0.05)
    assert near, f"{metric}: {means}"
