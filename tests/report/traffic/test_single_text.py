"""What a single measurement says on the terminal."""

from dataclasses import replace
from typing import Any

import pytest
from made_up_ends import (
    distribution,
    exchange_of,
    flow_received,
    host_window,
    stream_received,
    stream_sent,
)
from synthetic_runs import SyntheticRun, synthetic_run

from lanlab.report.traffic.echo_text import echo_lines
from lanlab.report.traffic.stream_text import stream_lines
from lanlab.store import TrialRecord
from lanlab.workloads import CounterChanges, workload

COUNTED = CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {"rx_drops": 0}})


@pytest.fixture(scope="module")
def template() -> SyntheticRun:
    return synthetic_run("milanovic-srbljic", most_trials=1)


def said(
    template: SyntheticRun,
    sent: dict[str, Any] | None = None,
    received: dict[str, Any] | None = None,
    changes: CounterChanges = COUNTED,
    how: dict[str, Any] | None = None,
    **parameters: Any,
) -> dict[str, str]:
    outcome = exchange_of(sent or stream_sent(), received or stream_received(), **(how or {}))
    condition = {"message_size_bytes": 500, "time_s": 1, "rate_messages_per_s": 1000, **parameters}
    kind = workload("stream")
    checked = kind.Parameters.model_validate(condition)
    trial = replace(
        template.trials[0],
        parameters=checked.model_dump(exclude_none=True),
        metrics=kind.summarise(checked, outcome, changes),
        raw={**outcome.results, "setup": outcome.setup},
    )
    return by_label(stream_lines(template.run, trial, with_modes=True))


def by_label(lines: list[str]) -> dict[str, str]:
    return {line[:12].strip(): line[12:] for line in lines}


def test_a_trial_without_loss_says_so_in_one_line(template: SyntheticRun) -> None:
    lines = said(template)
    assert lines["goodput"] == "4.00 Mbit/s, 45.28 % of the link's limit, 1,000 messages/s"
    assert lines["received"] == "100 % of 1000 messages offered, none lost"
    assert "the rest" not in lines


def test_only_places_at_which_something_was_lost_are_named(template: SyntheticRun) -> None:
    lines = said(
        template,
        stream_sent(offered_messages=1000, sent_messages=997, refused_messages=3),
        stream_received(measured_messages=990, socket_dropped_datagrams=5),
    )
    assert lines["received"] == "99 % of 1000 messages offered"
    assert lines["the rest"] == (
        "3 refused by the sending host, 2 lost on the link, "
        "5 dropped in the receiver's socket buffer"
    )


def test_an_unseen_loss_is_not_attributed_only_to_the_link(template: SyntheticRun) -> None:
    received = stream_received(measured_messages=998, socket_dropped_datagrams=None)
    assert said(template, received=received)["the rest"] == (
        "2 lost on the link (or dropped in the receiver's socket buffer, which was not counted)"
    )


def test_pacing_is_reported_if_a_rate_is_set(template: SyntheticRun) -> None:
    sent = stream_sent(late_messages=4, skipped_messages=2, back_to_back_messages=1)
    assert said(template, sent)["pacing"] == (
        "gaps p1 995 µs, p50 1.00 ms, p99 1.01 ms, "
        "4 late by more than 1 ms, 2 skipped, 1 back to back"
    )
    assert "pacing" not in said(template, stream_sent(gap=None), rate_messages_per_s=None)


@pytest.mark.parametrize(
    ("error_ns", "sure"),
    [(0, " (one clock)"), (12_000, ", each ± 12.0 µs (clocks of two hosts)")],
)
def test_a_one_way_delay_has_its_clock_error(
    template: SyntheticRun, error_ns: int, sure: str
) -> None:
    lines = said(
        template,
        received=stream_received(one_way_delay=distribution()),
        how={"bound_ns": error_ns},
    )
    assert lines["one way"] == f"min 990 µs, p50 1.00 ms, p99 1.01 ms{sure}"
    assert "one way" not in said(template)


def test_cpu_time_is_given_per_message_and_gigabyte(
    template: SyntheticRun,
) -> None:
    assert said(template)["processor"] == (
        "sending 0.00 s, 4.00 µs a message, 8.00 s/GB; "
        "receiving 0.01 s, 8.00 µs a message, 16.0 s/GB; "
        "interrupts 0.04 s (of the machine that both hosts share)"
    )
    apart = said(template, how={"same_kernel": False})["processor"]
    assert apart.endswith("interrupts 0.08 s (of both hosts)")


