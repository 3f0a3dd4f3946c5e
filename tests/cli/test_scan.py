"""Scans from the command line, what runs around their trials, and where their results go."""

import csv
import io
import json
import socket
from pathlib import Path

import pytest
from command_line import COUNTED, ECHO, STREAM, Lanlab, lanlab_process
from export_judges import read_openmetrics


def test_a_scan_is_a_study_in_blocks(lanlab: Lanlab) -> None:
    args = ("--size", "64,128", "--rate", "1M..2M/1M", "--trials", "2", "--seed", "3")
    said = lanlab(*STREAM, *args, "--json")

    assert said.code == 0
    first, second, *_ = said.err.splitlines()
    assert first.startswith(
        "scan: 2 values of --size x 2 values of --rate = 4 conditions x 2 trials = 8 trials, about "
    )
    assert second.startswith("run ")
    answer = said.json()
    assert answer["study"] == "stream-scan"
    conditions = [
        (trial["factors"]["message_size_bytes"], trial["factors"]["rate_bps"])
        for trial in answer["trials"]
    ]
    every = {(size, rate) for size in (64, 128) for rate in (1_000_000, 2_000_000)}
    assert set(conditions[:4]) == set(conditions[4:]) == every
    assert [trial["block"] for trial in answer["trials"]] == [0] * 4 + [1] * 4


def test_a_scan_is_drawn_against_its_factor(lanlab: Lanlab, folder: Path) -> None:
    # Long enough for several steps of time.
    said = lanlab("stream", *COUNTED, "--size", "64,128", "--rate", "1M", "--messages", "400")
    assert "64 B " in said.out
    assert "`lanlab report " in said.out

    assert lanlab("report", "last", "--out", "out").code == 0
    page = (folder / "out" / "report.html").read_text()
    assert "Goodput over time" in page
    assert len(list((folder / "out" / "figures").glob("*.svg"))) == 3


def test_scans_of_round_trips_and_copies(lanlab: Lanlab) -> None:
    echo = lanlab(*ECHO, "--size", "16,32", "--json").json()
    assert {trial["factors"]["message_size_bytes"] for trial in echo["trials"]} == {16, 32}

    args = ("--parallel", "1,2", "--trials", "1", "--testbed", "loopback", "--json")
    copy = lanlab("copy", "3x1kB", *args).json()
    assert [len(trial["factors"]) for trial in copy["trials"]] == [1, 1]

    args = ("--size", "512,1k", "--stations", "1,2", "--time", "0.2")
    more = ("--trials", "1", "--service", "memory", "--testbed", "loopback", "--json")
    stations = lanlab("stations", *args, *more).json()
    assert len(stations["trials"]) == 4


def test_commands_run_around_trials_and_are_recorded(lanlab: Lanlab, folder: Path) -> None:
    note = 'echo "$LANLAB_TRIAL $LANLAB_PARAMETER_MESSAGE_SIZE_BYTES" >> '
    commands = ("--setup", f"{note}setup", "--prepare", f"{note}prepare; echo ready", "--cleanup")
    said = lanlab(*STREAM, "--rate", "1M", "--trials", "3", *commands, f"{note}cleanup")

    assert said.code == 0, said.err
    assert "note: prepare command on this machine: echo" in said.err
    assert (folder / "setup").read_text() == "0 1408\n"
    assert (folder / "prepare").read_text() == "0 1408\n1 1408\n2 1408\n"
    assert (folder / "cleanup").read_text() == (folder / "prepare").read_text()
    lanlab(*STREAM, "--rate", "1M", "--size", "64,128", "--trials", "2", *commands, "true")
    assert len((folder / "setup").read_text().splitlines()) > 2


