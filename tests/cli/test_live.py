"""Live lines while a measurement runs, the intervals that are stored, and what TCP itself knows."""

import csv
import io
import json
import os
import pty
import subprocess
import time
from pathlib import Path

import pytest
from command_line import COMMAND, Lanlab, environment, on_full_disk

from lanlab.analysis.traffic.tcp_over_time import SAMPLES
from lanlab.cli.running.watch import interval_between
from lanlab.store import TrialRecord, open_store
from lanlab.store.series import Series
from lanlab.workloads import Progress

QUICK = ("--testbed", "loopback", "--warmup", "0", "--time", "0.8")


def test_each_interval_is_a_line_that_adds_up(lanlab: Lanlab) -> None:
    said = lanlab("stream", *QUICK, "--rate", "1M", "-i", "0.25", "--json", "--live")

    assert said.code == 0
    *lines, result = [json.loads(line) for line in said.out.splitlines()]
    # How many there are, and how long they are, depends on when the engine gets a processor.
    assert [line["start_s"] for line in lines] == [0.0, *(line["end_s"] for line in lines[:-1])]
    assert all(line["end_s"] - line["start_s"] >= 0.2 for line in lines)
    assert {line["type"] for line in lines} == {"interval"}
    assert 0 < sum(line["messages"] for line in lines) <= result["sent_messages"]
    for line in lines:
        assert line["rate_bps"] == pytest.approx(
            8 * line["bytes"] / (line["end_s"] - line["start_s"])
        )
        assert line["lost_messages"] == line["expected_messages"] - line["messages"]
    assert any("delay_variation_ns" in line for line in lines)


def test_interval_lines_go_to_standard_error(lanlab: Lanlab) -> None:
    args = ("--transport", "tcp", "--rate", "1M", "-i", "0.25")
    said = lanlab("stream", *QUICK, *args, "--json")
    assert said.json()["goodput_bps"] > 0
    lines = [line for line in said.err.splitlines() if " retransmitted, window " in line]
    assert lines and all("round trip" in line for line in lines)
    assert "replies" in lanlab("echo", *QUICK, "-i", "0.25").err


def test_interval_lines_name_their_trial(lanlab: Lanlab) -> None:
    args = ("--rate", "1M", "--size", "100,200", "-i", "0.25")
    said = lanlab("stream", *QUICK, *args)
    heads = [line for line in said.err.splitlines() if line.startswith("trial ")]
    assert [head.partition(":")[0] for head in heads[:2]] == ["trial 1 of 2", "trial 2 of 2"]
    assert {head.partition(": ")[2] for head in heads[:2]} == {"100 B", "200 B"}
    assert "trial " not in lanlab("stream", *QUICK, "--rate", "1M", "-i", "0.25").err


def test_interval_lines_need_a_terminal_or_an_option(lanlab: Lanlab) -> None:
    for args in ((), ("-i", "0")):
        said = lanlab("stream", *QUICK, "--rate", "1M", *args)
        assert "lost 0 of" not in said.err
    for args, words in (
        (("-i", "0.1"), "--interval: found `0.1`; allowed: 0, or 0.25 s to"),
        (("--live",), "--live needs --json"),
        (("--live", "--json", "-i", "0"), "--live and --interval 0 cannot be used together"),
    ):
        said = lanlab("stream", *QUICK, *args)
        assert (said.code, words in said.err) == (2, True), said.err


