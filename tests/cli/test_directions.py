"""Both directions of a stream, and the short options that iperf3 has."""

import csv
from pathlib import Path

import pytest
from command_line import Lanlab

from lanlab.store import open_store
from lanlab.web.trial_page import trial_on_page

QUICK = ("--testbed", "loopback", "--warmup", "0.05")
SHORT = (*QUICK, "-t", "0.1", "-l", "256")


def test_reverse_is_a_parameter_with_the_roles_swapped(lanlab: Lanlab, folder: Path) -> None:
    said = lanlab("stream", *SHORT, "-b", "1M", "-R", "-J").json()
    assert said["parameters"]["traffic_direction"] == "reverse"
    assert said["goodput_bps"] > 0

    with open_store(None) as records:
        (trial,) = records.trials(said["run"])
    requests = trial.raw["setup"]["requests"]
    assert requests["sender"]["type"] == "stream_send"
    assert trial.raw["setup"]["hosts"]["receiver"] != trial.raw["setup"]["hosts"]["sender"]
    forward = lanlab("stream", *SHORT, "-b", "1M", "-J").json()
    with open_store(None) as records:
        (other,) = records.trials(forward["run"])
    hosts, swapped = other.raw["setup"]["hosts"], trial.raw["setup"]["hosts"]
    assert (hosts["sender"], hosts["receiver"]) == (swapped["receiver"], swapped["sender"])


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_both_directions_have_results_of_their_own(
    transport: str, lanlab: Lanlab, folder: Path
) -> None:
    args = ("--transport", transport, "--bidirectional", "--messages", "40", "--message-rate")
    file = folder / "intervals.csv"
    exported = ("--export-intervals", str(file))
    said = lanlab("stream", *QUICK, "-l", "256", *args, "200", *exported, "-J")

    assert said.code == 0, said.err
    answer = said.json()
    assert answer["offered_messages"] == answer["reverse_offered_messages"] == 40
    for key in ("received_messages", "reverse_received_messages"):
        if transport == "udp":
            assert answer[key] == 40
        else:
            # TCP's window is a time: a late receiver reads some of the warm-up's 10 in it.
            assert 40 <= answer[key] <= 50, key
    assert answer["reverse_goodput_bps"] > 0
    assert "reverse_interrupt_cpu_s" not in answer
    with open_store(None) as records:
        (trial,) = records.trials(answer["run"])
        series = records.series(answer["run"], 0, ["reverse-receiver-intervals"])
    assert set(trial.raw["setup"]["requests"]) == {
        "sender",
        "receiver",
        "reverse_sender",
        "reverse_receiver",
    }
    with open_store(None) as records:
        shown = trial_on_page(records.run("last"), trial, records).over_time
    assert shown is not None
    assert (len(shown.lines), shown.ways) == (2, ("first to second host", "second to first host"))
    assert {row[0].text for row in shown.table.rows} == set(shown.ways)
    # One start on one clock.
    assert trial.raw["setup"]["start"]["shared_clock"]
    assert len(trial.raw["setup"]["start"]["margins_ns"]) == 4
    assert sum(series["reverse-receiver-intervals"].columns["bytes"]) >= 40 * 256
    rows = list(csv.DictReader(file.open()))
    for end in ("receiver", "reverse_receiver"):
        assert sum(int(row["bytes"]) for row in rows if row["end"] == end) >= 40 * 256
    report = lanlab("report", "last", "--out", str(folder / "report"))
    assert report.code == 0, report.err
    page = (folder / "report/report.html").read_text()
    assert "second to first host" in page
    assert ("congestion window, second direction" in page) == (transport == "tcp")


def test_both_directions_are_distinguished_in_words(lanlab: Lanlab) -> None:
    said = lanlab("stream", *SHORT, "--rate", "1M", "--bidirectional")
    assert said.out.count("goodput ") == 2
    assert "from the second host to the first, at the same time" in said.out

    scan = lanlab("stream", *SHORT, "--rate", "1M", "--direction", "forward,both", "-J").json()
    ways = {trial["factors"]["traffic_direction"]: trial for trial in scan["trials"]}
    assert "reverse_goodput_bps" in ways["both"]
    assert "reverse_goodput_bps" not in ways["forward"]


def test_short_options_match_iperf3(lanlab: Lanlab) -> None:
    args = ("-t", "0.1", "-P", "2", "-b", "1M", "-l", "256", "-6", "-u", "-J")
    said = lanlab("stream", *QUICK, *args).json()
    wanted = {
        "time_s": 0.1,
        "flows": 2,
        "rate_bps": 2_000_000,
        "message_size_bytes": 256,
        "ip_version": 6,
        "transport": "udp",
    }
    assert wanted.items() <= said["parameters"].items()
    scan = lanlab("stream", *SHORT, "-P", "2", "-b", "100k,200k", "-J").json()
    assert {t["factors"]["rate_bps"] for t in scan["trials"]} == {200_000, 400_000}
    unlimited = lanlab("stream", *SHORT, "-b", "0", "-J").json()
    assert "rate_bps" not in unlimited["parameters"]


def test_the_rate_of_a_flow_needs_one_number_of_flows(lanlab: Lanlab) -> None:
    for args in (("-P", "1,2"), ("--rate", "1M"), ("--message-rate", "5")):
        said = lanlab("stream", *SHORT, "-b", "1M", *args)
        assert (said.code, said.err.startswith("error: --flow-rate ")) == (2, True), said.err


def test_help_of_measuring_commands_is_grouped(lanlab: Lanlab) -> None:
    for name in ("stream", "echo", "copy", "stations"):
        said = lanlab(name, "--help", "all").out
        heads = [line for line in said.splitlines() if line.endswith(":") and line[:1].isalpha()]
        expected = ["What:", "Where:", "When to stop:", "How:", "Trials:", "Output:"]
        assert [head for head in heads if head in expected] == expected
        assert said.count("  --setup ") == said.count("--json ") == 1
