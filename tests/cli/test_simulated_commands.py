"""Commands on modelled machines: what they print, and what they refuse."""

import csv
import re
from pathlib import Path

import pytest
from captures import fields_of
from command_line import Lanlab

from lanlab.studies.load import load_study
from lanlab.studies.machines import known_machine

SINGLE = ("stream", "--testbed", "simulated", "--size", "128", "--time", "0.05", "--seed", "1")


def test_a_stream_between_named_machines(lanlab: Lanlab) -> None:
    """On the link of the study that the first machine is of; 38.64 µs a message are 26.5 Mbit/s."""
    done = lanlab(*SINGLE, "--machines", "vista-ipv4,vista-ipv4", "--json")
    told = done.json()
    assert (done.code, told["testbed"], told["link"]) == (0, "simulated", "100M")
    assert told["goodput_bps"] == pytest.approx(26.5e6, rel=0.02)
    again = lanlab(*SINGLE, "--machines", "vista-ipv4,vista-ipv4", "--json").json()
    assert again["goodput_bps"] == told["goodput_bps"]


def test_round_trips_between_named_machines(lanlab: Lanlab) -> None:
    options = ("--testbed", "simulated", "--machines", "vista-ipv4,vista-ipv4", "--requests", "50")
    told = lanlab("echo", *options, "--json").json()
    assert told["replies"] == 50 and told["timeouts"] == 0


def test_the_frames_of_each_trial_are_a_file_that_tshark_reads(
    lanlab: Lanlab, tmp_path: Path
) -> None:
    pcap = tmp_path / "frames.pcap"
    options = (*SINGLE, "--machines", "vista-ipv4,vista-ipv4", "--trials", "2", "--pcap", str(pcap))
    told = lanlab(*options, "--json").json()
    files = [pcap, tmp_path / "frames-2.pcap"]
    assert sorted(tmp_path.glob("*.pcap")) == sorted(files)
    for file, trial in zip(files, told["trials"], strict=True):
        frames = fields_of(file, ("udp.length", "_ws.malformed"))
        # Those of the warm-up are there as well.
        assert [length for length, _ in frames].count("136") >= trial["sent_messages"] > 1000
        assert {malformed for _, malformed in frames} == {""}
    refused = lanlab(*options)
    assert refused.code == 2 and "already exists" in refused.err


def test_a_prediction_compares_both_sides(lanlab: Lanlab) -> None:
    change = "machine.486dx2-nt4.interrupt_us=100"
    options = ("--scale", "tiny", "--set", change, "--ensemble", "1", "--seed", "1", "--json")
    done = lanlab("predict", "milanovic-srbljic", *options)
    told = done.json()
    assert done.code == 0 and len(told["runs"]) == 2
    simulation = load_study("milanovic-srbljic").study.simulation
    assert simulation is not None
    before_us = known_machine(simulation, "486dx2-nt4").numbers["interrupt_us"].value
    assert told["assumptions"][0].startswith(f"486dx2-nt4: interrupt_us {before_us:.6g} ")
    # What the model missed of what it was not fitted to bounds what the change is worth, also where
    # no such value is simulated.
    assert (
        "The simulation misses 4 published values that had no part in the fit"
        in told["model_error"]
    )
    rows = {(row["factors"]["host"], row["factors"]["rate_bps"]): row for row in told["conditions"]}
    slow, fast = rows["486dx2", 10_600_000], rows["celeron", 10_600_000]
    assert slow["ratio"] > 2 and slow["cause_before"] == "receiver's interrupts"
    assert fast["ratio"] == pytest.approx(1)
    # Another machine that agrees with print gives another ratio of the changed one alone.
    assert told["ensemble"] == 1
    low, high = slow["range_ratio"]
    assert low < high and low <= slow["ratio"] <= high
    assert fast["range_ratio"] == pytest.approx([1, 1])
    assert slow["interval_ratio"][0] < low and high < slow["interval_ratio"][1]
    assert fast["interval_ratio"] is None and len(fast["interval_after"]) == 2


def test_a_scan_over_the_rate_reports_its_losses_over_time(lanlab: Lanlab, tmp_path: Path) -> None:
    options = ("--testbed", "simulated", "--machines", "celeron-nt4,486dx2-nt4", "--seed", "1")
    scan = ("--size", "500", "--rate", "1M,3M,8M", "--time", "0.5", "--warmup", "0")
    told = lanlab("stream", *options, *scan, "--trials", "2", "--json").json()
    folder = tmp_path / "report"
    assert lanlab("report", "last", "--out", str(folder)).code == 0

    (table,) = (
        table
        for table in (folder / "tables").glob("*.csv")
        if "lost messages (%)" in table.read_text(encoding="utf-8").partition("\n")[0]
    )
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    lost: dict[str, int] = {}
    for row in rows:
        count, of = re.findall(r"lost (-?[0-9,]+) of ([0-9,]+)", row["condition"])[0]
        count, of = int(count.replace(",", "")), int(of.replace(",", ""))
        assert float(row["lost messages (%)"]) == pytest.approx(100 * count / of)
        lost[row["series"]] = lost.get(row["series"], 0) + count
    sent_less_arrived: dict[str, int] = {}
    for trial in told["trials"]:
        name = f"{trial['factors']['rate_bps'] / 1e6:g} Mbit/s"
        here = trial["sent_messages"] - trial["received_messages"]
        sent_less_arrived[name] = sent_less_arrived.get(name, 0) + here
    # An incomplete last interval may be unknown.
    assert lost.keys() == sent_less_arrived.keys()
    assert all(
        0.9 * all_lost <= lost[name] <= all_lost for name, all_lost in sent_less_arrived.items()
    )
    assert lost["1 Mbit/s"] == 0 < lost["3 Mbit/s"] < lost["8 Mbit/s"]
