"""`lanlab stations`: what it answers, what it refuses."""

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import Lanlab

pytestmark = pytest.mark.usefixtures("no_password_and_cache")
FEW = ("--readings", "60", "--trials", "2", "--size", "6k", "--file-size", "60k")


def test_a_user_s_directory_is_measured_and_left_as_it_was(lanlab: Lanlab, tmp_path: Path) -> None:
    nas = tmp_path / "nas"
    nas.mkdir()
    (nas / "letter").write_text("dear")
    said = lanlab("stations", str(nas), "--stations", "1,2,3", "--read", *FEW, "--limit", "60 s")

    assert said.code == 0, said.err
    lines = said.out.splitlines()
    first = [line.split()[0] for line in lines if line]
    head = first.index("stations")
    assert first[head : head + 4] == ["stations", "1", "2", "3"]
    assert lines[0].startswith("With 3 stations, the most tried, the mean response time")
    assert "60.0 s was not reached" in lines[0]
    assert [path.name for path in nas.rglob("*")] == ["letter"]


def test_an_unreachable_limit_is_reported(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "smb", "--testbed", "loopback", "--stations", "1,2"),
        *(*FEW, "--limit", "1us", "--write", "--statistic", "p90"),
    )

    assert said.code == 0, said.err
    assert said.out.splitlines()[0].startswith("Not even 1 station can be served within a")


def test_stations_that_were_never_all_active_are_an_error(lanlab: Lanlab, tmp_path: Path) -> None:
    once = ("--stations", "2", "--trials", "1", "--time", "0.2s", "--think-time", "60s")
    for form in ((), ("--json",)):
        said = lanlab("stations", tmp_path.as_uri(), *once, *form)
        assert said.code == 1, said
        assert "goodput" not in said.out
        assert "error: no trial has a result that counts" in said.err


def test_as_json_it_has_every_trial_and_the_answer(lanlab: Lanlab) -> None:
    said = lanlab(
        *("stations", "--service", "webdav", "--testbed", "loopback", "--stations", "1,3"),
        *(*FEW, "--read-ratio", "0.5", "--json"),
    )

    assert said.code == 0, said.err
    answer = json.loads(said.out)
    assert sorted(trial["factors"]["stations"] for trial in answer["trials"]) == [1, 1, 3, 3]
    assert all(trial["errors"] == 0 and trial["jain_index"] > 0.3 for trial in answer["trials"])
    assert "stations" in answer["answer"][0]
    with sqlite3.connect("lanlab-results/store.sqlite") as store:
        assert "client-readings" in "\n".join(store.iterdump())


def test_an_unreachable_server_is_an_error(lanlab: Lanlab) -> None:
    said = lanlab("stations", "ftp://127.0.0.1:1/", "--stations", "1", "--trials", "1")

    assert said.code == 1
    assert "connect to 127.0.0.1:1" in said.err
    assert said.out.splitlines()[0].startswith("No trial has a mean response time")
