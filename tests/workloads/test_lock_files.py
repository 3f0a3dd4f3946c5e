"""What a process that is gone has left is told from what is in use, and from what is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanlab import lock_files
from lanlab.performers import directories as places

#: Makes a directory of a trial and says which, then waits to be killed.
MAKES = """
import sys
from lanlab.performers import directories as places
with places.temporary("disk") as made:
    (made / "file").write_text("octets")
    print(made, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where those directories are made."""
    place = tmp_path / "cache"
    monkeypatch.setenv("LANLAB_CACHE", str(place))
    monkeypatch.setattr(places, "_disk_for_all", lambda: tmp_path / "for-all")
    return place


@contextmanager
def another() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a directory of its own."""
    command = [sys.executable, "-c", MAKES]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_only_what_a_killed_process_had_is_removed(cache: Path) -> None:
    """Another that lives, this one, and a directory that nobody has locked, keep theirs."""
    with another() as (_, theirs), places.temporary("disk") as mine:
        with another() as (killed, left):
            killed.kill()
            killed.wait(10)
            assert (left / "file").is_file()
        nobodys = cache / "lanlab-copy-0123456789ab"
        nobodys.mkdir()

        places.remove_left()

        assert {path for path in cache.iterdir() if path.suffix != ".lock"} == {
            theirs,
            mine,
            nobodys,
        }
        assert not left.with_suffix(".lock").exists()


def test_what_a_process_had_goes_when_it_ends_in_order(cache: Path) -> None:
    """With its lock."""
    with another() as (process, made):
        assert made.is_dir()
        process.communicate(timeout=20)
    assert list(cache.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs users by number, links and pipes")
@pytest.mark.parametrize("kind", ["of another user", "symbolic link", "hard link", "pipe"])
def test_what_is_not_this_user_s_own_file_is_no_orphan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """In a folder where everybody may put something."""
    place = tmp_path / "for-all"
    made = place / "lanlab-copy-0123456789ab"
    made.mkdir(parents=True)
    lock, other = made.with_suffix(".lock"), tmp_path / "other"
    other.touch()
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "symbolic link":
        lock.symlink_to(other)
    elif kind == "hard link":
        lock.hardlink_to(other)
    else:
        lock.touch()
    # Each differs from this by one thing.
    orphan = place / "lanlab-copy-ba9876543210.lock"
    orphan.touch()
    orphan.with_suffix("").mkdir()
    if kind == "of another user":
        lock_files_of = {path.name for path, _ in lock_files.orphans(place, "*.lock")}
        assert lock_files_of == {lock.name, orphan.name}
        user = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: user + 1)

    places.remove_left()

    assert made.is_dir() and os.path.lexists(lock)
    assert orphan.exists() == (kind == "of another user")


def test_one_that_may_be_about_to_have_its_directory_is_left_for_a_minute(tmp_path: Path) -> None:
    """A process that was killed between the two leaves a file without a directory."""
    place = tmp_path / "for-all"
    place.mkdir()
    lock = place / "lanlab-copy-0123456789ab.lock"
    lock.touch()
    places.remove_left()
    assert lock.exists()

    long_ago_s = lock.stat().st_mtime - 61
    os.utime(lock, (long_ago_s, long_ago_s))
    places.remove_left()
    assert not lock.exists()


def test_a_directory_of_a_trial_that_cannot_be_removed_is_left_to_the_next(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a server still writes to it."""
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda *_, **__: None)
        with places.temporary("disk") as made:
            pass
    assert made.is_dir() and made.with_suffix(".lock").exists()
    places.remove_left()
    assert list(cache.iterdir()) == []
