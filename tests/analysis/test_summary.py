"""Means, spreads and intervals, with the trial as the unit."""

from dataclasses import replace

import pytest
from planned_runs import PlannedRun, planned_run, without_rate

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.analysis.links.limits import tcp_limit_bps, udp_limit_bps
from lanlab.analysis.links.wires import Wire
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import (
    Summary,
    interval_of_mean,
    limit_of,
    standard_deviation,
)
from lanlab.store import Level, TrialRecord

#: Copying times of a published study, seconds.
PRINTED_TRIALS = [80.0, 83.0, 80.0, 85.0, 82.0]
STREAM = "throughput"


@pytest.fixture(scope="module")
def found() -> PlannedRun:
    return planned_run("manford-kolahi", "tiny", 100_000_000)


def first_condition(found: PlannedRun, trials: list[TrialRecord]) -> Summary:
    return RunData(found.run, trials).summaries(STREAM, "goodput_bps")[0]


def of_first_condition(found: PlannedRun, *values: float | None) -> list[TrialRecord]:
    """Trials of the experiment's first condition; `None` makes a failed one."""
    factors = first_condition(found, []).factors
    like = next(trial for trial in found.of(STREAM) if trial.factors == factors)
    return [
        replace(
            like,
            number=number,
            status="failed" if value is None else "done",
            metrics={} if value is None else {"goodput_bps": value},
        )
        for number, value in enumerate(values)
    ]


def test_the_interval_of_printed_trials_equals_a_hand_calculation() -> None:
    """Mean 82.00, half-width 2.63: 2.776 times 2.121 over the square root of 5."""
    interval = interval_of_mean("retransmitted_segments", PRINTED_TRIALS)

    assert interval is not None
    low, high = interval
    assert f"{(low + high) / 2:.2f} ± {(high - low) / 2:.2f}" == "82.00 ± 2.63"
    assert standard_deviation(PRINTED_TRIALS) == pytest.approx(4.5**0.5)


def test_conditions_keep_the_order_of_the_study_for_any_order_of_trials(
    found: PlannedRun,
) -> None:
    levels = [(4, 128), (4, 512), (4, 1408), (6, 128), (6, 512), (6, 1408)]

    for trials in (found.trials, found.trials[::-1]):
        summaries = RunData(found.run, trials).summaries(STREAM, "goodput_bps")
        assert [tuple(summary.factors.values()) for summary in summaries] == levels


def test_each_trial_counts_in_its_own_condition(found: PlannedRun) -> None:
    for summary in RunData(found.run, found.trials).summaries(STREAM, "goodput_bps"):
        assert summary.n == 2
        assert summary.mean == pytest.approx(summary.limit)


def test_mean_deviation_and_interval_are_of_the_trials(found: PlannedRun) -> None:
    summary = first_condition(found, of_first_condition(found, *PRINTED_TRIALS))

    assert summary.values == tuple(PRINTED_TRIALS)
    assert summary.mean == 82.0
    assert summary.sd == pytest.approx(4.5**0.5)
    assert (summary.ci_low, summary.ci_high) == interval_of_mean("goodput_bps", PRINTED_TRIALS)


def test_failed_trials_are_counted_but_not_averaged(found: PlannedRun) -> None:
    summary = first_condition(found, of_first_condition(found, 2.0, None, 4.0))

    assert (summary.n, summary.failed, summary.mean) == (2, 1, 3.0)


def test_one_trial_has_a_mean_and_no_interval(found: PlannedRun) -> None:
    summary = first_condition(found, of_first_condition(found, 2.0))

    assert (summary.mean, summary.sd, summary.ci_low, summary.ci_high) == (2.0, None, None, None)


def test_unmeasured_conditions_have_no_mean(found: PlannedRun) -> None:
    summaries = RunData(found.run, []).summaries(STREAM, "goodput_bps")

    assert len(summaries) == 6
    assert {(summary.n, summary.failed, summary.mean) for summary in summaries} == {(0, 0, None)}


def test_search_trials_are_not_averaged(found: PlannedRun) -> None:
    one, other = of_first_condition(found, 2.0, 9.0)

    summary = first_condition(found, [one, replace(other, purpose="search")])

    assert summary.values == (2.0,)


def test_only_throughput_metrics_have_a_link_limit() -> None:
    udp: dict[str, Level] = {"transport": "udp", "ip_version": 6, "message_size_bytes": 128}
    tcp: dict[str, Level] = {**udp, "transport": "tcp", "ip_version": 4}

    assert limit_of("goodput_bps", udp, Wire(10e6)) == udp_limit_bps(10e6, 128, 6)
    assert limit_of("goodput_bps", tcp, Wire(10e6)) == limit_of(
        "goodput_bps", {**tcp, "message_size_bytes": 2}, Wire(10e6)
    )
    assert limit_of("received_ratio", udp, Wire(10e6)) is None
    assert limit_of("rtt_mean_ns", udp, Wire(10e6)) is None


