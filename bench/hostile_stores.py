"""
Stores that somebody prepared: links, FIFOs, devices and foreign files wherever lanlab has names,
and rows with foreign ids. Counts the user's files that any use of such a store changes: it must be
0. The store and the folder of reports themselves may be links, as their user names them.

    python bench/hostile_stores.py --stores 10000
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import socket
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lanlab.errors import LabError
from lanlab.report.page.own_files import write_file, write_folder
from lanlab.store import Series, open_store
from lanlab.store.records import RunRecord, TrialRecord

RUN = RunRecord(
    id="20261121-081500-small-4f2a",
    study_id="small",
    study={"id": "small"},
    scale="quick",
    seed=7,
    testbed={"name": "loopback"},
    versions={},
    status="interrupted",
    started_at="2026-11-21T08:15:00+00:00",
    ended_at=None,
)
#: Where lanlab has a file or a folder, relative to the folder of the store.
_NAMES = (
    *("s.sqlite-wal", "s.sqlite-shm", "s.sqlite-journal", "s.sqlite.lock", "s.sqlite.new"),
    *(f"s.sqlite.{RUN.id}.lock", "s.sqlite.series", f"s.sqlite.series/{RUN.id}"),
    *(
        f"s.sqlite.series/{RUN.id}/{number}-readings.parquet{new}"
        for number in range(4)
        for new in ("", ".new")
    ),
    *("out/report.html", "out/lanlab-files.sha256", "out/figures", "out/figures/a.svg"),
    *("out/.lanlab-exports.sha256", "out/export.txt", "out/page.html", "new.sqlite.new"),
    *("new.sqlite.lock", "new.sqlite-wal", "new.sqlite-journal", "new.sqlite.new-wal"),
)
_ROWS = (
    "UPDATE series SET name = '../../../outside/0-readings'",
    "UPDATE series SET run_id = '../outside'",
    "UPDATE run SET id = '../outside'",
    "UPDATE run SET id = '{outside}'",
    "UPDATE run SET id = '..'",
    "UPDATE trial SET run_id = '.'",
    "UPDATE series SET number = -1",
    "DELETE FROM series",
    "DELETE FROM run",
)


def _trial(number: int) -> TrialRecord:
    return TrialRecord(
        run_id=RUN.id,
        number=number,
        experiment="one",
        workload="echo",
        factors={},
        parameters={},
        block=0,
        purpose="trial",
        status="done",
        started_at="2026-11-21T08:15:01+00:00",
        elapsed_s=1.0,
        metrics={},
        raw={},
    )


def _series() -> list[Series]:
    return [Series("readings", {"time_ns": np.arange(50)}, {"time_ns": "ns"})]


def make_good(folder: Path) -> None:
    """A store with a run of two trials, each with a series, and a report next to it."""
    with open_store(str(folder / "s.sqlite")) as store:
        store.start_run(RUN).release()
        for number in range(2):
            store.commit_trial(_trial(number), _series())
    write_folder({"figures/a.svg": b"a", "report.html": b"p"}, folder / "out")
    write_file("text", folder / "out" / "export.txt")


def _make_outside(folder: Path) -> None:
    """A user's own files, some of which have the names and the form of lanlab's."""
    (folder / "readings" / RUN.id).mkdir(parents=True)
    with open_store(str(folder / "mine.sqlite")) as store:
        store.start_run(RUN).release()
        store.commit_trial(_trial(0), _series())
    series = folder / "mine.sqlite.series" / RUN.id / "0-readings.parquet"
    for place in (folder, folder / "readings", folder / "readings" / RUN.id):
        shutil.copy(series, place / "0-readings.parquet")
        shutil.copy(series, place / "5-other.parquet")
        (place / "a.svg").write_text("mine")
        (place / "report.html").write_text("mine")
        (place / "empty").touch()
    os.mkfifo(folder / "fifo")


def _facts(folder: Path) -> dict[str, tuple[object, ...]]:
    """Each name below a folder, with what it is and holds."""
    found: dict[str, tuple[object, ...]] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            found[str(path)] = _fact(path)
    return found


def _fact(path: Path) -> tuple[object, ...]:
    facts = path.lstat()
    kind: tuple[object, ...] = (stat.S_IFMT(facts.st_mode), stat.S_IMODE(facts.st_mode))
    if stat.S_ISREG(facts.st_mode):
        return (*kind, facts.st_ino, hashlib.sha256(path.read_bytes()).hexdigest())
    return (*kind, facts.st_ino, str(path.readlink()) if path.is_symlink() else "")


def _planters(choice: random.Random, outside: Path) -> dict[str, Callable[[Path], object]]:
    """What may be put in the place of a name, by its kind."""
    names = sorted(outside.rglob("*"))
    files = [one for one in names if one.is_file()]
    folders = [one for one in names if one.is_dir()]
    # One more name for a file that lanlab wrote cannot be told from lanlab's own.
    foreign = [one for one in files if one.suffix in (".svg", ".html")]

    def bound(path: Path) -> None:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
            try:
                one.bind(str(path))
            except OSError:
                # Too long for a socket's path.
                os.mkfifo(path)

    def folder(path: Path) -> None:
        path.mkdir()
        (path / "mine.txt").write_text("mine")

    return {
        "link to a file": lambda path: path.symlink_to(choice.choice(files)),
        "link to a folder": lambda path: path.symlink_to(choice.choice(folders)),
        "link to nothing": lambda path: path.symlink_to(outside / "made-by-lanlab"),
        "link to a FIFO": lambda path: path.symlink_to(outside / "fifo"),
        "link to a device": lambda path: path.symlink_to("/dev/null"),
        "hard link": lambda path: os.link(choice.choice(foreign), path),
        "FIFO": os.mkfifo,
        "socket": bound,
        "file": lambda path: path.write_text("mine"),
        "folder": folder,
    }


def _replace(path: Path, plant: Callable[[Path], object]) -> bool:
    """Put something in the place of a name; whether its folder was there."""
    if not path.parent.is_dir() or path.parent.is_symlink():
        return False
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    plant(path)
    return True


def _change_rows(path: Path, sql: str) -> None:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            database.execute(f"DROP TRIGGER {name}")
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute(sql)
        database.commit()


def _uses(inside: Path) -> Iterator[Callable[[], object]]:
    """All that lanlab does with a store and around it."""
    where, out = str(inside / "s.sqlite"), inside / "out"

    def resume() -> None:
        with open_store(where) as store, store.acquire_run("last"):
            store.reopen_run("last")
            for number in range(4):
                with contextlib.suppress(LabError):
                    store.commit_trial(_trial(number), _series())
            store.finish_run(store.run("last").id, "done")

    def read() -> None:
        with open_store(where) as store:
            for trial in store.trials("last"):
                store.series("last", trial.number)

    def delete() -> None:
        with open_store(where) as store:
            store.delete_run("last")

    def new() -> None:
        with open_store(str(inside / "new.sqlite")) as store:
            store.start_run(RUN).release()
            store.commit_trial(_trial(0), _series())

    yield from (read, resume, new)
    yield lambda: write_folder({"report.html": b"q"}, out)
    yield lambda: write_file("more", out / "export.txt")
    yield delete


def changed_by(seed: int, good: Path, scratch: Path) -> list[str]:
    """
    The user's names that were changed by all uses of one prepared store, each with what it was.

    Args:
        good: A folder that `make_good` filled.
        scratch: An empty folder, emptied again.
    """
    choice = random.Random(seed)
    inside, outside = scratch / "inside", scratch / "outside"
    shutil.copytree(good, inside)
    outside.mkdir()
    _make_outside(outside)
    planters = _planters(choice, outside)
    if choice.random() < 0.3:
        _change_rows(inside / "s.sqlite", choice.choice(_ROWS).format(outside=outside))
    planted = {}
    for name in sorted(choice.sample(_NAMES, choice.randint(1, 4))):
        kind = choice.choice(sorted(planters))
        if _replace(inside / name, planters[kind]):
            planted[inside / name] = kind
    before = _facts(outside) | {
        str(below): _fact(below)
        for path in planted
        for below in (path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else ()))
    }
    uses = list(_uses(inside))
    choice.shuffle(uses)
    for use in uses:
        with contextlib.suppress(LabError):
            use()
    after = _facts(outside)
    for name in before.keys() - after.keys():
        if os.path.lexists(name):
            after[name] = _fact(Path(name))
    changed = [
        f"seed {seed}: {Path(name).relative_to(scratch)} ({planted.get(Path(name), 'outside')})"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    for path in (inside, outside):
        shutil.rmtree(path)
    return changed


def main() -> int:
    """Print what was changed, and how many stores were tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    asked = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory(prefix="lanlab-hostile-") as folder:
        good = Path(folder, "good")
        good.mkdir()
        make_good(good)
        for seed in range(asked.first, asked.first + asked.stores):
            for line in changed_by(seed, good, Path(folder)):
                count += 1
                print(line)
    print(f"{asked.stores} stores, {count} of the user's files changed")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
