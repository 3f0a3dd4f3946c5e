"""Fixtures of the command line's tests."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import SMALL_STUDY, Lanlab, Said
from file_servers import SECRET
from undrawn import drawn, undrawn

from lanlab.cli import main
from lanlab.cli.terminal import exit_report
from lanlab.engine import Engine, engine_path

#: Fixtures of all tests here: reports have stand-ins for figures, unless a test asks for `drawn`.
__all__ = ["drawn", "undrawn"]

# The synthetic runs of other tests.
for _folder in ("report", "analysis"):
    sys.path.append(str(Path(__file__).parents[1] / _folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LANLAB_STORE", raising=False)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.delenv("LANLAB_COLUMNS", raising=False)
    (tmp_path / "small.toml").write_text(SMALL_STUDY)
    return tmp_path


@pytest.fixture
def lanlab(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lanlab]:
    """Runs a command to its end within this process, by the entry point that users have."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}

    def run(*args: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["lanlab", *args])
        # Which ends the process.
        monkeypatch.setattr(exit_report, "leave", sys.exit)
        capsys.readouterr()
        code: int | str | None = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        assert isinstance(code, int)
        return Said(code, *capsys.readouterr())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def any_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of `load` count, even if a busy machine held none for a part of the time."""
    monkeypatch.setattr("lanlab.workloads.load.workload._check_held", lambda *_: None)


@pytest.fixture
def password_and_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LANLAB_PASSWORD_FILE", raising=False)
    monkeypatch.setenv("LANLAB_PASSWORD", SECRET)


@pytest.fixture
def no_password_and_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    for name in ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # It stands in a folder that this file adds to the path.
    from stored_runs import make_store

    place = tmp_path_factory.mktemp("store") / "store.sqlite"
    make_store(place)
    return place


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine("nas", [engine_path()]) as found:
        yield found


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """An empty directory to be served."""
    place = tmp_path / "served"
    place.mkdir()
    return place


@pytest.fixture
def root(served: Path) -> Path:
    (served / "letter").write_text("dear")
    return served