def test_a_copy_without_ip_has_the_limit_of_its_own_frames() -> None:
    """Also one that was recorded with a version of IP, as copies over NetBEUI once were.

    1482 octets of messages are in the 1538 that a frame takes on the wire, of XNS 534 in 614.
    """
    over: dict[str, Level] = {"service": "smb1", "ip_version": 4}

    assert limit_of("goodput_bps", over, Wire(10e6)) == tcp_limit_bps(10e6, 4)
    assert limit_of("goodput_bps", {"service": "smb1+nbf"}, Wire(10e6)) == 10e6 * 1482 / 1538
    assert (
        limit_of("goodput_bps", {**over, "service": "smb1+nbf"}, Wire(10e6)) == 10e6 * 1482 / 1538
    )
    assert limit_of("goodput_bps", {"service": "smb1+spp"}, Wire(2e6)) == 2e6 * 534 / 614


def test_the_message_limit_includes_all_wire_bytes() -> None:
    """500 bytes over IPv4 take 566 on the wire, with headers, preamble, check and gap."""
    udp: dict[str, Level] = {"transport": "udp", "ip_version": 4, "message_size_bytes": 500}

    assert limit_of("rate_messages_per_s", udp, Wire(10e6)) == pytest.approx(10e6 / (8 * 566))


def test_a_link_without_a_rate_sets_no_limit(found: PlannedRun) -> None:
    unshaped = replace(found.run, testbed={**found.run.testbed, "link_rate_bps": None})

    for run in (unshaped, without_rate(found).run):
        summary = RunData(run, found.trials).summaries(STREAM, "goodput_bps")[0]
        assert summary.limit is None
        assert summary.mean is not None


def disturbed(trial: TrialRecord) -> TrialRecord:
    finding = Finding("foreign_cpu", "sender", 0.9, 0.1, True)
    return replace(trial, raw={"pollution": Judgement((finding,), ()).to_json()})


def test_a_clean_repeat_replaces_a_disturbed_trial(found: PlannedRun) -> None:
    first, repeat, other = of_first_condition(found, 9.0, 2.0, 4.0)
    trials = [disturbed(first), repeat, replace(other, block=1)]

    summary = first_condition(found, trials)

    assert summary.values == (2.0, 4.0)
    assert (summary.disturbed, summary.left_out, summary.failed) == (0, 1, 0)


def test_without_a_clean_repeat_the_last_disturbed_trial_counts(found: PlannedRun) -> None:
    first, repeat = of_first_condition(found, 9.0, 8.0)

    summary = first_condition(found, [disturbed(first), disturbed(repeat)])

    assert summary.values == (8.0,)
    assert (summary.disturbed, summary.left_out) == (1, 1)


def test_a_disturbed_trial_counts_if_its_repeat_failed(found: PlannedRun) -> None:
    first, failed = of_first_condition(found, 9.0, None)

    summary = first_condition(found, [disturbed(first), failed])

    assert summary.values == (9.0,)
    assert (summary.disturbed, summary.left_out, summary.failed) == (1, 0, 1)


def test_a_remark_does_not_pollute(found: PlannedRun) -> None:
    (trial,) = of_first_condition(found, 9.0)
    remark = Finding("clock_source", "sender", "hpet", "tsc", False)
    trial = replace(trial, raw={"pollution": Judgement((remark,), ()).to_json()})

    assert not trial.is_disturbed
    assert first_condition(found, [trial]).disturbed == 0


def test_trials_of_another_experiment_do_not_count() -> None:
    found = planned_run(
        "manford-kolahi", "tiny", fails=lambda planned: planned.experiment == "round-trip"
    )
    for one in RunData(found.run, found.trials).summaries(STREAM, "goodput_bps"):
        assert (one.n, one.failed, one.missing, one.left_out) == (2, 0, 0, 0)


def test_trials_without_the_metric_are_not_counted_as_omitted(found: PlannedRun) -> None:
    [first, second] = of_first_condition(found, 1e6, 2e6)
    without = replace(second, metrics={})
    one = first_condition(found, [replace(first, block=0), replace(without, block=1)])
    assert (one.n, one.left_out, one.failed, one.mean) == (1, 0, 0, 1e6)


def test_a_disturbed_trial_without_a_repeat_counts_with_later_blocks(
    found: PlannedRun,
) -> None:
    [first, second] = of_first_condition(found, 1e6, 2e6)
    one = first_condition(found, [disturbed(replace(first, block=0)), replace(second, block=1)])
    assert (one.n, one.left_out, one.disturbed) == (2, 0, 1)


def test_a_trial_above_the_offer_leaves_the_interval_a_bound() -> None:
    """As a whole last message does: 5.01 of the 5 Mbit/s offered."""
    interval = interval_of_mean("goodput_bps", [5.01e6, 3.2e6, 5e6], 5e6)

    assert interval is not None and interval[1] == 5.01e6
