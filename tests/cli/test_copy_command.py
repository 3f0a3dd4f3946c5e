"""`lanlab copy`: what it answers, what it refuses."""

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import Lanlab

pytestmark = pytest.mark.usefixtures("no_password_and_cache")


def test_a_directory_is_copied_to_a_directory(lanlab: Lanlab, tmp_path: Path) -> None:
    photos, nas = tmp_path / "photos", tmp_path / "nas"
    (photos / "2026").mkdir(parents=True)
    nas.mkdir()
    (nas / "letter").write_text("dear")
    (photos / "2026/a #1.jpg").write_bytes(b"x" * 50_000)
    (photos / "b.jpg").write_bytes(b"")
    (photos / "link").symlink_to("/etc/passwd")
    said = lanlab("copy", str(photos), str(nas), "--trials", "2")

    assert said.code == 0, said.err
    for what in (
        "goodput",
        "2 files, 50.0 kB",
        "every byte compared",
        "left out: 1 symbolic link",
    ):
        assert what in said.out
    assert said.out.startswith(f"upload of {photos} to {nas.as_uri()}\n")
    (mean,) = (line for line in said.out.splitlines() if line.startswith("mean  "))
    assert " and " in mean and "confidence" not in mean
    assert [path.name for path in nas.rglob("*")] == ["letter"]
    assert len(list(photos.rglob("*"))) == 4


def test_a_service_as_json_has_every_trial(lanlab: Lanlab) -> None:
    said = lanlab(
        *("copy", "3x10kB", "--service", "webdav", "--download", "--trials", "2"),
        *("--testbed", "loopback", "--json"),
    )

    assert said.code == 0, said.err
    answer = json.loads(said.out)
    assert (answer["workload"], answer["n"]) == ("copy", 2)
    assert answer["copied_bytes"] == 30_000
    assert [trial["copied_files"] for trial in answer["trials"]] == [3, 3]
    with sqlite3.connect("lanlab-results/store.sqlite") as store:
        assert "client-files" in "\n".join(store.iterdump())
