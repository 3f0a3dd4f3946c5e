"""What is refused: with the reason on standard error, nothing on standard output, and code 2."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import STREAM, Lanlab


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--transport tcp --congestion-control nonesuch", "control `nonesuch` is not available on"),
        ("--receiver-processor 999", "processor 999 is not available to lanlab"),
    ],
)
def test_what_this_machine_lacks_is_refused(
    args: str, message: str, lanlab: Lanlab, folder: Path
) -> None:
    said = lanlab("stream", *args.split())

    assert (said.code, said.out) == (2, "")
    assert message in said.err and "; allowed: " in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("args", ["run small.toml --testbed loopback", "show small.toml"])
def test_an_unknown_figure_is_refused_before_the_run(
    args: str, lanlab: Lanlab, folder: Path
) -> None:
    file = folder / "small.toml"
    file.write_text(file.read_text().replace('figure = "bars"', 'figure = "bar"', 1))

    said = lanlab(*args.split())

    assert (said.code, said.out) == (2, "")
    assert "no figure named `bar`" in said.err and "did you mean `bars`?" in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_an_unknown_server_is_named_without_a_host_of_ours(lanlab: Lanlab, folder: Path) -> None:
    # No name server is asked for this.
    said = lanlab("copy", "1x1kB", "ftp://no..host/", "--trials", "1")

    assert (said.code, said.out) == (2, "")
    error, hint = said.err.splitlines()
    assert error.startswith("error: `no..host` has no IPv4 address: ")
    assert hint == "hint: check the name, or give the address"
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(lanlab: Lanlab, folder: Path) -> None:
    (folder / "shut").mkdir(mode=0o555)

    said = lanlab(*STREAM, "--store", "shut/store.sqlite")

    assert (said.code, said.out) == (1, "")
    assert "shut/store.sqlite" in said.err
    assert "hint: " in said.err


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "lanlab-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_ends_the_run_and_keeps_its_records(
    lanlab: Lanlab, folder: Path, small_disk: Path
) -> None:
    file = folder / "small.toml"
    file.write_text(file.read_text().replace("min = 2, max = 2", "min = 8, max = 8"))
    store = ("--store", str(small_disk / "store.sqlite"))

    full = lanlab("run", "small.toml", "--testbed", "loopback", *store)

    assert (full.code, full.out) == (1, "")
    assert "error: " in full.err and "full" in full.err
    assert "hint: " in full.err
    subprocess.run(["mount", "-o", "remount,size=8M", str(small_disk)], check=True)
    (row,) = lanlab("runs", *store, "--json").json()["runs"]
    assert row["status"] == "interrupted"
    assert 0 < row["trials"] < 24
    done = lanlab("run", "--resume", "last", *store, "--json")
    assert done.code == 0
    # On a busy machine a trial may start too late: it is run again.
    completed = [trial for trial in done.json()["trials"] if trial["status"] == "done"]
    assert len(completed) == 24
