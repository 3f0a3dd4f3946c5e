"""Runs that were ended before their end, and what goes on with them."""

import dataclasses
from pathlib import Path

import pytest
from small_runs import (
    Interrupting,
    Watching,
    a_store,
    on_loopback,
    order_of,
    small_study,
)

from lanlab.errors import LabError, RunInterrupted, StoreError, UsageError
from lanlab.run import new_run, resume_run
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.sqlite import SqliteStore


def interrupted(store: SqliteStore, after: int) -> RunRecord:
    with pytest.raises(RunInterrupted):
        new_run(on_loopback(small_study()), store, Interrupting(after))
    return store.run("last")


def test_a_resumed_run_has_the_same_trials_as_an_uninterrupted_one(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        whole = new_run(on_loopback(small_study()), store, Watching())
        run = interrupted(store, after=3)
        with pytest.raises(RunInterrupted):
            resume_run(run.id, store, Interrupting(4))
        assert store.run(run.id).status == "interrupted"
        first_part = store.trials(run.id)

        done = resume_run("last", store, Watching())

        assert (done.id, done.status) == (run.id, "done")
        assert store.trials(run.id)[:7] == first_part
        assert order_of(store.trials(run.id)) == order_of(store.trials(whole.id))


def test_a_resumed_run_has_the_status_running(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=9)
        watching = Watching()

        resume_run(run.id, store, watching)

        assert watching.run is not None
        assert (watching.run.status, watching.run.ended_at) == ("running", None)
        assert len(watching.ended) == 1


def test_a_complete_run_is_not_resumed(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(small_study()), store, Watching())

        with pytest.raises(UsageError) as refused:
            resume_run("last", store, Watching())

        assert refused.value.message == f"run {run.id} is complete"
        assert store.run(run.id) == run


def test_a_run_killed_after_its_last_trial_is_complete(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = new_run(on_loopback(small_study()), store, Watching())
        store.reopen_run(run.id)

        with pytest.raises(UsageError, match="is complete"):
            resume_run(run.id, store, Watching())

        assert store.run(run.id).status == "done"


@pytest.mark.parametrize("part", ["lanlab", "lanlab-engine"])
def test_a_run_of_another_version_is_not_resumed(part: str, tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=0)
        older = dataclasses.replace(run, id="older", versions={**run.versions, part: "0.0.9"})
        store.start_run(older).release()

        with pytest.raises(UsageError) as refused:
            resume_run("older", store, Watching())

        assert refused.value.message.startswith(
            f"run older was started with {part} 0.0.9, this is {run.versions[part]}"
        )
        assert store.run("older") == older


def test_a_study_that_this_version_cannot_read_is_refused_by_its_version(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=0)
        store.start_run(
            dataclasses.replace(run, id="newer", versions={"lanlab": "9.0"}, study={"schema": 9})
        ).release()

        with pytest.raises(UsageError, match=r"was started with lanlab 9\.0"):
            resume_run("newer", store, Watching())


def test_a_cluster_of_a_record_is_joined_only_if_allowed(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=1)
        testbed = {**run.testbed, "name": "ray:127.0.0.1:1"}
        store.start_run(dataclasses.replace(run, id="copied", testbed=testbed)).release()
        with pytest.raises(UsageError, match="run programs or send passwords: cluster `ray:"):
            resume_run("copied", store, Watching())
        with pytest.raises(UsageError, match="no Ray cluster at this address"):
            resume_run("copied", store, Watching(), allows_commands=True)


@pytest.mark.parametrize("part", ["study", "testbed"])
def test_a_malformed_record_is_refused(part: str, tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=1)
        copied = dataclasses.replace(run, id="copied", **{part: {"schema": 1}})
        store.start_run(copied).release()
        with pytest.raises(StoreError, match="of run `copied` are malformed"):
            resume_run("copied", store, Watching())


def test_a_watcher_error_ends_the_run_and_keeps_its_records(tmp_path: Path) -> None:
    class Broken(Watching):
        def trial_ended(self, trial: TrialRecord) -> None:
            raise BrokenPipeError

    with a_store(tmp_path) as store:
        with pytest.raises(BrokenPipeError):
            new_run(on_loopback(small_study()), store, Broken())

        run = store.run("last")
        assert run.status == "interrupted"
        assert len(store.trials(run.id)) == 1
        assert resume_run(run.id, store, Watching()).status == "done"


def test_ctrl_c_before_the_first_trial_leaves_a_run_to_resume(tmp_path: Path) -> None:
    class Early(Watching):
        def run_started(self, *_: object) -> None:
            raise KeyboardInterrupt

    with a_store(tmp_path) as store:
        with pytest.raises(LabError) as ended:
            new_run(on_loopback(small_study()), store, Early())

        run = store.run("last")
        assert isinstance(ended.value, RunInterrupted)
        assert (run.status, store.trials(run.id)) == ("interrupted", [])
