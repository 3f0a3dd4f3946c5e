"""Runs that were ended before their end, and what goes on with them."""

import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from programs import ran
from small_runs import (
    Interrupting,
    NotedEngines,
    Watching,
    a_store,
    alive,
    on_loopback,
    order_of,
    press_ctrl_c,
    slow_study,
    small_study,
)

from lanlab.errors import LabError, RunInterrupted, StoreError, UsageError
from lanlab.run import new_run, resume_run
from lanlab.store import RunRecord, Series, TrialRecord
from lanlab.store.sqlite import SqliteStore


def interrupted(store: SqliteStore, after: int) -> RunRecord:
    with pytest.raises(RunInterrupted):
        new_run(on_loopback(small_study()), store, Interrupting(after))
    return store.run("last")


class FullStore(SqliteStore):
    def __init__(self, path: Path, trials: int) -> None:
        super().__init__(path)
        self.room = trials

    def commit_trial(self, trial: TrialRecord, series: Sequence[Series] = ()) -> None:
        if self.room == 0:
            raise StoreError("the disk is full")
        self.room -= 1
        super().commit_trial(trial, series)


def test_ctrl_c_during_a_trial_keeps_completed_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = NotedEngines(tmp_path)
    monkeypatch.setenv("LANLAB_ENGINE", str(engines.program))
    watching = Watching()

    def second_trial_only() -> None:
        watching.in_mid_trial = press_ctrl_c if watching.ended else second_trial_only

    watching.in_mid_trial = second_trial_only

    with a_store(tmp_path) as store:
        with pytest.raises(RunInterrupted) as ended:
            new_run(on_loopback(slow_study(0.8)), store, watching)
        run = store.run("last")

        assert run.status == "interrupted"
        assert run.ended_at is not None
        assert ended.value.hint == f"continue with `lanlab run --resume {run.id}`"
        assert [trial.number for trial in store.trials(run.id)] == [0]
    assert not any(alive(pid) for pid in engines.pids())


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
        with pytest.raises(UsageError, match="programs to run on this machine: cluster `ray:"):
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


def test_an_unknown_run_is_not_resumed(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = interrupted(store, after=0)
        mistyped = run.id[:-1] + "x"

        with pytest.raises(UsageError) as refused:
            resume_run(mistyped, store, Watching())

    assert refused.value.hint == f"did you mean `{run.id}`?"


def test_two_processes_do_not_execute_the_same_run(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from small_runs import Watching, a_store\n"
        "from lanlab.errors import LabError\n"
        "from lanlab.run import resume_run\n"
        "with a_store(Path(sys.argv[1])) as store:\n"
        "    try:\n"
        "        resume_run('last', store, Watching())\n"
        "    except LabError as error:\n"
        "        sys.exit(f'{type(error).__name__}: {error.message}')\n"
    )
    with a_store(tmp_path) as store:
        run = interrupted(store, after=8)
        with store.acquire_run(run.id):
            second = ran(
                [sys.executable, "-c", program, str(tmp_path)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )

        expected = f"StoreError: run `{run.id}` is still running in another process\n"
        assert (second.returncode, second.stderr) == (1, expected)
        assert store.run(run.id) == run
        assert resume_run(run.id, store, Watching()).status == "done"


def test_a_full_disk_in_mid_run_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    with FullStore(tmp_path / "store.sqlite", trials=4) as store:
        with pytest.raises(StoreError, match="the disk is full"):
            new_run(on_loopback(small_study()), store, Watching())
        run = store.run("last")
        assert run.status == "running"
        assert not store.is_executing(run.id)
        assert len(store.trials(run.id)) == 4

        store.room = 100
        done = resume_run(run.id, store, Watching())

        assert done.status == "done"
        assert len(store.trials(run.id)) == 10


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
