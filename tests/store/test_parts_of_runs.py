"""What the live page and lists read of a store: how far runs are, parts, and outlines of trials."""

import dataclasses
from pathlib import Path

import pytest
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError
from lanlab.store import RunHead, open_store
from lanlab.store.labels import RunLabel


def test_heads_have_the_progress_of_each_run(where: str) -> None:
    second = dataclasses.replace(a_run(), id="20261121-091500-small-0002")
    with open_store(where) as store, open_store(where) as other:
        store.start_run(a_run()).release()
        store.start_run(second).release()
        begun = [RunHead(run.id, run.status, 0) for run in (a_run(), second)]
        assert store.heads() == begun
        other.commit_trial(a_trial(0))
        other.commit_trial(a_trial(4))
        assert store.heads()[0].next_number == 5
        other.finish_run(second.id, "failed")
        assert store.heads()[1] == RunHead(second.id, "failed", 0)


def test_heads_have_the_labels_of_runs(where: str) -> None:
    label = RunLabel("before-upgrade", "cable replaced", ("lab2",))
    with store_with_run(where) as store:
        store.label_run(a_run().id, label)
        assert [head.label for head in store.heads()] == [label]


def test_a_part_of_a_run_has_exactly_the_requested_trials(where: str) -> None:
    with store_with_run(where) as store:
        for number in (0, 1, 2, 5):
            store.commit_trial(a_trial(number))
        assert [trial.number for trial in store.trials("last", 1)] == [1, 2, 5]
        assert [trial.number for trial in store.trials("last", 1, 2)] == [1, 2]
        assert store.trials("last", 3, 1) == [a_trial(5)]
        assert store.trials("last", 6) == []


def test_removal_of_an_open_file_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with open_store(str(place)) as store:
        store.start_run(a_run()).release()
        place.unlink()
        with pytest.raises(StoreError, match="was removed or replaced while it was in use"):
            store.heads()


def test_trials_are_counted(where: str) -> None:
    with store_with_run(where) as store:
        assert store.count("last") == 0
        for number, status in enumerate(("done", "failed", "done")):
            store.commit_trial(dataclasses.replace(a_trial(number), status=status))
        assert store.count("last") == 3
