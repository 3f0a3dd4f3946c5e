"""Where an actor keeps engines on its node: in no directory that another user could change."""

import asyncio
import hashlib
import os
from pathlib import Path

import pytest
from missing import missing

from lanlab.testbeds.ray_actor import NodeActor

ENGINE = b"#!/bin/sh\n# the engine\n"
SHA256 = hashlib.sha256(ENGINE).hexdigest()
SOMEBODY = 4711


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own, the first that is tried; the second is not one of the system's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "session").mkdir(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "session"))
    return tmp_path / "cache" / "lanlab"


def kept() -> Path:
    actor = NodeActor()
    path = asyncio.run(actor.keep_engine(SHA256, ENGINE))
    assert asyncio.run(actor.find_engine(SHA256)) == path
    return Path(path)


def test_an_engine_is_kept_in_the_cache(cache: Path) -> None:
    assert kept() == cache / f"engine-{SHA256}"
    assert [path.name for path in cache.iterdir()] == [f"engine-{SHA256}"]


@pytest.mark.parametrize("above", [False, True])
def test_a_directory_that_others_can_write_to_is_not_used(cache: Path, above: bool) -> None:
    cache.mkdir(0o700, parents=True)
    (cache.parent if above else cache).chmod(0o770)
    assert kept().parent.parent.name == "session"
    assert not list(cache.iterdir())


@pytest.mark.parametrize("fault", ["writable", "a link", "somebody else's"])
def test_an_engine_that_others_could_change_is_not_taken(cache: Path, fault: str) -> None:
    cache.mkdir(0o700, parents=True)
    path = cache / f"engine-{SHA256}"
    held = cache / "elsewhere" if fault == "a link" else path
    held.write_bytes(ENGINE)
    held.chmod(0o777 if fault == "writable" else 0o755)
    if fault == "a link":
        path.symlink_to(held)
    elif fault == "somebody else's":
        if os.geteuid() != 0:
            missing("files of other users take root")
        os.chown(path, SOMEBODY, SOMEBODY)
    assert asyncio.run(NodeActor().find_engine(SHA256)) is None
    assert kept() == path
    assert not path.is_symlink() and path.stat().st_uid == os.geteuid()
