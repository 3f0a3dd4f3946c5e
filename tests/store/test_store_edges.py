"""The limits of what a store keeps, and of where it may lie, one step to either side."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_samples import a_run, a_trial

from lanlab.errors import StoreError
from lanlab.linux import file_system_in
from lanlab.store import Series, parquet
from lanlab.store.encoding import from_json
from lanlab.store.place import results_folder
from lanlab.store.readiness import readiness
from lanlab.store.rows import (
    RUN_COLUMNS,
    check_trial,
    to_row,
    to_run,
)
from lanlab.store.shape import reading_records, run_record, trial_record


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63), 0])
def test_whole_numbers_of_64_bits_are_kept(seed: int) -> None:
    run = a_run(seed=seed)
    row = to_row(run)
    assert row["seed"] == seed
    assert to_run([row[name] for name in RUN_COLUMNS]) == run


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1])
def test_whole_numbers_beyond_64_bits_are_refused(seed: int) -> None:
    with pytest.raises(StoreError, match="needs more than 64 bits"):
        to_row(a_run(seed=seed))


def test_the_first_trial_and_block_are_number_0() -> None:
    check_trial(a_trial(0, block=0))
    for wrong in (a_trial(-1), a_trial(0, block=-1)):
        with pytest.raises(StoreError, match="allowed: 0 and above"):
            check_trial(wrong)


MOUNTS = "\n".join(
    [
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
        "2 1 0:9 / /srv/deep/er rw - nfs4 far:/h rw",
        "3 1 0:9 / /srv rw - tmpfs none rw",
        "4 1 0:9 / /twice rw - cifs //far/a rw",
        "5 1 0:9 / /twice rw - xfs /dev/sdb rw",
        r"6 1 0:9 / /my\040disk\134 - ext3 /dev/sdc rw",
        "7 1 0:9 / - short /dev/sdd rw",
        "8 1 0:9 / /nothing rw",
    ]
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/x", "ext4"),
        ("/srv/x", "tmpfs"),
        ("/srv/deep/x", "tmpfs"),
        ("/srv/deep/er/x", "nfs4"),
        ("/srv/deep/er", "nfs4"),
        ("/srvice", "ext4"),
        ("/twice/x", "xfs"),
        ("/my disk\\/x", "ext3"),
        ("/nothing/x", "ext4"),
    ],
)
def test_a_path_belongs_to_the_nearest_latest_mount(path: str, kind: str) -> None:
    assert file_system_in(MOUNTS, Path(path)) == kind
    assert file_system_in("", Path(path)) is None


def test_reports_are_written_next_to_a_store_file() -> None:
    assert results_folder("/a/b/store.sqlite") == Path("/a/b")
    assert results_folder("postgresql://db.example/lab") == Path("lanlab-results")


def test_a_missing_store_is_usable_if_its_folder_can_be_created(tmp_path: Path) -> None:
    seen = readiness(str(tmp_path / "new" / "er" / "store.sqlite"))
    assert (seen.kind, seen.is_usable, seen.detail) == ("sqlite", True, "made by the first run")
    assert not (tmp_path / "new").exists()
    other = readiness("mysql://db.example/lab")
    assert (other.kind, other.is_usable) == ("sqlite", False)
    assert "no store of the kind" in other.detail
    assert other.how_to_get
    secret = readiness("postgresql://ada:secret@db.example/lab")
    assert (secret.kind, secret.place, secret.is_usable) == ("postgresql", "that URL", False)


def test_a_database_that_cannot_be_reached_gives_a_hint() -> None:
    found = readiness("postgresql://ada@127.0.0.1:1/lab")
    assert (found.kind, found.is_usable) == ("postgresql", False)
    assert found.how_to_get == "check host and port, and that the server runs"


def test_only_avoidable_disturbances_count_as_disturbed() -> None:
    def disturbed(*repeats_help: bool) -> bool:
        findings = [{"repeat_helps": helps} for helps in repeats_help]
        return a_trial(raw={"pollution": {"findings": findings}}).is_disturbed

    assert disturbed(True)
    assert disturbed(False, True)
    assert not disturbed(False)
    assert not disturbed()
    assert not a_trial(raw={}).is_disturbed


def test_a_field_of_another_type_is_named_with_its_record() -> None:
    run: dict[str, Any] = vars(a_run(seed="x"))
    with pytest.raises(StoreError, match="a run has an invalid value of `seed`"):
        run_record(run)
    trial: dict[str, Any] = vars(a_trial(elapsed_s="x"))
    with pytest.raises(StoreError, match="a trial has an invalid value of `elapsed_s`"):
        trial_record(trial)
    for field in ("status", "purpose"):
        trial = vars(a_trial(7, **{field: "x"}))
        with pytest.raises(StoreError, match="trial 7: unknown status or purpose"):
            trial_record(trial)


def test_malformed_records_are_refused() -> None:
    with pytest.raises(StoreError, match="records of run `r` are malformed"), reading_records("r"):
        raise KeyError("x")
    with pytest.raises(StoreError, match=r"^own$"), reading_records("r"):
        raise StoreError("own")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{}", "is not text"),
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("NaN", "is NaN, which is no number"),
        ("-Infinity", "is -Infinity, which is no number"),
        ("1e999", "not finite"),
    ],
)
def test_foreign_json_is_refused_with_the_reason(text: object, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        from_json(text)
    assert from_json('{"a": [1, 2.5, null, true]}') == {"a": [1, 2.5, None, True]}


def test_a_file_that_was_checked_is_read_from_its_beginning() -> None:
    file = io.BytesIO()
    entry = parquet.write(Series("s", {"n": np.arange(3)}), file, {})
    file.seek(0)
    parquet.check(file, entry, "file")
    assert file.read(4) == b"PAR1"


def test_a_full_temporary_directory_is_reported_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lanlab.store.postgresql import PostgresqlStore
    from lanlab.store.postgresql_url import parse_url

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet, "write", full)
    database = PostgresqlStore(parse_url("postgresql://ada@db.example/lab"))
    with (
        pytest.raises(StoreError, match=r"`s` cannot be written.*No space left") as refused,
        database.placed("run", 0, [Series("s", {"n": np.arange(3)})]),
    ):
        pass
    assert "TMPDIR" in str(refused.value.hint)
