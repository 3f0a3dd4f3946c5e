"""No use of a prepared store changes a file of its user's; `bench/hostile_stores.py` tries more."""

import os
from pathlib import Path

import pytest
from hostile_stores import RUN, changed_by, make_good

from lanlab.errors import StoreError
from lanlab.store import open_store

pytestmark = pytest.mark.long


@pytest.fixture
def good(tmp_path: Path) -> Path:
    folder = tmp_path / "good"
    folder.mkdir()
    make_good(folder)
    return folder


def test_using_forty_hostile_stores_changes_no_user_file(tmp_path: Path, good: Path) -> None:
    assert [line for seed in range(40) for line in changed_by(seed, good, tmp_path)] == []


@pytest.mark.parametrize("level", ["s.sqlite.series", f"s.sqlite.series/{RUN.id}"])
def test_a_run_is_neither_deleted_nor_resumed_through_a_link(
    tmp_path: Path, good: Path, level: str
) -> None:
    link = good / level
    link.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.glob("elsewhere/**/*"))
    assert any(path.is_file() for path in before)
    with open_store(str(good / "s.sqlite")) as store:
        for use in (store.delete_run, store.acquire_run):
            with pytest.raises(StoreError, match=r"follows no link|is in the way"):
                use("last")
    assert sorted(tmp_path.glob("elsewhere/**/*")) == before and link.is_symlink()


def test_a_fifo_in_place_of_a_log_does_not_block(good: Path) -> None:
    (good / "s.sqlite-wal").unlink(missing_ok=True)
    os.mkfifo(good / "s.sqlite-wal")
    with (
        open_store(str(good / "s.sqlite")) as store,
        pytest.raises(StoreError, match="SQLite did not make it"),
    ):
        store.runs()
