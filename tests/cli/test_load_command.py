"""`lanlab load`, from the command to its report."""

import csv
import json
from pathlib import Path

import pytest
from command_line import Lanlab

from lanlab.cli.commands.load import load
from lanlab.store import open_store

QUICK = ("--testbed", "loopback", "--time", "0.5", "--warmup", "0.1", "--trials", "2")
UDP = ("--transport", "udp", "--rate", "1M", "-P", "2")

pytestmark = pytest.mark.usefixtures("any_load")


def test_every_block_measures_the_echo_without_load_once(lanlab: Lanlab, folder: Path) -> None:
    said = lanlab("load", *QUICK, *UDP, "--load", "both", "--seed", "5", "--json")

    assert said.code == 0, said.err
    answer = said.json()
    trials = answer["trials"]
    assert [trial["block"] for trial in trials] == [0, 0, 1, 1]
    assert sorted(trial["factors"]["load"] for trial in trials) == ["both", "both", "none", "none"]
    (found,) = answer["loads"]
    assert (found["load"], found["trials"], found["median"]["blocks"]) == ("both", 2, 2)
    by_block = {(t["block"], t["factors"]["load"]): t["rtt_p50_ns"] for t in trials}
    differences = [by_block[b, "both"] - by_block[b, "none"] for b in (0, 1)]
    assert found["median"]["mean"] == pytest.approx(sum(differences) / 2)
    # No interval below three blocks.
    assert found["median"]["low"] is None and found["median"]["high"] is None
    beside = next(trial for trial in trials if trial["factors"]["load"] == "both")
    assert {way: len(each) for way, each in beside["streams_bps"].items()} == {"up": 2, "down": 2}
    assert sum(beside["streams_bps"]["up"]) == pytest.approx(beside["goodput_bps"], rel=0.05)
    with open_store(None) as records:
        names = [name for t in records.trials(answer["run"]) for name in t.raw]
    assert names.count("reverse_receiver") == 2


def test_a_report_shows_the_increase_and_the_distribution(lanlab: Lanlab, folder: Path) -> None:
    said = lanlab("load", *QUICK, *UDP, "--load", "up", "--export-json", "all.json")
    assert said.code == 0, said.err
    assert ["load", "alone", "(ms)"] in [line.split()[:3] for line in said.out.splitlines()]
    assert said.out.startswith("Under load up, the median round trip took ")
    assert len(json.loads((folder / "all.json").read_text())["loads"]) == 1

    assert lanlab("report", "last", "--out", "out").code == 0
    page = (folder / "out" / "report.html").read_text().lower()
    titles = ("round trips over time", "distribution of round-trip times", "goodput over time")
    assert all(title in page for title in titles)
    (course,) = (folder / "out" / "tables").glob("*-figure-1.csv")
    assert {row["series"] for row in csv.DictReader(course.open())} == {"load none", "load up"}
    (table,) = (folder / "out" / "tables").glob("*-under-load.csv")
    rows = list(csv.DictReader(table.open()))
    assert [row["load"] for row in rows] == ["up"]
    assert float(rows[0]["goodput up (bit/s)"]) > 0 and rows[0]["goodput down (bit/s)"] == ""
    runs = lanlab("runs")
    assert "load-scan" in runs.out
    compared = lanlab("compare", "last", "--by", "load")
    assert compared.code in (0, 3), compared.err


def test_load_help_groups_stream_and_echo_options(lanlab: Lanlab) -> None:
    said = " ".join(lanlab("load", "--help", "all").out.split())
    assert load.__doc__ is not None
    assert "Measure latency under load" in said
    for text in ("default: none,up,down,both", "--echo-rate", "16 KiB over TCP"):
        assert text in said, text