def test_a_command_that_fails_ends_its_trial_and_not_the_run(lanlab: Lanlab, folder: Path) -> None:
    prepare = 'echo no room; test "$LANLAB_PARAMETER_MESSAGE_SIZE_BYTES" = 64'
    args = ("--rate", "1M", "--size", "64,128", "--prepare", prepare, "--cleanup", "echo >> tidied")
    said = lanlab(*STREAM, *args, "--json")

    assert said.code == 1
    by_size = {t["factors"]["message_size_bytes"]: t for t in said.json()["trials"]}
    assert by_size[64]["status"] == "done"
    assert by_size[128]["status"] == "failed"
    error = by_size[128]["error"]
    assert error["code"] == "CommandFailed"
    assert error["message"].endswith("ended with exit code 1; it printed last: no room")
    assert (folder / "tidied").read_text() == "\n\n"
    ran = [(one["when"], one["exit_code"], one["output"]) for one in by_size[128]["commands"]]
    assert ran == [("prepare", 1, "no room\n"), ("cleanup", 0, "")]


def test_a_command_that_hangs_is_ended(lanlab: Lanlab) -> None:
    args = ("--prepare", "sleep 1000", "--command-timeout", "0.2")
    said = lanlab(*ECHO, *args)

    assert said.code == 1
    assert "sleep 1000` was ended after 0.2 s" in said.err
    assert lanlab(*ECHO, "--command-timeout", "2").code == 2


def test_results_are_exported(lanlab: Lanlab, folder: Path) -> None:
    names = ("markdown", "csv", "json", "openmetrics")
    exports = [word for name in names for word in (f"--export-{name}", f"out.{name}")]
    args = ("--rate", "1M", "--size", "64,128", "--trials", "2")
    said = lanlab(*STREAM, *args, *exports)

    assert said.code == 0
    trials = json.loads((folder / "out.json").read_text())["trials"]
    of_64 = [t["goodput_bps"] for t in trials if t["factors"]["message_size_bytes"] == 64]
    rows = list(csv.DictReader(io.StringIO((folder / "out.csv").read_text())))
    mean = next(
        float(row["mean"])
        for row in rows
        if row["metric"] == "goodput_bps" and row["message_size_bytes (factor)"] == "64"
    )
    assert mean == pytest.approx(sum(of_64) / 2)
    samples = read_openmetrics((folder / "out.openmetrics").read_text())
    found = [
        value
        for (name, labels), value in samples.items()
        if name == "lanlab_goodput_bits_per_second"
        and {("statistic", "mean"), ("message_size_bytes", "64")} <= labels
    ]
    assert found == [mean]
    assert any(name == "lanlab_delay_variation_mean_seconds" for name, _ in samples)
    text = (folder / "out.markdown").read_text()
    assert "| 64 B | " in text and ", 4 trials: means with 95 %" in text


def test_a_failed_export_keeps_result_and_other_exports(lanlab: Lanlab, folder: Path) -> None:
    args = ("--prepare", "echo mine > taken.csv")
    exports = ("--export-csv", "taken.csv", "--export-json", "out.json")
    said = lanlab(*ECHO, *args, *exports, "--json")

    assert said.code == 1
    assert json.loads(said.out)["n"] == 1
    assert "taken.csv" in said.err.splitlines()[-2] and said.err.count("error:") == 1
    assert (folder / "taken.csv").read_text() == "mine\n"
    assert json.loads((folder / "out.json").read_text())["trials"]


def test_existing_user_files_are_refused_before_the_run(lanlab: Lanlab, folder: Path) -> None:
    mine = folder / "mine.csv"
    mine.write_text("mine")
    said = lanlab(*ECHO, "--export-csv", "mine.csv")
    assert (said.code, mine.read_text()) == (2, "mine")
    assert not (folder / "lanlab-results").exists()

    for _ in range(2):
        assert lanlab(*ECHO, "--export-json", "ours.json").code == 0
    (folder / "ours.json").write_text("changed")
    said = lanlab(*ECHO, "--export-json", "ours.json")
    assert (said.code, (folder / "ours.json").read_text()) == (2, "changed")
    assert lanlab(*ECHO, "--export-json", "x", "--export-csv", "x").code == 2

    for file, words in (("-", "found `-`"), ("new.sqlite", "both the store and an export")):
        said = lanlab(*ECHO, "--export-json", file, "--store", "new.sqlite")
        assert (said.code, words in said.err) == (2, True), said.err
        assert not (folder / file).exists()


