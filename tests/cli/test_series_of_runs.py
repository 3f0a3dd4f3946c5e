"""`lanlab run A B --alternate`: from the first run to the comparison, and what is refused."""

import csv
import io
import signal
from pathlib import Path

import pytest
from command_line import SMALL_STUDY, Lanlab, running
from waiting import until

from lanlab.store import open_store

HERE = ("--testbed", "loopback")
STORE = Path("lanlab-results", "store.sqlite")


@pytest.fixture
def tiny(folder: Path) -> Path:
    """A study of one condition, in two files that differ in how it is sent."""
    before = SMALL_STUDY.replace("message_size_bytes = [50, 100]", "message_size_bytes = [100]")
    (folder / "before.toml").write_text(before)
    after = before.replace('rate_bps = "1M"', 'rate_bps = "1M", io = "batch"')
    (folder / "after.toml").write_text(after)
    return folder


def test_two_files_in_turns_are_compared_by_runs(tiny: Path, lanlab: Lanlab) -> None:
    said = lanlab("run", "before.toml", "after.toml", "--alternate", "2", *HERE, "--json")

    assert said.code == 0
    answer = said.json()
    assert (answer["status"], len(answer["runs"])) == ("done", 4)
    assert sorted((run["turn"], run["side"]) for run in answer["runs"]) == [
        (1, "A"),
        (1, "B"),
        (2, "A"),
        (2, "B"),
    ]
    found = answer["comparison"]
    assert [(side["name"], side["what"]) for side in found["sides"]] == [
        ("A", "before.toml"),
        ("B", "after.toml"),
    ]
    assert found["settings"] == {"io": ["auto", "batch"]}
    goodput, round_trip = found["comparisons"]
    for one in (goodput, round_trip):
        assert (one["basis"], one["unit_of_n"]) == ("turns", "run")
        assert (one["base_n"], one["other_n"]) == (2, 2)
    assert (round_trip["design"], round_trip["degrees_of_freedom"]) == ("by block", 1)
    # A paced stream may come out the same, to the message, in every run.
    assert goodput["design"] == "by block" or "is the same in all 2" in goodput["why_no_interval"]
    # The same by the id of the series, of a run of it, and as the newest.
    for name in (answer["series"], answer["runs"][1]["run"], "last"):
        assert lanlab("compare", name, "--json").json() == found
    rows = lanlab("runs", "--json").json()["runs"]
    assert {row["series"] for row in rows} == {answer["series"]}
    assert answer["series"] in lanlab("runs").out
    # Single runs can be named all the same.
    by_hand = {
        side: ",".join(run["run"] for run in answer["runs"] if run["side"] == side) for side in "AB"
    }
    named = lanlab("compare", "--before", by_hand["A"], "--after", by_hand["B"], "--json").json()
    assert [one["effect"] for one in named["comparisons"]] == [
        one["effect"] for one in found["comparisons"]
    ]
    table = lanlab("compare", answer["series"], "--base", "B", "--csv").out
    assert {row["base"] for row in csv.DictReader(io.StringIO(table))} == {"B"}
    page = lanlab("compare", answer["series"], "--report", "series.html")
    assert page.code == 0 and "A is before.toml." in (tiny / "series.html").read_text()


def test_ctrl_c_keeps_finished_runs_and_explains_how_to_resume(tiny: Path, lanlab: Lanlab) -> None:
    args = ("run", "before.toml", "--with", "sizes.io=batch", "--alternate", "2", *HERE)

    def has_a_run_and_a_trial() -> bool:
        if not STORE.exists():
            return False
        with open_store(str(STORE)) as store:
            runs = store.runs()
            return len(runs) == 2 and len(store.trials(runs[1].id)) > 0

    with running(tiny, *args, "--scale", "slow") as command:
        until(has_a_run_and_a_trial, "a second run")
        command.process.send_signal(signal.SIGINT)
        said = command.end()
        assert command.left() == []

    assert said.code == 1
    *_, error, hint = said.err.splitlines()
    series = error.split()[2]
    assert error.startswith(f"error: series {series} was interrupted after 1 of 4 runs; what had")
    assert hint == f"hint: continue with `lanlab run --resume {series}`"
    early = lanlab("compare", series)
    assert "is interrupted: only the trials that had ended" in early.out

    done = lanlab("run", "--resume", "last")

    assert done.code == 0
    assert "done: 4 runs" in done.out
    assert "B is before.toml with sizes.io=batch." in done.out
    assert "taken in 2 turns, in random order" in done.out
    assert "turn 1 of 2, run 2 of 4" in done.err and "run 1 of 4" not in done.err
    assert lanlab("run", "--resume", series).code == 2