def test_unknown_values_have_no_line(template: SyntheticRun) -> None:
    lines = said(
        template,
        stream_sent(host=None),
        stream_received(host=None),
        how={"capabilities": {"thread_usage": False}},
    )
    assert "processor" not in lines


def test_modes_are_shown_only_on_request(template: SyntheticRun) -> None:
    trial = template.trials[0]
    plain = stream_lines(template.run, trial)
    assert not any(line.startswith(("modes ", "why ")) for line in plain)


def test_the_modes_are_named_with_the_reason_of_each_choice(template: SyntheticRun) -> None:
    lines = said(template)
    assert lines["modes"] == (
        "io single, receive poll, at most 1 message at once, times by the program, "
        "threads 1 sending, 1 receiving"
    )
    assert lines["why io"] == "single messages can follow this rate"
    assert lines["why receive"] == "it took the most of three"
    chosen = said(template, stream_sent(io_choice=None), stream_received(receive_choice=None))
    assert not chosen.keys() & {"why io", "why receive"}


def test_over_tcp_bytes_segments_round_trip_and_window_are_named(template: SyntheticRun) -> None:
    tcp = {
        "data_segments_sent": 24,
        "retransmitted_segments": 3,
        "round_trip_ns": 200_000,
        "minimum_round_trip_ns": 43_000,
        "congestion_window_segments": 10,
        "maximum_segment_bytes": 1448,
        "busy_ns": 1_000_000,
        "receive_window_limited_ns": 250_000,
        "send_buffer_limited_ns": 1,
    }
    other = {**tcp, "round_trip_ns": 300_000, "congestion_window_segments": 20}
    lines = said(
        template,
        stream_sent(flows=[{"local_port": 1, "tcp": tcp}, {"local_port": 2, "tcp": other}]),
        stream_received(read_bytes=65_536, flows=[flow_received(300_000), flow_received(100_000)]),
        transport="tcp",
        flows=2,
        congestion_control="cubic,reno",
    )
    assert "writes of 500 B, reads of up to 65,536 B" in lines["modes"]
    assert lines["segments"] == "48 sent, 6 retransmitted (12.5 %), 12,500 B in each"
    assert lines["round trip"] == (
        "200 µs to 300 µs at the end, shortest 43.0 µs (the sender's kernel)"
    )
    assert lines["window"] == (
        "congestion window 14.5 kB to 29.0 kB at the end; limited by the receiver's window for "
        "25 % of the time"
    )
    assert "messages" not in lines["goodput"] + lines["received"]
    assert lines["flows"] == (
        "800 kbit/s to 2.40 Mbit/s each, Jain's index 0.800, "
        "75.0 % of the total by flows with cubic"
    )


def test_round_trips_of_the_kernel_are_shown_next_to_ours(template: SyntheticRun) -> None:
    requested = {
        **dict.fromkeys(
            (
                "offered_requests", "requests", "replies", "timeouts", "late_replies",
                "duplicate_replies", "refused_requests", "foreign_datagrams", "start_skew_ns",
            ),
            7,
        ),
        "receive": "spin",
        "elapsed_ns": 10**9,
        "sending_ns": 10**9,
        "sending_replies": 7,
        "cpu": {"user_ns": 10**7, "system_ns": 0},
        "round_trip": distribution(),
        "kernel_round_trip": distribution(min_ns=5_000),
        "host": host_window(),
    }  # fmt: skip
    responded = {"receive": "spin", "cpu": {"user_ns": 0, "system_ns": 2 * 10**7}}
    outcome = exchange_of(requested, responded)
    kind = workload("echo")
    checked = kind.Parameters.model_validate({"requests": 7, "timestamps": "kernel"})
    trial: TrialRecord = replace(
        template.trials[0],
        workload="echo",
        parameters=checked.model_dump(exclude_none=True),
        metrics=kind.summarise(checked, outcome, COUNTED),
        raw={**outcome.results, "setup": outcome.setup},
    )
    assert "modes" not in by_label(echo_lines(trial))
    lines = by_label(echo_lines(trial, with_modes=True))
    assert trial.metrics["rtt_p1_ns"] == 995_000
    assert lines["in kernel"].startswith("mean 1.00 ms, min 5.00 µs, ")
    assert lines["modes"] == "receive spin, times by the kernel"
    assert lines["processor"].startswith("requesting 0.01 s; responding 0.02 s; interrupts 0.04 s")
