"""What a run may be called, and which run a name means; `lanlab runs` is in `tests/cli`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from store_samples import a_run, a_trial

from lanlab.errors import UsageError
from lanlab.store import open_store
from lanlab.store.labels import (
    RunLabel,
    check_name,
    id_of_name,
    label_facts,
    label_from,
    label_of,
)

WHOLE = RunLabel("before-upgrade", "cable replaced", ("lab2", "night"))


@pytest.mark.parametrize(
    "allowed",
    [
        {"name": "a"},
        {"name": "9A._-z"},
        {"name": "x" * 64},
        {"note": "n" * 4_000},
        {"note": ""},
        {"tags": ("t" * 64,)},
        {"tags": tuple(map(str, range(32)))},
    ],
)
def test_a_label_is_kept_up_to_its_limits(allowed: dict[str, Any]) -> None:
    label = RunLabel(**allowed)
    assert label_from(label.to_json()) == (label if label.note != "" else RunLabel())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "name: found ``"),
        ({"name": "last"}, "name: found `last`"),
        ({"name": "-x"}, "name: found `-x`"),
        ({"name": "a b"}, "name: found `a b`"),
        ({"name": "x" * 65}, "up to 64 letters"),
        ({"note": "n" * 4_001}, "note: found 4001 characters; allowed: 4,000"),
        ({"tags": ("ok", "")}, "tag: found ``"),
        ({"tags": ("a b",)}, "tag: found `a b`"),
        ({"tags": ("a,b",)}, "tag: found `a,b`"),
        ({"tags": ("t" * 65,)}, "up to 64 characters"),
        ({"tags": tuple(map(str, range(33)))}, "tags: found 33; allowed: 32"),
    ],
)
def test_a_label_beyond_its_limits_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RunLabel(**wrong)


def test_a_label_keeps_each_tag_once() -> None:
    assert RunLabel().to_json() is None
    assert RunLabel(note="n").to_json() == {"note": "n"}
    assert RunLabel(tags=("b", "a", "b")).to_json() == {"tags": ["b", "a"]}
    assert WHOLE.to_json() == {
        "name": "before-upgrade",
        "note": "cable replaced",
        "tags": ["lab2", "night"],
    }


@pytest.mark.parametrize(
    ("told", "label"),
    [
        (None, RunLabel()),
        ("name", RunLabel()),
        (["name"], RunLabel()),
        ({"name": 5, "note": ["n"], "tags": "abc"}, RunLabel()),
        ({"name": "a", "note": "n", "tags": ["b", 3, None]}, RunLabel("a", "n", ("b",))),
        ({"name": "last", "note": "n"}, RunLabel()),
    ],
)
def test_unknown_label_fields_are_ignored(told: Any, label: RunLabel) -> None:
    assert label_from(told) == label == label_of(a_run(label=told))


def test_a_page_shows_labels_with_their_parts() -> None:
    assert label_facts(a_run(label=WHOLE.to_json())) == [
        ("Name", "before-upgrade"),
        ("Tags", "lab2, night"),
        ("Note", "cable replaced"),
    ]
    assert label_facts(a_run(label={"note": "n"})) == [("Note", "n")]
    assert label_facts(a_run()) == []


def test_ambiguous_names_are_refused() -> None:
    one = a_run(id="2026-one", label={"name": "mine"})
    two = a_run(id="2027-two")
    check_name("mine", "2026-one", [one, two])
    check_name("other", "2027-two", [one, two])
    for run_id, name, said in (
        ("2027-two", "mine", "run 2026-one has the name `mine`"),
        ("2026-one", "2027", "`2027` is a prefix of the id of run 2027-two"),
        ("2026-one", "2026-one", "`2026-one` is a prefix of the id of run 2026-one"),
    ):
        with pytest.raises(UsageError, match=said):
            check_name(name, run_id, [two, one])


def test_a_name_is_looked_for_in_every_row() -> None:
    label = json.dumps({"name": "mine"})
    strange = [("a", None), ("b", "{"), ("c", "[1]"), ("d", '{"note": "mine"}')]
    assert id_of_name("mine", [*strange, ("e", label), ("f", label)]) == "e"
    assert id_of_name("mine", [*strange, (7, {"name": "mine"})]) == "7"
    assert id_of_name("mine", strange) is None


def test_a_store_finds_a_run_by_its_name_and_changes_nothing_else_of_it(where: str) -> None:
    with open_store(where) as store:
        for run_id in ("2026-a", "2026-b"):
            store.start_run(a_run(id=run_id)).release()
            store.commit_trial(a_trial(0, run_id=run_id))
        named = store.label_run("2026-a", WHOLE)
        assert named == a_run(id="2026-a", label=WHOLE.to_json())
        assert store.run("before-upgrade") == store.run("2026-a") == named
        assert store.run("2026-b") == a_run(id="2026-b")
        assert store.trials("before-upgrade") == [a_trial(0, run_id="2026-a")]
        with pytest.raises(UsageError, match="run 2026-a has the name"):
            store.label_run("2026-b", RunLabel("before-upgrade"))
        # Who has no name takes none away, and an own name may be given again.
        store.label_run("2026-b", RunLabel(note="n"))
        store.label_run("before-upgrade", RunLabel("before-upgrade"))
        assert store.run("2026-a").label == {"name": "before-upgrade"}
        assert store.label_run("2026-a", RunLabel()).label is None
    with open_store(where) as store:
        assert [run.label for run in store.runs()] == [None, {"note": "n"}]


def test_a_run_row_loses_its_removed_label(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with open_store(str(path)) as store:
        store.start_run(a_run(id="2026-a")).release()
        store.label_run("2026-a", WHOLE)
        store.label_run("2026-a", RunLabel())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT label FROM run").fetchall() == [(None,)]
