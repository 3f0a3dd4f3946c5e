"""The store under several processes, sudden death, a full disk and no rights."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from programs import ran
from small_disks import on_mount
from store_samples import a_trial, store_with_run

import lanlab
from lanlab.errors import StoreError
from lanlab.store import lease, open_store

#: Reads a first trial from the store and goes on committing copies of it, telling each number
#: only after it is committed.
WRITER = """
import dataclasses, sys
from lanlab.store import open_store
where, first, step, count = sys.argv[1], *map(int, sys.argv[2:5])
with open_store(where) as store:
    trial = store.trials("last")[0]
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(first, first + step * count, step):
        store.commit_trial(dataclasses.replace(trial, number=number))
        print(number, flush=True)
"""
HOLDER = """
import sys
from lanlab.store import open_store
with open_store(sys.argv[1]) as store, store.acquire_run("last"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def child(code: str, *args: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    # Whoever runs the tests in the background may have had Ctrl-C ignored.
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.Popen(
        [*before, sys.executable, "-c", heard + code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def rest(process: subprocess.Popen[str]) -> list[str]:
    """The words until it ends. `communicate` would lose the lines that `line` has read ahead."""
    assert process.stdout is not None
    said = process.stdout.read().split()
    process.wait()
    return said


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.fixture
def begun(where: str) -> str:
    return begin(where)


def begin(where: str) -> str:
    with store_with_run(where) as store:
        store.commit_trial(a_trial(0))
    return where


def test_two_processes_write_at_once(begun: str) -> None:
    writers = [child(WRITER, begun, str(first), "2", "60") for first in (1, 2)]
    for writer in writers:
        assert line(writer) == "ready"
    for writer in writers:
        go(writer)
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0

    with open_store(begun) as store:
        assert [trial.number for trial in store.trials("last")] == list(range(121))


def test_two_processes_make_the_same_store_at_once(where: str) -> None:
    code = """
import sys
from lanlab.store import RunRecord, open_store
print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    store.start_run(RunRecord(sys.argv[2], "s", {}, "quick", 1, {}, {}, "running", "now")).release()
"""
    makers = [child(code, where, run_id) for run_id in ("a", "b", "c")]
    for maker in makers:
        assert line(maker) == "ready"
    for maker in makers:
        go(maker)
    for maker in makers:
        maker.communicate()
        assert maker.returncode == 0

    with open_store(where) as store:
        assert {run.id for run in store.runs()} == {"a", "b", "c"}


def test_a_reader_sees_trials_while_a_run_writes(begun: str) -> None:
    writer = child(WRITER, begun, "1", "1", "1000000")
    assert line(writer) == "ready"
    go(writer)
    with open_store(begun) as store:
        seen = int(line(writer))
        assert len(store.trials("last")) > seen
    writer.kill()
    writer.communicate()


def test_a_run_is_executed_by_one_process_at_a_time(begun: str) -> None:
    holder = child(HOLDER, begun)
    assert line(holder) == "held"
    with open_store(begun) as store:
        assert store.is_executing("last")
        with pytest.raises(StoreError, match="running in another process"):
            store.acquire_run("last")
        go(holder)
        holder.communicate()

        assert not store.is_executing("last")
        with store.acquire_run("last"):
            assert store.is_executing("last")
    if not begun.startswith("postgresql:"):
        assert [path.name for path in Path(begun).parent.iterdir()] == ["store.sqlite"]


def test_a_killed_process_holds_no_run(begun: str) -> None:
    holder = child(HOLDER, begun)
    assert line(holder) == "held"
    with open_store(begun) as store:
        assert store.is_executing("last")
        holder.kill()
        holder.communicate()
        with store.acquire_run("last"):
            pass
        assert not store.is_executing("last")


def test_a_lock_on_a_removed_file_is_not_a_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock = tmp_path / "lock", lease._try_lock
    holders = [lease.acquire(path, "a run")]

    def late(descriptor: int) -> bool:
        monkeypatch.setattr(lease, "_try_lock", lock)
        holders.pop().release()
        holders.append(lease.acquire(path, "a run"))
        return lock(descriptor)

    monkeypatch.setattr(lease, "_try_lock", late)
    with pytest.raises(StoreError, match="running in another process"):
        lease.acquire(path, "a run", patience_s=0.02)
    holders.pop().release()
    lease.acquire(path, "a run").release()


def test_a_full_disk_refuses_the_trial_whole_and_can_be_mended(tmp_path: Path) -> None:
    code = """
import dataclasses, pathlib, sys
from lanlab.errors import StoreError
from lanlab.store import RunRecord, TrialRecord, open_store
place = pathlib.Path(sys.argv[1])
ballast = place / "ballast"
ballast.write_bytes(bytes(100_000))
run = RunRecord("a", "s", {}, "quick", 1, {}, {}, "running", "now")
trial = TrialRecord("a", 0, "e", "stream", {}, {}, 0, "trial", "done", "now", 1.0, {},
                    {"pad": "x" * 7000})
with open_store(str(place / "s")) as store:
    store.start_run(run).release()
    number = 0
    try:
        for number in range(1000):
            store.commit_trial(dataclasses.replace(trial, number=number))
    except StoreError as error:
        print(error.message, "|", error.hint)
    assert len(store.trials("a")) == number > 0, number
    ballast.unlink()
    store.commit_trial(dataclasses.replace(trial, number=number))
with open_store(str(place / "s")) as store:
    assert len(store.trials("a")) == number + 1
print("mended")
"""
    said = on_mount(["-t", "tmpfs", "-o", "size=512k", "lanlab"], tmp_path, code)

    assert "disk is full | make room" in said
    assert said.endswith("mended\n")


def without_rights() -> tuple[list[str], str]:
    """What to put before a command so that modes bind it, and a Python that it may run."""
    if os.geteuid() != 0:
        return [], sys.executable
    # Root writes anywhere; become nobody, who needs a Python and sources that it may read.
    python = "/usr/bin/python3"
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    become += ["env", f"PYTHONPATH={Path(lanlab.__file__).parents[1]}"]
    check = "import sys, lanlab; sys.exit(sys.version_info < (3, 11))"
    try:
        tried = subprocess.run([*become, python, "-c", check], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs `setpriv` and /usr/bin/python3 to give up root's rights")
    if tried.returncode:
        pytest.skip("nobody cannot run /usr/bin/python3 (>= 3.11) with these sources")
    return become, python


def test_a_store_that_cannot_be_written_can_still_be_read(tmp_path: Path) -> None:
    where = begin(str(tmp_path / "store.sqlite"))
    before, python = without_rights()
    code = """
import sys
from lanlab.errors import StoreError
from lanlab.store import RunRecord, open_store
with open_store(sys.argv[1]) as store:
    print(len(store.trials("last")))
    try:
        store.finish_run("last", "done")
    except StoreError as error:
        print(error.message, "|", error.hint)
try:
    with open_store(sys.argv[2]) as store:
        store.start_run(RunRecord("a", "s", {}, "quick", 1, {}, {}, "running", "now")).release()
except StoreError as error:
    print(error.message, "|", error.hint)
"""
    # Not below `tmp_path`, whose parents are root's alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Path(shutil.copy(where, folder / "store.sqlite"))
        store.chmod(0o444)
        folder.chmod(0o555)
        result = ran([*before, python, "-c", code, str(store), str(folder / "new" / "s")])
        folder.chmod(0o755)

    assert result.returncode == 0, result.stderr
    count, write, make = result.stdout.splitlines()
    assert count == "1"
    assert "cannot be written | check the owner" in write
    assert "cannot create the store's directory: Permission denied | name a file" in make


def test_ctrl_c_in_a_transaction_leaves_nothing_of_it(
    begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(raw: object) -> None:
        raise KeyboardInterrupt

    with open_store(begun) as store:
        with monkeypatch.context() as patch:
            # The trial is in the transaction, and its digest is not.
            patch.setattr("lanlab.store.database.digest_of", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.commit_trial(a_trial(1))
        assert store.trials("last") == [a_trial(0)]
        store.commit_trial(a_trial(1))
