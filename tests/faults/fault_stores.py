"""Faults of the store: a full disk, several commands at once, a file that is gone."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fault import Outcome, Plays, completed, places
from fault_scene import Said, Scene
from waiting import until

from lanlab.store import open_store

#: Of the small disk; a store with the trials of one of these runs takes about half of it.
_DISK_BYTES = 512 * 1024


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    options = f"size={_DISK_BYTES},mode=0755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "lanlab-fault", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (4096, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def _disk_full(scene: Scene) -> Outcome:
    """The disk fills up while a trial is under way: it cannot be committed, the run ends and says
    so, and goes on once there is room."""
    with _small_disk(scene.store.parent):
        ballast = scene.store.parent / "ballast"
        command = scene.run_to_mid_trial()
        _fill(ballast)
        said = command.end_with(1)
        assert "full" in said.err and "committed before is safe" in said.err, said
        assert "Traceback" not in said.err, said
        ballast.unlink()
        kept = len(scene.trials())
        lost = scene.lost()
        assert kept == scene.before
        assert not scene.left({"store.sqlite-wal", "store.sqlite-shm"}).processes
        return completed(scene, lost=lost)


def _two_at_once(scene: Scene) -> Outcome:
    """Two runs are begun at the same moment on a store that is not there yet."""
    commands = [scene.run() for _ in range(2)]
    # Both hold a lock of their own while they run.
    until(lambda: len(scene.engines) == 4, "both to run")
    scene.seen.look()
    for said in [command.end() for command in commands]:
        assert said.code == 0, said
    with open_store(str(scene.store)) as store:
        runs = [run.id for run in store.runs()]
    first, second = (scene.trials(run) for run in runs)
    assert places(first) == places(second)
    assert {trial.run_id for trial in first} == {runs[0]}
    scene.before = len(second) - 1
    return completed(scene)


def _resumed_twice(scene: Scene) -> Outcome:
    """Two processes go on with the same run at the same moment: one does, one is told."""
    command = scene.run_to_mid_trial()
    command.send(signal.SIGINT)
    command.end()
    lost = scene.lost()
    both = [scene.start("run", "--resume", "last", "--json") for _ in range(2)]
    # The one that goes on is held in its first trial until the other has ended.
    until(lambda: any(each.process.poll() is not None for each in both), "one to be refused")
    said = [command.end() for command in both]
    assert sorted(each.code for each in said) == [0, 1], said
    (refused,) = [each for each in said if each.code == 1]
    assert "is still running in another process" in refused.err, refused
    return completed(scene, lost=lost, resumed=True)


def _read_meanwhile(scene: Scene) -> Outcome:
    """A report, then tables all the time, while a run writes: neither waits for long, none sees
    half a trial."""
    command = scene.run_to_mid_trial(after=1)
    read: list[Said] = []
    reading = ["report", "last", "--out", str(scene.folder / "report")]
    while command.process.poll() is None and len(read) < 50:
        read.append(scene.said("runs", "--json"))
        # The first report is begun while a trial is held, and goes on while others are written.
        command.trials.let_go()
        read.append(scene.said(*reading))
        reading = ["show", "last"]
    command.end_with(0)
    assert len(read) >= 2 and all(each.code == 0 for each in read), read[-1]
    counts = [json.loads(each.out)["runs"][0]["trials"] for each in read[::2]]
    assert counts == sorted(counts) and counts[0] >= 1, counts
    return completed(scene)


def _removed(scene: Scene) -> Outcome:
    """The store's file is moved away in mid-run. It would go on growing there, where nobody looks:
    the run ends and says so; the file is put back and the run gone on with."""
    command = scene.run_to_mid_trial()
    moved = scene.folder / "moved.sqlite"
    scene.store.rename(moved)
    said = command.end_with(1)
    assert "was removed or replaced while it was in use" in said.err, said
    assert not scene.store.exists()
    _put_back(scene, moved)
    return completed(scene)


def _replaced(scene: Scene) -> Outcome:
    """Another file comes to lie in the store's place: not a byte of it is changed."""
    command = scene.run_to_mid_trial()
    moved, other = scene.folder / "moved.sqlite", b"somebody else's\n" * 500
    scene.store.rename(moved)
    scene.store.write_bytes(other)
    said = command.end_with(1)
    assert "was removed or replaced while it was in use" in said.err, said
    assert scene.store.read_bytes() == other
    scene.store.unlink()
    _put_back(scene, moved)
    return completed(scene)


def _put_back(scene: Scene, moved: Path) -> None:
    # What SQLite has not yet copied into the file is still beside it, under the original name.
    shutil.move(moved, scene.store)
    assert len(scene.trials()) == scene.before, "what had been committed is there"


STORES: Plays = {
    "disk-full": _disk_full,
    "two-at-once": _two_at_once,
    "resumed-twice": _resumed_twice,
    "read-meanwhile": _read_meanwhile,
    "store-removed": _removed,
    "store-replaced": _replaced,
}
