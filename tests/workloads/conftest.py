"""What tests of trials with files share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from trial_running import Pair, opened_pair


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of the test's own for datasets, directories and notes; no password is set."""
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    for name in ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty directory to be served."""
    place = tmp_path / "root"
    place.mkdir()
    return place


@pytest.fixture
def pair(cache: Path) -> Iterator[Pair]:
    with opened_pair() as opened:
        yield opened
