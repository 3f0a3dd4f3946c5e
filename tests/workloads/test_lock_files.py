"""What a process that is gone has left is told from what is in use, and from what is not ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanlab import lock_files

#: Holds a file until it is killed.
HOLDS = """
import sys
from pathlib import Path
from lanlab import lock_files
with lock_files.held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def orphans(folder: Path) -> list[str]:
    return [path.name for path, _ in lock_files.orphans(folder, "lanlab-*.json")]


def test_only_holdings_of_a_killed_process_are_orphans(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "lanlab-theirs.json")]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process,
        lock_files.held(tmp_path / "lanlab-mine.json"),
    ):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            (tmp_path / "lanlab-nobodys.json").touch()
            assert orphans(tmp_path) == ["lanlab-nobodys.json"]
        finally:
            process.kill()
        process.wait(10)
        assert orphans(tmp_path) == ["lanlab-nobodys.json", "lanlab-theirs.json"]
    assert "lanlab-mine.json" in orphans(tmp_path)


@pytest.mark.parametrize("kind", ["of another user", "symbolic link", "hard link", "pipe"])
def test_only_files_of_this_user_are_orphans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = tmp_path / "for-all"
    place.mkdir()
    found, other = place / "lanlab-1.json", tmp_path / "other"
    other.touch()
    if kind == "pipe":
        os.mkfifo(found)
    elif kind == "symbolic link":
        found.symlink_to(other)
    elif kind == "hard link":
        found.hardlink_to(other)
    else:
        found.touch()
        assert orphans(place) == [found.name]
        user = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert orphans(place) == []
