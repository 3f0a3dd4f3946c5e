"""`lanlab delete`, and how the command of a run is recorded and told."""

import csv
import html
import io
import sys
from pathlib import Path

import pytest
import typer
from command_line import STREAM, Lanlab

from lanlab.cli.terminal.remarks import masked
from lanlab.store import open_store


def runs(lanlab: Lanlab) -> list[str]:
    return [one["run"] for one in lanlab("runs", "--json").json()["runs"]]


def test_runs_are_deleted_with_their_files_and_others_stay(lanlab: Lanlab, folder: Path) -> None:
    for _ in range(3):
        assert lanlab(*STREAM).code == 0
    first, second, third = runs(lanlab)
    said = lanlab("delete", first, "last", third, "--yes", "--json")

    assert said.code == 0
    deleted = said.json()["deleted"]
    assert [(one["run"], one["trials"]) for one in deleted] == [(first, 1), (third, 1)]
    assert all(one["series"] >= 1 for one in deleted)
    assert runs(lanlab) == [second]
    series = folder / "lanlab-results" / "store.sqlite.series"
    assert [path.name for path in series.iterdir()] == [second]


def test_without_a_terminal_deletion_needs_yes(lanlab: Lanlab) -> None:
    assert lanlab(*STREAM).code == 0
    refused = lanlab("delete", "last")
    unknown = lanlab("delete", "last", "nonsense", "--yes")

    assert (refused.code, refused.out) == (2, "")
    assert "hint: add --yes" in refused.err
    assert (unknown.code, unknown.out) == (2, "")
    assert len(runs(lanlab)) == 1


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_it_asks_first(
    answer: bool, lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lanlab(*STREAM).code == 0
    asked: list[str] = []

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setattr(typer, "confirm", confirm)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    said = lanlab("delete", "last")

    assert asked == ["Delete 1 run?"]
    assert said.code == (0 if answer else 1)
    assert len(runs(lanlab)) == (0 if answer else 1)


def test_a_running_run_is_refused(lanlab: Lanlab) -> None:
    for _ in range(2):
        assert lanlab(*STREAM).code == 0
    first, second = runs(lanlab)
    with open_store(None) as store, store.acquire_run(second):
        said = lanlab("delete", first, second, "--yes")

    assert said.code == 1
    assert f"run {second} is still running" in said.err
    assert runs(lanlab) == [first, second]


def test_a_single_measurement_is_repeated_by_the_command_that_was_typed(
    lanlab: Lanlab,
) -> None:
    assert lanlab(*STREAM, "--transport", "tcp", "--size", "64 KiB").code == 0
    with open_store(None) as store:
        run = store.run("last")
    page = Path(lanlab("report", "last", "--json").json()["html"]).read_text(encoding="utf-8")

    quick = "lanlab stream --testbed loopback --warmup 0 --messages 50 --rate 10M"
    typed = f"{quick} --transport tcp --size '64 KiB'"
    assert run.command == typed
    assert f"{typed} --seed {run.seed}" in html.unescape(page)
    assert "lanlab run STUDY.toml" not in page


def test_the_trials_of_a_report_have_a_column_for_each_factor(lanlab: Lanlab) -> None:
    assert lanlab("run", "small.toml", "--testbed", "loopback").code == 0
    tables = lanlab("report", "last", "--json").json()["tables"]
    [path] = [Path(table) for table in tables if table.endswith("trials.csv")]
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))

    assert {row["message_size_bytes"] for row in rows} == {"50", "100", ""}
    assert all(
        row["message_size_bytes"] in row["condition"] for row in rows if row["message_size_bytes"]
    )


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("postgresql://me:pw@host/db", "postgresql://me:***@host/db"),
        ("--store=postgresql://me:p%40w@h/db?x=1", "--store=postgresql://me:***@h/db?x=1"),
        ("postgresql://h/db?password=pw&schema=s", "postgresql://h/db?password=***&schema=s"),
        ("smb://dom;me@nas:445/share", "smb://dom;me@nas:445/share"),
        ("a:b@c", "a:b@c"),
    ],
)
def test_no_password_of_a_url_is_recorded(word: str, kept: str) -> None:
    assert masked(word) == kept
