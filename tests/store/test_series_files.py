"""Files of series: damaged, missing, left over, and where they cannot be written."""

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from small_disks import on_mount
from store_samples import a_run, a_trial, store_with_run
from test_store_processes import child, go, line, rest

from lanlab.errors import StoreError
from lanlab.store import Series, open_store


def readings(name: str = "readings", rows: int = 100) -> Series:
    return Series(name, {"time_ns": np.arange(rows)}, {"time_ns": "ns"})


@pytest.fixture
def where(tmp_path: Path) -> str:
    path = tmp_path / "s.sqlite"
    with store_with_run(path) as store:
        store.commit_trial(a_trial(0), [readings(), readings("other")])
    return str(path)


def folder_of(where: str) -> Path:
    return Path(where + ".series") / a_run().id


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def flip(path: Path) -> None:
    octets = bytearray(path.read_bytes())
    octets[len(octets) // 2] ^= 1
    path.write_bytes(octets)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (flip, "is damaged: found another checksum"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "bytes, expected "),
        (lambda path: path.write_bytes(b""), "is damaged: found 0 bytes"),
        (Path.unlink, "is missing"),
    ],
)
def test_a_damaged_series_is_named_and_the_rest_is_read(
    where: str, harm: object, message: str
) -> None:
    path = folder_of(where) / "0-readings.parquet"
    assert callable(harm)
    harm(path)

    with open_store(where) as store:
        for names in (None, ["readings"]):
            with pytest.raises(StoreError) as found:
                store.series("last", 0, names)
            assert message in found.value.message
            assert str(path) in found.value.message
            assert "the rest of the run is readable" in str(found.value.hint)
        assert store.trials("last") == [a_trial(0)]
        assert store.series("last", 0, ["other"])["other"].rows == 100
        with store.acquire_run("last"):
            store.commit_trial(a_trial(1), [readings()])
        assert store.series("last", 1)["readings"].rows == 100


def test_two_stores_in_one_folder_keep_their_series_apart(tmp_path: Path) -> None:
    for name, rows in (("a", 10), ("b", 20)):
        with store_with_run(tmp_path / name) as store:
            store.commit_trial(a_trial(0), [readings(rows=rows)])
    for name, rows in (("a", 10), ("b", 20)):
        with open_store(str(tmp_path / name)) as store, store.acquire_run("last"):
            assert store.series("last", 0)["readings"].rows == rows


#: Is killed, or ends by an error, when its series is on disk and its row is not.
HALFWAY = """
import os, signal, sys
import numpy as np
from lanlab.store import Series, open_store
from lanlab.store.sqlite import SqliteStore
from store_samples import a_trial

def transaction(self, run_id):
    print("written", flush=True)
    sys.stdin.readline()

SqliteStore.transaction = transaction
with open_store(sys.argv[1]) as store, store.acquire_run("last"):
    print("ready", flush=True)
    store.commit_trial(a_trial(1), [Series("readings", {"time_ns": np.arange(100)})])
"""