def test_a_terminal_shows_intervals_from_two_seconds_on(folder: Path) -> None:
    ours, theirs = pty.openpty()
    args = ("stream", "--testbed", "loopback", "--time", "2.2", "--warmup", "0", "--rate", "1M")
    began = time.monotonic()
    with subprocess.Popen(
        [*COMMAND, *args],
        cwd=folder,
        env=environment(TERM="xterm"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen, first_s = b"", 0.0
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            seen += piece
            if b"lost " in seen and not first_s:
                first_s = time.monotonic() - began
            if not piece:
                break
    os.close(ours)
    assert process.returncode == 0
    # The interval.
    assert first_s > 1.0, seen


def test_a_closed_pipe_ends_the_run(folder: Path) -> None:
    args = ("stream", "--testbed", "loopback", "--time", "60", "--rate", "1M", "--json", "--live")
    with subprocess.Popen(
        [*COMMAND, *args, "-i", "0.25"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["type"] == "interval"
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=30) == 1

    assert "Traceback" not in said
    assert "note: standard output was closed, so the run is ended" in said
    assert "was interrupted; the trials that had ended are saved" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_unwritable_interval_lines_do_not_end_a_trial(folder: Path, lanlab: Lanlab) -> None:
    args = ("stream", *QUICK, "--rate", "1M", "--json", "--live", "-i", "0.25")
    done = on_full_disk(folder, *args)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "error: standard output cannot be written: No space left on device" in done.stderr
    (trial,) = lanlab("show", "last", "--json").json()["trials"]
    assert trial["status"] == "done"


def test_an_interval_is_the_difference_of_two_progress_reports() -> None:
    before = Progress(1.0, 90, 900, 100, 100, None, {"retransmitted_segments": 3})
    tcp = {"retransmitted_segments": 5, "congestion_window_bytes": 7, "round_trip_ns": 8}
    back = Progress(2.0, 5, 50, None)
    now = Progress(2.0, 195, 1950, 200, 195, 40, tcp, back)
    found = interval_between(before, now)

    assert (found["messages"], found["lost_messages"]) == (105, -10)
    assert (found["rate_bps"], found["delay_variation_ns"]) == (8 * 1050, 40)
    assert found["retransmitted_segments"] == 2
    assert found["reverse"]["rate_bps"] == 200


def test_stored_intervals_are_exported(lanlab: Lanlab, folder: Path) -> None:
    args = ("--rate", "1M", "--bidirectional", "--export-intervals", "out.csv", "--json")
    said = lanlab("stream", *QUICK, *args).json()

    rows = list(csv.DictReader(io.StringIO((folder / "out.csv").read_text())))
    for end, key in (("receiver", ""), ("reverse_receiver", "reverse_")):
        total = sum(int(row["messages"]) for row in rows if row["end"] == end)
        # An interval counts what came, also after the end.
        assert total == said[f"{key}received_messages"] + said[f"{key}lost_late_messages"]


def test_tcp_is_sampled_fifty_times_a_second(lanlab: Lanlab, folder: Path) -> None:
    args = ("--transport", "tcp", "--rate", "2M", "--flows", "2", "--json")
    said = lanlab("stream", *QUICK, *args).json()

    with open_store(None) as records:
        (trial,) = records.trials(said["run"])
        series = records.series(said["run"], 0, ["sender-tcp", "receiver-tcp"])
    assert trial.raw["sender"]["tcp_samples"] == {"series": "sender-tcp"}
    sender = series["sender-tcp"]
    first = [at for at, flow in _rows(sender) if flow == 0]
    assert {flow for _, flow in _rows(sender)} == {0, 1}
    # On a machine that does other things looks are missed, and not made up for.
    assert first and first == sorted(first)
    assert max(map(int, sender.columns["congestion_window_bytes"])) > 0  # type: ignore[arg-type]
    received = list(map(int, series["receiver-tcp"].columns["received_bytes"]))  # type: ignore[arg-type]
    assert received[-1] > 0
    assert lanlab("report", "last", "--out", "out").code == 0
    page = (folder / "out" / "report.html").read_text()
    for title in ("Goodput over time", "Windows of TCP over time", "Rates of TCP over time"):
        assert title in page


def _rows(series: Series) -> list[tuple[int, int]]:
    at, flow = series.columns["at_ns"], series.columns["flow"]
    return [(int(a), int(f)) for a, f in zip(at, flow, strict=True)]  # type: ignore[call-overload]


def test_a_report_works_without_lost_samples() -> None:
    raw = {"sender": {"tcp_samples": {"series": "sender-tcp"}}}
    trial = TrialRecord("r", 0, "e", "stream", {}, {}, 0, "trial", "done", "now", 1.0, {}, raw)

    def lost(trial: TrialRecord, name: str) -> Series:
        raise KeyError(name)

    assert SAMPLES.added([trial], lost, frozenset({0})) == [trial]
