"""What is printed of a single measurement, word for word: a changed sentence shows as a diff."""

from dataclasses import replace
from typing import Any

import pytest
from copied_metrics import copied
from made_up_ends import (
    distribution,
    exchange_of,
    flow_received,
    host_window,
    stream_received,
    stream_sent,
)
from synthetic_runs import synthetic_run
from syrupy.assertion import SnapshotAssertion
from test_single_measurements import stations

from lanlab.analysis.disturbances.detect import Finding, Judgement
from lanlab.analysis.disturbances.words import _KINDS, warning
from lanlab.cli.results import printing as results
from lanlab.cli.running import single
from lanlab.cli.running.watch import RunWatch, promise
from lanlab.cli.terminal.remarks import deliver
from lanlab.plan.plan import Plan
from lanlab.plan.running import Estimate
from lanlab.report.copies.copy_text import copy_lines
from lanlab.report.presentations.echo import PRESENTATION
from lanlab.report.runs.measurement import measurement
from lanlab.report.stations.stations_text import answer_sentence, stations_table
from lanlab.report.traffic.stream_text import stream_lines
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.load import load_study
from lanlab.workloads import CounterChanges, workload

_COUNTED = CounterChanges({"sender": {"qdisc_drops": 0}, "receiver": {"rx_drops": 0}})
_TCP = {
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
_WIDER = {"round_trip_ns": 300_000, "congestion_window_segments": 20}
_LOSSY = stream_sent(
    offered_messages=1000,
    sent_messages=980,
    refused_messages=3,
    unsent_messages=2,
    skipped_messages=15,
    late_messages=4,
    back_to_back_messages=1,
)
_LOST = stream_received(measured_messages=960, overdue_messages=2, socket_dropped_datagrams=5)
_STALL = {
    "operation": "close",
    "likely": "delayed acknowledgement (Linux)",
    "mode_ns": 40_100_000,
    "calls": 12,
    "calls_ratio": 0.5,
    "time_ratio": 0.9,
}


def a_run() -> RunRecord:
    return synthetic_run("milanovic-srbljic", most_trials=1).run


def single_run(title: str) -> RunRecord:
    run = a_run()
    return replace(run, study={**run.study, "title": title})


def a_trial(kind_name: str, ends: tuple[Any, Any], how: Any, **condition: Any) -> TrialRecord:
    kind = workload(kind_name)
    outcome = exchange_of(*ends, **(how or {}))
    parameters = kind.Parameters.model_validate(condition)
    return replace(
        synthetic_run("milanovic-srbljic", most_trials=1).trials[0],
        workload=kind_name,
        parameters=parameters.model_dump(exclude_none=True),
        metrics=kind.summarise(parameters, outcome, _COUNTED),
        raw={**outcome.results, "setup": outcome.setup},
    )


def a_stream(sent: Any = None, received: Any = None, how: Any = None, **more: Any) -> TrialRecord:
    condition = {"message_size_bytes": 500, "time_s": 1, "rate_messages_per_s": 1000, **more}
    return a_trial(
        "stream", (sent or stream_sent(), received or stream_received()), how, **condition
    )


def an_echo() -> TrialRecord:
    counts = (
        "offered_requests",
        "requests",
        "replies",
        "timeouts",
        "late_replies",
        "duplicate_replies",
        "refused_requests",
        "foreign_datagrams",
        "start_skew_ns",
    )
    requested = {
        **dict.fromkeys(counts, 7),
        "receive": "spin",
        "elapsed_ns": 10**9,
        "sending_ns": 10**9,
        "sending_replies": 7,
        "cpu": {"user_ns": 10**7, "system_ns": 0},
        "round_trip": distribution(),
        "kernel_round_trip": distribution(min_ns=5_000),
        "host": host_window(),
    }
    responded = {"receive": "spin", "cpu": {"user_ns": 0, "system_ns": 2 * 10**7}}
    return a_trial("echo", (requested, responded), None, requests=7, timestamps="kernel")


def a_copy(**client: Any) -> TrialRecord:
    made = copied("200x100kB", 2.5)
    times = {
        f"file_time_{name}_s": value
        for name, value in zip(("p50", "p99", "max"), (1e-3, 4e-3, 9e-3), strict=True)
    }
    metrics = {
        **made,
        **times,
        "first_byte_p50_s": 5e-4,
        "connect_s": 0.02,
        "client_cpu_s": 0.5,
        "server_cpu_s": 0.25,
    }
    manner = {"in_order": False, "depth": 4, "block_bytes": 262_144}
    return replace(
        a_stream(),
        workload="copy",
        parameters={"service": "ftp", "cache": "cold", "dataset": "200x100kB"},
        metrics={**metrics, "retries": 3, "faults": 3},
        raw={
            "client": {
                "manner": manner,
                "faults": {"timed_out": 2, "reset": 1},
                "stalls": [_STALL],
                **client,
            },
            "setup": {
                "checked": {"verified": {"how": "content"}},
                "caches": {"client": {"of": "everything"}, "server": {"of": "nothing"}},
                "emptied": {"is_gone": True},
            },
        },
    )


_STREAMS = {
    "udp": a_stream(),
    "udp-lossy": a_stream(_LOSSY, _LOST),
    "loss-not-placed": a_stream(
        None, stream_received(measured_messages=998, socket_dropped_datagrams=None)
    ),
    "two-clocks": a_stream(
        None,
        stream_received(
            one_way_delay=distribution(), delay_variation=distribution(smoothed_ns=6_000)
        ),
        {"bound_ns": 12_000, "same_kernel": False},
    ),
    "tcp": a_stream(
        stream_sent(flows=[{"local_port": 1, "tcp": _TCP}]),
        transport="tcp",
    ),
    "tcp-flows": a_stream(
        stream_sent(
            flows=[
                {"local_port": 1, "tcp": _TCP},
                {"local_port": 2, "tcp": {**_TCP, **_WIDER}},
            ]
        ),
        stream_received(read_bytes=65_536, flows=[flow_received(300_000), flow_received(100_000)]),
        transport="tcp",
        flows=2,
        congestion_control="cubic,reno",
    ),
    "one-clock": a_stream(None, stream_received(one_way_delay=distribution())),
    "little-known": a_stream(
        stream_sent(host=None, gap=None, io_choice=None),
        stream_received(host=None, receive_choice=None),
        {"capabilities": {"thread_usage": False}},
        rate_messages_per_s=None,
    ),
}
_SEVERAL = {
    **{which: [_STREAMS[which]] * 5 for which in ("udp-lossy", "two-clocks", "tcp")},
    "echo": [an_echo()] * 3,
    "copy": [a_copy()] * 3,
    "two": [a_stream()] * 2,
}


@pytest.mark.parametrize("which", _SEVERAL)
def test_several_trials_have_a_line_each_and_one_mean(
    which: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    trials = [replace(trial, number=place) for place, trial in enumerate(_SEVERAL[which])]
    found = measurement(single_run("what it is of"), trials)
    deliver(found)
    said = capsys.readouterr().out
    # The title, headings, a line for each trial, their mean, and the name of the run.
    about_all = 4 if which == "copy" else 0
    assert len([line for line in said.splitlines() if line]) == len(trials) + 4 + about_all
    # JSON has every sentence; its trials have keys of their own.
    (table,) = (one for one in found.body if not isinstance(one, str))
    assert len(found.sentences) == 2 + about_all and len(table.rows) == len(trials)
    assert said == snapshot


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("which", ["udp-lossy", "tcp"])
def test_lines_break_between_words_and_continue_indented(
    which: str,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.setenv("LANLAB_COLUMNS", str(columns))
    run = single_run("what it is of")
    found = measurement(run, [_STREAMS[which]], verbose=True)
    deliver(found)
    said = capsys.readouterr().out
    assert all(len(line) <= columns for line in said.splitlines())
    assert said.split() == " ".join([*found.sentences, found.next_step]).split()
    assert said == snapshot


@pytest.mark.parametrize("which", _STREAMS)
def test_stream_texts_match_the_snapshots(which: str, snapshot: SnapshotAssertion) -> None:
    lines = stream_lines(a_run(), _STREAMS[which], with_modes=which == "little-known")
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize("with_modes", [False, True])
def test_echo_texts_match_the_snapshots(with_modes: bool, snapshot: SnapshotAssertion) -> None:
    lines = PRESENTATION.lines(a_run(), an_echo(), with_modes=with_modes)
    assert "\n".join(lines) == snapshot
    assert an_echo().metrics["rtt_p1_ns"] == 995_000


def test_copy_texts_match_the_snapshots(snapshot: SnapshotAssertion) -> None:
    whole = a_copy()
    setup = {"emptied": {"left": {"count": 2, "refusal": "550 no"}}, "caches": {}}
    left = replace(whole, raw={**whole.raw, "setup": setup})
    foreign = replace(whole, raw={**whole.raw, "setup": {"emptied": {"is_gone": False}}})
    assert (
        "\n\n".join("\n".join(copy_lines(a_run(), one)) for one in (whole, left, foreign))
        == snapshot
    )


@pytest.mark.parametrize("limit_s", [0.001, 0.02, 0.5])
def test_station_texts_match_the_snapshots(limit_s: float, snapshot: SnapshotAssertion) -> None:
    trials = [
        replace(trial, parameters={**trial.parameters, "loop": "closed"}) for trial in stations()[1]
    ]
    assert f"{stations_table(trials).to_csv()}{answer_sentence(trials, limit_s)}" == snapshot


def test_several_trials_and_the_end_of_a_command(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    found = Judgement((Finding("foreign_cpu", "sender", 0.9, 0.12, True),), ()).to_json()
    good = a_stream()
    trials = [
        replace(good, number=0, raw={**good.raw, "pollution": found}),
        replace(good, number=1, metrics={**good.metrics, "goodput_bps": 4.1e6}),
        replace(good, number=2, metrics={**good.metrics, "goodput_bps": 4.2e6}),
        replace(
            good,
            number=3,
            status="failed",
            metrics={},
            error={
                "code": "peer.silent",
                "message": "nothing heard for 3 s",
                "hint": "is the link up?",
            },
        ),
    ]
    run = single_run("UDP stream, 500-byte messages, over a virtual link (10M)")
    deliver(measurement(run, trials))
    deliver(measurement(run, trials[1:3], verbose=True))
    with pytest.raises(BaseException, match="1"):
        single.finish(a_run(), trials, verbose=True)
    others = [replace(one, parameters={**one.parameters, "driver": "iperf3"}) for one in trials]
    deliver(measurement(run, others))
    said = capsys.readouterr()
    assert f"{said.out}--- standard error\n{said.err}" == snapshot


def test_warning_texts_match_the_snapshots(snapshot: SnapshotAssertion) -> None:
    found = (Finding(code, "sender", 0.9, 0.12, True) for code in _KINDS)
    assert "\n".join(map(warning, found)) == snapshot


def test_the_summary_of_disturbances(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    judgement = Judgement(
        (
            Finding("steal", "sender", 0.2, 0.02, True),
            Finding("load", "sender", 3.5, "2", False),
        ),
        (),
    )
    trials = [replace(a_stream(), raw={"pollution": judgement.to_json()})] * 3
    server = {"cpu_unknown": "no right to read /proc/17"}
    results.warn_of_disturbances(
        [*trials, replace(a_stream(), raw={"server": server})], verbose=False
    )
    assert capsys.readouterr().err == snapshot


def test_progress_texts_of_a_run_match_the_snapshot(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    for name in ("manford-kolahi", "milanovic-srbljic"):
        study = load_study(name).study
        print(promise(study, "quick", Plan(study, "quick", 7).estimate()))
    print(promise(study, "quick", Plan(study, "quick", 7).estimate(), is_simulated=True))
    run = a_run()
    study = load_study("milanovic-srbljic").study
    trial = Plan(study, "tiny", 7).next_trial()
    assert trial is not None
    with RunWatch() as watch:
        watch.run_started(run, Estimate(12, 65.0))
        watch.trial_started(trial, Estimate(11, 60.0))
        print(watch._doing)
        failed = replace(a_stream(), status="failed", error={"message": "nothing heard for 3 s"})
        watch.trial_ended(failed)
    said = capsys.readouterr()
    assert f"{said.out}--- standard error\n{said.err}" == snapshot