def test_a_file_that_a_killed_commit_left_is_removed_with_the_next_lease(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    folder = folder_of(where)
    writer = child(HALFWAY, where)
    assert [line(writer), line(writer)] == ["ready", "written"]
    writer.kill()
    writer.communicate()
    (folder / "2-readings.parquet.new").write_bytes(b"PAR1half")
    (folder / "notes.txt").write_text("mine")
    (folder / "my.parquet").write_text("mine")
    (folder / "9-my.parquet").write_text("mine")
    assert "1-readings.parquet" in names_in(folder)

    with open_store(where) as store:
        assert store.trials("last") == [a_trial(0)]
        with pytest.raises(StoreError, match="was left by an interrupted commit") as told:
            store.commit_trial(a_trial(1), [readings()])
        assert "lanlab run --resume" in str(told.value.hint)
        with store.acquire_run("last"):
            assert names_in(folder) == [
                *("0-other.parquet", "0-readings.parquet", "9-my.parquet"),
                *("my.parquet", "notes.txt"),
            ]
            store.commit_trial(a_trial(1), [readings(rows=7)])
        assert store.series("last", 1)["readings"].rows == 7


def test_a_failed_commit_removes_its_files(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: object, run_id: str) -> None:
        raise KeyboardInterrupt

    with open_store(where) as store:
        with monkeypatch.context() as patch:
            patch.setattr("lanlab.store.sqlite.SqliteStore.transaction", failing)
            with pytest.raises(KeyboardInterrupt):
                store.commit_trial(a_trial(1), [readings(), readings("other")])
        assert names_in(folder_of(where)) == ["0-other.parquet", "0-readings.parquet"]
        store.commit_trial(a_trial(1), [readings(), readings("other")])


#: Commits trials with a series each, telling each number only after it is committed.
WRITER = """
import sys
import numpy as np
from lanlab.store import Series, open_store
from store_samples import a_trial
with open_store(sys.argv[1]) as store, store.acquire_run("last"):
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1, 100000):
        columns = {"n": np.arange(1000) * number}
        store.commit_trial(a_trial(number), [Series("readings", columns)])
        print(number, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_every_acknowledged_series_outlives_the_end_of_its_writer(
    where: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    writer = child(WRITER, where)
    assert line(writer) == "ready"
    go(writer)
    told = [line(writer) for _ in range(20)]
    writer.send_signal(number)
    told += rest(writer)

    with open_store(where) as store, store.acquire_run("last"):
        numbers = [trial.number for trial in store.trials("last")]
        assert numbers == list(range(len(numbers)))
        assert numbers[-1] in (int(told[-1]), int(told[-1]) + 1)
        for trial in numbers[1:]:
            column = store.series("last", trial)["readings"].columns["n"]
            assert (column == np.arange(1000) * trial).all()
    expected = [f"{trial}-readings.parquet" for trial in numbers] + ["0-other.parquet"]
    assert names_in(folder_of(where)) == sorted(expected)


def test_a_full_disk_refuses_trial_and_series_whole_and_can_be_mended(tmp_path: Path) -> None:
    code = """
import pathlib, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from lanlab.errors import StoreError
from lanlab.store import Series, open_store
from store_samples import a_run, a_trial, store_with_run
place = pathlib.Path(sys.argv[1])
ballast = place / "ballast"
ballast.write_bytes(bytes(300_000))
rng = np.random.default_rng(1)
def series(rows):
    return [Series("a", {"n": rng.integers(0, 2**60, rows)}), Series("b", {"n": np.arange(9)})]
with open_store(str(place / "s")) as store:
    store.start_run(a_run()).release()
    number = 0
    with store.acquire_run("last"):
        try:
            for number in range(1000):
                store.commit_trial(a_trial(number), series(5000))
        except StoreError as error:
            print(error.message, "|", error.hint)
        assert len(store.trials("last")) == number > 2, number
        files = sorted(path.name for path in (place / "s.series" / a_run().id).iterdir())
        assert files == sorted(f"{n}-{name}.parquet" for n in range(number) for name in "ab")
        for n in range(number):
            assert store.series("last", n)["a"].rows == 5000
        ballast.unlink()
        store.commit_trial(a_trial(number), series(5000))
    assert store.series("last", number)["a"].rows == 5000
print("mended")
"""
    options = ["-t", "tmpfs", "-o", "size=1m", "lanlab"]
    said = on_mount(options, tmp_path, code, str(Path(__file__).parent))

    assert "the disk is full | make room on it" in said
    assert said.endswith("mended\n")


def test_an_unwritable_folder_refuses_the_trial(where: str) -> None:
    shutil.rmtree(folder_of(where))
    folder_of(where).write_text("in the way")
    with open_store(where) as store:
        with pytest.raises(StoreError) as refused:
            store.commit_trial(a_trial(1), [readings()])
        assert str(folder_of(where)) in refused.value.message
        assert refused.value.hint is not None
        assert [trial.number for trial in store.trials("last")] == [0]
        store.commit_trial(a_trial(1))


def test_series_on_a_network_share_are_refused(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 8:1 / / rw - ext4 d rw\n2 1 0:9 / {where}.series rw - nfs4 s:/h rw\n")
    monkeypatch.setattr("lanlab.linux.MOUNTS", mounts)
    with open_store(where) as store:
        store.start_run(a_run(id="new")).release()
        with pytest.raises(StoreError, match=r"\(nfs4\)"):
            store.commit_trial(a_trial(0, run_id="new"), [readings()])
        assert store.trials("new") == []


def remove(path: Path) -> None:
    shutil.rmtree(path.parent)


def replace(path: Path) -> None:
    other = path.with_name("other.sqlite")
    with open_store(str(other)) as store:
        store.start_run(a_run()).release()
    os.replace(other, path)  # noqa: PTH105


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps open files where they are")
@pytest.mark.parametrize("harm", [remove, replace])
@pytest.mark.parametrize("series", [[], [readings()]])
def test_a_removed_store_accepts_no_trials(
    tmp_path: Path, harm: object, series: list[Series]
) -> None:
    path = tmp_path / "below" / "s.sqlite"
    with store_with_run(path) as store:
        store.commit_trial(a_trial(0), [readings()])
        assert callable(harm)
        harm(path)
        with pytest.raises(StoreError, match="was removed or replaced") as told:
            store.commit_trial(a_trial(1), series)
        assert told.value.hint is not None
    assert not (path.parent / "s.sqlite.series" / a_run().id / "1-readings.parquet").exists()
    assert path.exists() == (harm is replace)
