"""Commands on modelled machines: what they print, and what they refuse."""

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
        "The simulation misses 4 published ratios (TCP) that had no part in the fit"
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
