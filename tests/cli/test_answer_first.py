"""At most five lines stand above the first table, and nothing is lost by that."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Lanlab
from kept_runs import keep
from synthetic_runs import synthetic_run

from lanlab.cli.terminal.remarks import above_tables
from lanlab.report.document.document import Document
from lanlab.studies.load import known_studies

_MOST = 5
_WIDTHS = ("80", "100")
_LOOPBACK = ("--testbed", "loopback", "--trials", "3")
_COUNTED = ("--messages", "50", "--rate", "1M", "--warmup", "0")
_WORKLOADS = {
    "stream": _COUNTED,
    "stream-scan": (*_COUNTED, "--size", "100,200"),
    "stream-both": (*_COUNTED, "--bidirectional"),
    "echo": ("--requests", "20"),
    "load": ("--time", "0.5", "--warmup", "0", "--load", "up"),
    "copy": ("3x10kB", "--service", "ftp"),
    "copy-scan": ("3x10kB", "--service", "ftp,webdav,sftp"),
    "metadata": ("--service", "ftp", "--files", "8"),
    "stations": ("--service", "memory", "--stations", "1,2", "--readings", "300"),
}


def _lines_above(said: str) -> list[str]:
    """The lines before the first empty one, or before the headings of a list of trials."""
    before = re.split(r"\n\n|\n *trial  ", said, maxsplit=1)
    assert len(before) == 2, said
    return before[0].splitlines()


@pytest.mark.parametrize("which", known_studies())
def test_a_study_opens_with_its_answer(
    which: str, lanlab: Lanlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Current servers are none of Poo and Tan's.
    is_answered_here = which != "poo-tan"
    scale, where = ("tiny", "real") if is_answered_here else ("quick", None)
    run, trials = synthetic_run(which, scale, where=where).pair()
    store = ("--store", str(tmp_path / "both.sqlite"))
    keep(Path(store[1]), [(replace(run, id="20261121-here"), trials)])
    options = ("--scale", "tiny", "--testbed", "simulated", *store)
    simulated = str(lanlab("run", which, *options, "--json").json()["run"])
    runs = ("--run", "20261121-here", "--run", simulated)
    for columns in _WIDTHS:
        monkeypatch.setenv("LANLAB_COLUMNS", columns)
        studied = lanlab("show", which).out
        assert len(_lines_above(studied)) <= _MOST
        assert re.search(r"^Published( numbers)? \(", studied, re.MULTILINE)
        # Of a question on other machines, what this one does is an aside.
        here = ("Here", "Aside, this computer")
        for name, opening in (("20261121-here", here), (simulated, "Simulated")):
            said = lanlab("show", name, *store).out
            above = _lines_above(said)
            assert 1 <= len(above) <= _MOST, above
            if name == simulated or is_answered_here:
                assert above["?" in above[0]].startswith(opening)
            assert any(line.startswith("Published") for line in above), above
            # What JSON answers is whole above or below the tables.
            flat = " ".join(said.split())
            answer = lanlab("show", name, *store, "--json").json()["answer"]
            assert answer and all(line in flat for line in answer)
        assert len(_lines_above(lanlab("findings", which, *runs, *store).out)) <= _MOST


@pytest.mark.parametrize("columns", _WIDTHS)
@pytest.mark.parametrize(
    "line",
    [
        *(f"show 20261121-{place}" for place in ("08", "10", "11", "12", "13")),
        "compare 20261121-08 20261121-09 --margin 2%",
        "compare 20261121-09 --by ip_version",
        "compare 20261121-08 --published",
        "compare 20261122-080000-series-77aa",
    ],
)
def test_results_and_comparisons_open_with_the_answer(
    line: str, columns: str, lanlab: Lanlab, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = " ".join(lanlab(*line.split(), "--store", str(stored)).out.split())
    monkeypatch.setenv("LANLAB_COLUMNS", columns)
    above = _lines_above(lanlab(*line.split(), "--store", str(stored)).out)

    assert 1 <= len(above) <= _MOST
    assert above[0].split()[0] in whole


@pytest.mark.usefixtures("any_load")
@pytest.mark.parametrize("which", _WORKLOADS)
def test_measurements_open_with_the_answer(
    which: str, lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_COLUMNS", _WIDTHS[0])

    said = lanlab(which.partition("-")[0], *_WORKLOADS[which], *_LOOPBACK)

    assert said.code == 0, said.err
    above = _lines_above(said.out)
    assert 1 <= len(above) <= _MOST
    again = lanlab(which.partition("-")[0], *_WORKLOADS[which], *_LOOPBACK, "--json").json()
    assert again["answer"] and all(isinstance(one, str) for one in again["answer"])
    assert len(again["answer"]) >= len([line for line in above if not line.startswith(" ")])


def test_a_long_answer_is_cut_after_a_clause_and_whole_below() -> None:
    long = f"Fastest: {'; '.join(f'FTP in case {n} (no; yes)' for n in range(40))}."
    above, below = above_tables(Document([long, "Then this."], caution="Disturbed."), 80)
    assert len(above) == 2 and above[0].endswith("(no; yes); the rest is below.")
    assert above[0].removesuffix("; the rest is below.") in long
    assert above[1] == "Disturbed." and below == [long, "Then this."]
    assert above_tables(Document(["One.", "Two."]), 80) == (["One.", "Two."], [])


def test_three_answers_to_one_question_share_the_lines() -> None:
    kinds = ("Here", "Simulated", "Published")
    leads = [
        f"{kind} (5 trials each): rate {'; '.join('x' * 40 for _ in range(9))}." for kind in kinds
    ]
    above, below = above_tables(Document([*leads, "Then this."], leads=3), 80)
    assert [line.partition(" ")[0].rstrip(":") for line in above] == list(kinds)
    assert below == [*leads, "Then this."]
    # Without room for how sure it is, an answer begins with its value.
    assert "5 trials" in above[0] and above[2].startswith("Published: rate xx")
