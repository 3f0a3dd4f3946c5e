"""
The script that holds a connection, in every shell that is here: what others have put where an
engine is to be kept is neither written to, nor started, nor removed.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from missing import missing

from lanlab.testbeds.remote.connection import HOLDER
from lanlab.testbeds.ssh import LINE

#: Stands for the engine: answers for its version, and holds until its input ends.
ENGINE = b'#!/bin/sh\n# the engine\n[ "$1" = --version ] || cat >/dev/null\n'
SHA256 = hashlib.sha256(ENGINE).hexdigest()
MARK = "lanlab-0123456789abcdef"
SOMEBODY = 4711
SHELLS = {
    "dash": ["dash"],
    "bash": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "zsh": ["zsh", "--emulate", "sh"],
    "ksh": ["ksh"],
    "mksh": ["mksh"],
}
FOUND = [name for name in SHELLS if shutil.which(name)] or ["sh"]
#: Shells that an account may have; sshd starts each with `-c` and the command.
_LOGINS = ("sh", "bash", "bsd-csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh")
LOGIN_SHELLS = [name for name in _LOGINS if shutil.which(name)]
#: Directories of the system that a host has in common with this machine.
COMMON = [Path(base, f"lanlab-engine-{os.geteuid()}") for base in ("/tmp", "/var/tmp", "/dev/shm")]


@pytest.fixture(params=FOUND)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return SHELLS.get(request.param, ["sh"])


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "lanlab"


@pytest.fixture(autouse=True)
def _in_order() -> Iterator[None]:
    before = [path.exists() for path in COMMON]
    yield
    assert [path.exists() for path in COMMON] == before


def hold(shell: list[str], cache: Path, *, keep: bool = True) -> tuple[str, str]:
    """What the holder answers, with the path in it, and its errors; then it ends."""
    return _held([*shell, "-c", LINE.strip(), MARK], cache, b"", keep=keep)


def _held(argv: list[str], cache: Path, script: bytes, *, keep: bool = True) -> tuple[str, str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache.parent)}
    environment.pop("XDG_RUNTIME_DIR", None)
    wanted = f"{SHA256} {len(ENGINE)} {'yes' if keep else 'no'} 45\n".encode()
    # What it does not ask for, its engine reads.
    done = subprocess.run(
        argv,
        input=script + wanted + ENGINE,
        capture_output=True,
        timeout=20,
        env=environment,
        check=False,
    )
    mark, facts, answer, *rest = done.stdout.decode().splitlines()
    assert mark == MARK and facts.startswith("facts ")
    assert rest == (["sent"] if answer.startswith("send ") else [])
    return answer, done.stderr.decode()


def kept(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cache.iterdir()}


def test_an_engine_is_kept_and_found_again(shell: list[str], cache: Path) -> None:
    path = cache / f"engine-{SHA256}"
    assert hold(shell, cache) == (f"send {path}", "")
    assert hold(shell, cache) == (f"there {path}", "")
    assert kept(cache) == {path.name: ENGINE}
    assert hold(shell, cache, keep=False) == (f"there {path}", "")
    assert not cache.exists()


@pytest.mark.parametrize("login", LOGIN_SHELLS)
def test_every_login_shell_starts_the_holder(login: str, cache: Path) -> None:
    told = _held([login, "-c", f"{HOLDER} {MARK}"], cache, LINE.encode())
    assert told == (f"send {cache}/engine-{SHA256}", "")


def test_the_login_command_has_no_special_characters() -> None:
    words = f"{HOLDER} {MARK}"
    assert set("!\n\\^").isdisjoint(words) and words.count("'") == 2
    assert len(words) < 1024


def test_a_link_to_the_directory_above_is_followed(shell: list[str], cache: Path) -> None:
    (cache.parent.parent / "disk").mkdir()
    cache.parent.symlink_to(cache.parent.parent / "disk")
    answer, _ = hold(shell, cache)
    assert answer == f"send {cache.parent.parent}/disk/lanlab/engine-{SHA256}"


def test_a_link_with_the_engines_name_is_not_followed(shell: list[str], cache: Path) -> None:
    cache.mkdir(0o700, parents=True)
    mine = cache.parent / "mine"
    mine.write_text("mine")
    (cache / f"engine-{SHA256}").symlink_to(mine)
    answer, _ = hold(shell, cache)
    assert answer.startswith(f"send {cache}/")
    assert mine.read_text() == "mine"
    assert kept(cache) == {f"engine-{SHA256}": ENGINE}


def test_existing_partial_files_are_not_written_to(shell: list[str], cache: Path) -> None:
    cache.mkdir(0o700, parents=True)
    elsewhere = cache.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "engine").write_text("mine")
    (cache / f".part-{MARK}").symlink_to(elsewhere)
    answer, _ = hold(shell, cache)
    assert not answer.startswith(f"send {cache}/")
    assert (elsewhere / "engine").read_text() == "mine"
    assert (cache / f".part-{MARK}").is_symlink()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
@pytest.mark.parametrize("above", [False, True])
def test_a_directory_that_others_can_write_to_is_not_used(
    shell: list[str], cache: Path, mode: int, above: bool
) -> None:
    cache.mkdir(0o700, parents=True)
    (cache.parent if above else cache).chmod(mode)
    is_safe = above and mode == 0o1777
    answer, _ = hold(shell, cache)
    assert answer.startswith(f"send {cache}/") == is_safe
    assert cache.is_dir()
    assert bool(kept(cache)) == is_safe


def test_a_link_in_place_of_the_directory_is_not_used(shell: list[str], cache: Path) -> None:
    cache.parent.mkdir()
    elsewhere = cache.parent / "elsewhere"
    elsewhere.mkdir(0o700)
    cache.symlink_to(elsewhere)
    answer, _ = hold(shell, cache)
    assert not answer.startswith(f"send {cache.parent}/")
    assert not list(elsewhere.iterdir())


def test_a_directory_of_the_engines_name_is_passed_over(shell: list[str], cache: Path) -> None:
    (cache / f"engine-{SHA256}").mkdir(0o700, parents=True)
    cache.chmod(0o700)
    answer, _ = hold(shell, cache)
    assert not answer.startswith(f"send {cache}/")
    assert not list((cache / f"engine-{SHA256}").iterdir())


def test_an_engine_that_others_can_write_to_is_replaced(shell: list[str], cache: Path) -> None:
    cache.mkdir(0o700, parents=True)
    path = cache / f"engine-{SHA256}"
    path.write_bytes(ENGINE)
    path.chmod(0o777)
    answer, _ = hold(shell, cache)
    assert answer == f"send {path}"
    assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("what", ["directory", "directory above", "engine"])
def test_files_of_other_users_are_not_touched(shell: list[str], cache: Path, what: str) -> None:
    if os.geteuid() != 0:
        missing("files of other users take root")
    cache.mkdir(0o700, parents=True)
    path = cache / f"engine-{SHA256}"
    if what == "engine":
        path.write_bytes(ENGINE)
        path.chmod(0o755)
    theirs = {"directory": cache, "directory above": cache.parent, "engine": path}[what]
    os.chown(theirs, SOMEBODY, SOMEBODY)
    answer, _ = hold(shell, cache)
    if what == "engine":
        assert answer == f"send {path}"
        assert path.stat().st_uid == 0
    else:
        assert not answer.startswith(f"send {cache}/")
        assert theirs.stat().st_uid == SOMEBODY
        assert not list(cache.iterdir())
