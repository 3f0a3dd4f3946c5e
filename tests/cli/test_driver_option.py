"""`--tool`: other programs from the command line."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Lanlab
from missing import missing

from lanlab.cli.options import complete
from lanlab.cli.results.printing import single_as_json
from lanlab.cli.terminal.remarks import deliver
from lanlab.report.runs.measurement import measurement
from lanlab.store import RunRecord, TrialRecord

RUN = RunRecord(
    id="20261121-081500-stream-4f2a",
    study_id="stream",
    study={"title": "UDP stream, by tool"},
    scale="single",
    seed=1,
    testbed={"name": "virtual", "link": "10M", "link_rate_bps": 10_000_000, "facts": {}},
    versions={},
    status="done",
    started_at="2026-11-21T08:15:00.000001+00:00",
)


def a_trial(driver: str, number: int, status: str = "done", **metrics: float) -> TrialRecord:
    return TrialRecord(
        run_id=RUN.id,
        number=number,
        experiment="single",
        workload="stream",
        factors={"driver": driver},
        parameters={
            "driver": driver,
            "transport": "udp",
            "time_s": 1.0,
            "message_size_bytes": 1408,
        },
        block=number // 2,
        purpose="trial",
        status="done" if status == "done" else "failed",
        started_at=RUN.started_at,
        elapsed_s=1.0,
        metrics=metrics if status == "done" else {},
        raw={"setup": {"version": "iperf 3.12"} if driver == "iperf3" else {}},
        error=None if status == "done" else {"message": "it hung", "hint": None},
    )


def some_trials() -> list[TrialRecord]:
    """Two blocks; of the second driver one failed, and it tells no loss."""
    own: dict[str, Any] = {
        "received_ratio": 0.96,
        "offered_messages": 100,
        "received_messages": 96,
        "lost_messages": 1,
        "loss_ratio": 0.01,
        "unsent_messages": 3,
        "lost_link_messages": 1,
        "sender_cpu_s": 0.01,
        "receiver_cpu_s": 0.02,
    }
    peer = {"sender_cpu_s": 0.5, "receiver_cpu_s": 0.25}
    return [
        a_trial("lanlab", 0, goodput_bps=9.4e6, **own),
        a_trial("iperf3", 1, goodput_bps=9.5e6, **peer),
        a_trial("iperf3", 2, "failed"),
        a_trial("lanlab", 3, goodput_bps=9.6e6, **own),
    ]


def test_results_are_listed_under_their_driver(capsys: pytest.CaptureFixture[str]) -> None:
    deliver(measurement(RUN, some_trials()))

    ours, theirs = capsys.readouterr().out.split("tool        iperf3 (iperf 3.12)\n")
    title = f"{RUN.study['title']}\n"
    assert ours.startswith(
        f"{title}tool        lanlab\nmean        9.50 Mbit/s (of 9.40 Mbit/s and 9.60 Mbit/s)"
    )
    assert ours.endswith(
        "    0  9.40 Mbit/s  1.00 %\n"
        "    3  9.60 Mbit/s  1.00 %\n\n"
        "processor   0.01 s sending, 0.02 s receiving\n"
    )
    assert theirs.splitlines() == [
        "mean        9.50 Mbit/s (1 of 2, 1 failed), 99.45 % of the link's limit",
        "",
        "trial      goodput",
        "    1  9.50 Mbit/s",
        "",
        "processor   0.50 s sending, 0.25 s receiving",
        f"saved as    {RUN.id}",
    ]


def test_tcp_results_are_not_in_messages(capsys: pytest.CaptureFixture[str]) -> None:
    over_tcp = [
        replace(trial, parameters={**trial.parameters, "transport": "tcp"})
        for trial in some_trials()
    ]
    deliver(measurement(RUN, over_tcp))

    assert "messages" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("received", "lost", "said"),
    [
        (100, 0, "100 % of 100 messages offered, none lost"),
        (97, 3, "97 % of 100 messages offered\nthe rest    3 lost\n"),
        (95, 3, "95 % of 100 messages offered\nthe rest    3 lost, 2 that the program does"),
        (
            99,
            3,
            "the rest    3 lost, 2 more received than sent minus lost, by the program's own counts",
        ),
    ],
)
def test_values_missing_from_another_program_are_reported(
    received: int, lost: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {"offered_messages": 100, "received_messages": received, "lost_messages": lost}
    others = {"reordered_messages": 2, "sender_cpu_s": 0.5, "receiver_cpu_s": 0.25}
    metrics = {**counts, **others, "loss_ratio": lost / (received + lost)}
    deliver(measurement(RUN, [a_trial("iperf3", 0, goodput_bps=9.5e6, **metrics)]))

    out = capsys.readouterr().out
    assert said in out
    assert "order       2 out of order\n" in out


def test_json_has_separate_means_for_each_driver() -> None:
    answer = single_as_json(RUN, some_trials())

    assert "goodput_bps" not in answer
    assert answer["drivers"]["lanlab"]["goodput_bps"] == pytest.approx(9.5e6)
    assert answer["drivers"]["iperf3"]["goodput_bps"] == 9.5e6
    drivers = [trial["driver"] for trial in answer["trials"]]
    assert drivers == ["lanlab", "iperf3", "iperf3", "lanlab"]
    assert "driver" not in answer["parameters"]


def test_a_single_driver_has_the_keys_of_the_store() -> None:
    answer = single_as_json(RUN, some_trials()[1:3])

    assert answer["goodput_bps"] == 9.5e6
    assert answer["parameters"]["driver"] == "iperf3"


def test_a_missing_driver_is_refused_before_the_run(
    lanlab: Lanlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))

    said = lanlab("stream", "--tool", "lanlab,iperf3", "--testbed", "loopback")

    assert (said.code, said.out) == (2, "")
    assert "tool `iperf3` needs `iperf3`, not found on PATH" in said.err
    assert "hint: apt install iperf3" in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_a_condition_is_measured_by_two_programs_in_one_run(lanlab: Lanlab) -> None:
    if shutil.which("iperf3") is None:
        missing("need `iperf3`, not found on PATH; apt install iperf3")
    asked = ("--tool", "lanlab,iperf3", "--testbed", "loopback", "--time", "1")

    how = ("--rate", "1M", "--size", "500", "--warmup", "0", "--trials", "2")
    said = lanlab("stream", *asked, *how)

    assert said.code == 0, said.err
    # Whether one measures more than the other comes first.
    assert re.match("Goodput(, fastest (mean )?first)?: (lanlab|iperf3)", said.out.splitlines()[1])
    assert "tool        lanlab\n" in said.out
    assert "tool        iperf3 (iperf 3." in said.out
    report = lanlab("report", "last", "--json")
    assert report.code == 0, report.err
    page = Path(report.json()["html"]).read_text()
    assert "iperf3" in page


def test_completion_offers_further_drivers_after_a_comma() -> None:
    assert complete.drivers("ip") == ["iperf3", "iperf2"]
    assert complete.drivers("lanlab,so") == ["lanlab,sockperf"]
