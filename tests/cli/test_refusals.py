"""What is refused: with the reason on standard error, nothing on standard output, and code 2."""

import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Lanlab

QUICK = ("--testbed", "loopback", "--time", "0.05", "--warmup", "0")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("stream --transport tcp --size 17MiB", "--size: found `17MiB`; allowed: "),
        ("stream --time -1", "--time: `-1` is negative; it must be above 0"),
        ("stream --link 10\u0661M", "link: `10\u0661M` has other digits than 0 to 9"),
        (
            "stream --flows \u0661",
            "--flows: found `\u0661`; allowed: a whole number, in digits 0 to 9",
        ),
        ("run small.toml --scale=", "--scale: found nothing; allowed: a value"),
        ("report last --out=", "--out: found nothing; allowed: FOLDER"),
        (
            "stream --transport tcp --congestion-control nonesuch",
            "congestion control `nonesuch` is not available on this machine; allowed: ",
        ),
        ("stream --receiver-processor 999", "processor 999 is not available to lanlab"),
        ("stream --bytes 0", "--bytes: found `0`; allowed: "),
        ("stream --rate 0", "--rate: found `0`; allowed: "),
        ("stream --message-rate nan", "--message-rate: found `nan`; allowed: "),
        ("stream --testbed loopback --link 10M", "loopback has no link `10M`; allowed: unshaped"),
        (
            "stream --testbed loopback --pcap f.pcap",
            "--pcap: cannot capture frames on testbed `loopback`",
        ),
        (
            "echo --testbed virtual --pcap f.pcap",
            "--pcap: cannot capture frames on link `unshaped`",
        ),
        ("stream --testbed virtual --link 10M,loss=200%", "link: loss: found `200%`; allowed: 0"),
        ("stream --testbed loopback --interval x", "--interval: `x` is not a number"),
        ("stations --limit x", "--limit: `x` is not a number"),
        ("stream --peer iperf3://", "found no host in `iperf3://`"),
        ("stream --transport sctp", "--transport: found `sctp`; allowed: 'udp' or 'tcp'"),
        ("stream --ip 5", "--ip: found `5`; allowed: 4 or 6"),
        ("stream --congestion-control cubic", "--congestion-control applies to tcp, not to udp"),
        ("stream --transport tcp --io segment", "--io `segment` applies to udp"),
        ("stream --flows 1001", "--flows: found `1001`; allowed: "),
        ("stream --receive wait", "--receive: found `wait`; allowed: 'block', 'poll', "),
        ("stream --timestamps mine", "--timestamps: found `mine`; allowed: 'program' or 'kernel'"),
        ("stream --threads 65", "--threads: found `65`; allowed: "),
        ("stream --read-size 17MiB", "--read-size: found `17MiB`; allowed: "),
        ("stream --on-late hurry", "--on-late: found `hurry`; allowed: 'catch_up' or 'skip'"),
        ("stream --drain 61", "--drain: found `61`; allowed: "),
        ("stream --receiver-quota 0", "--receiver-quota: found `0`; allowed: "),
        ("stream --receiver-work 2", "--receiver-work: found `2`; allowed: "),
        ("stream --receiver-rivals 17", "--receiver-rivals: found `17`; allowed: "),
        ("stream --sender-processor=-1", "--sender-processor: found `-1`; allowed: "),
        ("echo --receiver-processor 1024", "--receiver-processor: found `1024`; allowed: "),
        ("echo --receive wait", "--receive: found `wait`; allowed: 'block', 'poll', "),
        ("stream --dscp 64", "--dscp: found `64`; allowed: "),
        ("stream --trials 0", "--trials: found `0`; allowed: 1 to 10,000"),
        ("stream --seed -1", "--seed: found `-1`; allowed: 0 or more"),
        ("saturation --goals 0%,2", "--goals: found `2`; allowed: a share below 100 %"),
        ("saturation --goals 0,,1%", "--goals: found ``; allowed: a share below 100 %"),
        ("saturation --width 0%", "--width: found `0%`; allowed: a share below 100 %"),
        ("saturation --low 5M --high 5M", "--low 5000000 bit/s must be below --high 5000000 bit/s"),
        ("saturation --size 0", "--size: found `0`; allowed: 1 B to 16 MiB"),
        ("saturation --time 0", "--time: found `0`; allowed: above 0, at most 86,400 s"),
        ("saturation --io segment --link 10M", "sends by segmentation offload"),
        ("stream --colour 5", "error: no such option: --colour"),
        (
            "stream -c nas",
            "error: no such option: -c\nhint: use --to HOST; lanlab starts the other",
        ),
        ("echo -s", "hint: use --to HOST at the other end; lanlab starts a server there by itself"),
        ("stream -p 5201", "hint: use --port\n"),
        ("stream --client=nas", "hint: use --to HOST;"),
        ("stream --conclude true", "hint: use --cleanup, which runs after each trial"),
        ("copy -P 4", "hint: use --parallel\n"),
        ("serve -c nas", "error: no such option: -c"),
        ("echo --size 0", "--size: found `0`; allowed: "),
        ("echo --size 65508", "--size 65508 is above the largest UDP message (65507)"),
        ("echo --rate inf", "--rate: found `inf`; allowed: "),
        ("echo --timeout 0", "--timeout: found `0`; allowed: "),
        ("echo --idle-timeout 0", "--idle-timeout: found `0`; allowed: "),
        ("run small.toml --resume last", "give either a study or --resume RUN"),
        (
            "run --resume last --link 10M",
            "--link cannot be used with --resume: a run keeps its settings",
        ),
        ("run small.toml --testbed loopback --link 10M", "loopback has no link `10M`"),
        ("runs --store postgresql://ada:secret@db/lab", "the store's URL has a password in it"),
        ("runs --store postgresql://db/lab?port=0", "port is `0`; allowed: 1 to 65535"),
        ("stream --store mysql://x", "no store of the kind `mysql://`"),
        ("report last --store=", "--store: found nothing; allowed: PATH|URL"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused(
    args: str, message: str, lanlab: Lanlab, folder: Path
) -> None:
    said = lanlab(*args.split())

    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert re.search(r"hint: |allowed: |needs? |applies to|either |above ", said.err)
    assert "see --help" not in said.err
    assert "secret" not in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_an_unknown_figure_is_refused_before_the_run(lanlab: Lanlab, folder: Path) -> None:
    file = folder / "small.toml"
    file.write_text(file.read_text().replace('figure = "bars"', 'figure = "bar"', 1))

    said = lanlab("run", "small.toml", "--testbed", "loopback")

    assert (said.code, said.out) == (2, "")
    assert "no figure named `bar`" in said.err and "did you mean `bars`?" in said.err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


def test_a_missing_tool_is_named_with_its_package(
    lanlab: Lanlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = folder / "tools"
    tools.mkdir()
    for place in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for name in ("cat", "env", "sh", "true", "unshare", "nsenter"):
            if Path(place, name).exists() and not (tools / name).exists():
                (tools / name).symlink_to(Path(place, name))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr("lanlab.testbeds.tools._SYSTEM_FOLDERS", ())

    said = lanlab("stream", "--testbed", "virtual", "--link", "1G")

    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error: need `ip` from iproute2, not found on PATH\nhint: apt install iproute2\n"
    )


def test_a_missing_engine_is_named_with_how_to_get_it(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_ENGINE", "/no/such/engine")

    said = lanlab("stream", *QUICK)

    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error: LANLAB_ENGINE names `/no/such/engine`, which is no program\n"
        "hint: name the engine binary, or unset it\n"
    )


@pytest.mark.parametrize("command", [["runs"], ["report", "last"], ["run", "--resume", "last"]])
def test_a_missing_store_is_explained(command: list[str], lanlab: Lanlab, folder: Path) -> None:
    said = lanlab(*command)

    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "error: no results yet: lanlab-results/store.sqlite does not exist\n"
        "hint: measure first, e.g. with `lanlab stream` or `lanlab run STUDY`, or name another "
        "store with --store\n"
    )
    assert not (folder / "lanlab-results").exists()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (".", "is a directory, not a store"),
        ("small.toml", "is not a store: not an SQLite file"),
        ("small.toml/store.sqlite", "small.toml"),
        ("newer.sqlite", "the store has schema version 99"),
        ("other.sqlite", "an SQLite file of another program"),
    ],
)
def test_a_file_that_is_not_a_store_is_not_changed(
    place: str, message: str, lanlab: Lanlab, folder: Path
) -> None:
    for name, application_id, version in (("newer", 0x4C4E4C42, 99), ("other", 77, 1)):
        connection = sqlite3.connect(folder / f"{name}.sqlite")
        connection.executescript(
            f"PRAGMA application_id = {application_id}; PRAGMA user_version = {version};"
            "CREATE TABLE precious (x)"
        )
        connection.close()
    before = {path: path.read_bytes() for path in folder.iterdir()}

    for command in (["runs"], ["stream", *QUICK]):
        said = lanlab(*command, "--store", place)
        assert (said.code, said.out) == (1, "")
        assert message in said.err
        assert "hint: " in said.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(lanlab: Lanlab, folder: Path) -> None:
    (folder / "shut").mkdir(mode=0o555)

    said = lanlab("stream", *QUICK, "--store", "shut/store.sqlite")

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
    text = file.read_text().replace("min = 2, max = 2", "min = 8, max = 8")
    file.write_text(text.replace("time_s = 0.05", "time_s = 0.02"))
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
    assert len(done.json()["trials"]) == 24