def test_a_study_file_cannot_contain_commands(lanlab: Lanlab, folder: Path) -> None:
    study = folder / "small.toml"
    study.write_text(study.read_text() + '\n[commands]\nprepare = "touch bad"\n')
    said = lanlab("run", "small.toml", "--testbed", "loopback")

    assert said.code == 2
    assert "`commands`: found a table; allowed: none" in said.err
    assert not (folder / "bad").exists()


def test_commands_of_a_record_are_run_only_if_they_are_allowed(
    lanlab: Lanlab, folder: Path
) -> None:
    prepare = "echo >> ran; test -e on || kill -INT $PPID; touch on"
    args = ("--rate", "1M", "--size", "64,128", "--prepare", prepare)
    said = lanlab_process(folder, *STREAM, *args)
    assert (said.code, "was interrupted" in said.err) == (1, True), said.err

    refused = lanlab("run", "--resume", "last")
    assert refused.code == 2
    assert f"run programs or send passwords: prepare `{prepare}`" in refused.err
    assert len((folder / "ran").read_text()) == 1

    assert lanlab("run", "--resume", "last", "--allow-commands").code == 0
    assert len((folder / "ran").read_text()) == 3


def test_a_server_file_of_a_study_is_used_only_if_allowed(lanlab: Lanlab, folder: Path) -> None:
    (folder / "own.toml").write_text(
        'name = "own"\nservice = "ftp"\ncommand = ["/bin/sh", "-c", "exit 3"]\n'
    )
    (folder / "copies.toml").write_text(
        """
        schema = 1
        id = "copies"
        title = "Copies"
        [[experiment]]
        id = "copies"
        title = "Copies"
        workload = "copy"
        metrics = ["goodput_bps"]
        parameters = {dataset = "1x1kB", service = "ftp", server = "own.toml"}
        [scale.quick]
        trials = {min = 1, max = 1, retry_failed = 0}
        """
    )
    args = ("run", "copies.toml", "--testbed", "loopback")
    refused = lanlab(*args)
    assert refused.code == 2
    assert f"run programs or send passwords: server file `{folder}/own.toml`" in refused.err
    assert not (folder / "lanlab-results").exists()

    assert "server `own` ended with exit code 3" in lanlab(*args, "--allow-commands").out


@pytest.mark.parametrize("name", ["LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"])
def test_a_server_of_a_study_gets_a_password_only_if_allowed(
    lanlab: Lanlab, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "secret").write_text("secret")
    (folder / "secret").chmod(0o600)
    monkeypatch.setenv(name, "secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ftp://me@127.0.0.1:{server.getsockname()[1]}/"
        parameters = f'{{dataset = "1x1kB", server = "{url}", timeout_s = 1, retries = 0}}'
        (folder / "copies.toml").write_text(
            f"""
            schema = 1
            id = "copies"
            title = "Copies"
            [[experiment]]
            id = "copies"
            title = "Copies"
            workload = "copy"
            metrics = ["goodput_bps"]
            parameters = {parameters}
            [scale.quick]
            trials = {{min = 1, max = 1, retry_failed = 0}}
            """
        )
        args = ("run", "copies.toml", "--testbed", "loopback")
        refused = lanlab(*args)
        assert refused.code == 2
        assert f"run programs or send passwords: {name} to `{url}`" in refused.err
        assert not (folder / "lanlab-results").exists()
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()

        assert "FTP greeting: no answer within 1 s" in lanlab(*args, "--allow-commands").out
        assert "no answer within 1 s" in lanlab("copy", "1x1kB", url, "--timeout", "1").err
