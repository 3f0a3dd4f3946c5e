"""Stations that are spread over several hosts with real OpenSSH servers."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from held import Held
from ssh_hosts import SshHost, SshLan, finished, ssh_lan

#: By how much the clock of `nas`, which is a client here, is ahead.
AHEAD_S = 1000
SHORT = ["--service", "smb", "--time", "0.5s", "--size", "4k", "--trials", "1"]


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    """The hosts `pc1`, `pc2` and `nas`; the clock of `nas` is another one."""
    folder = tmp_path_factory.mktemp("ssh")
    with ssh_lan(folder, names=("pc1", "pc2", "nas"), nas_ahead_s=AHEAD_S) as opened:
        yield opened


def await_nothing_left(lan: SshLan) -> None:
    """Of `nas` its server is a child of what gave it a clock, and stays."""
    pc1, pc2, nas = lan.hosts
    pc1.await_nothing_left()
    pc2.await_nothing_left()
    assert not any(is_engine(words) for words in nas.processes().values())


def named(host: SshHost) -> str:
    return f"{host.destination}={host.address}"


def test_stations_are_spread_over_hosts_that_start_together(lan: SshLan) -> None:
    pc1, pc2, nas = lan.hosts
    clients = ["--from", f"{named(pc1)},{named(nas)}", "--to", "pc2", "--address", pc2.address]
    found = lan.measured("stations", *clients, "--stations", "5", *SHORT)

    assert found["testbed"] == f"ssh:{named(pc1)},{named(pc2)},{named(nas)}"
    (trial,) = found["trials"]
    first, second = trial["hosts"]
    assert (first["host"], second["host"]) == ("pc1", "nas")
    assert (first["stations"], second["stations"]) == (3, 2)
    assert first["operations_ratio"] + second["operations_ratio"] == pytest.approx(1)
    assert first["operations"] > 0 < second["operations"]
    assert first["clock_error_ns"] == 0 < second["clock_error_ns"] < 5_000_000_000
    # Had the second host gone by the clock of the first, it would be 1000 s.
    assert trial["start_skew_ns"] < 5_000_000_000
    await_nothing_left(lan)


def test_a_file_may_have_several_client_hosts(lan: SshLan, tmp_path: Path) -> None:
    pc1, pc2, nas = lan.hosts
    file = tmp_path / "lab.toml"
    file.write_text(
        "".join(
            f'[[host]]\nssh = "{one.destination}"\naddress = "{one.address}"\nroles = ["{role}"]\n'
            for one, role in ((pc1, "client"), (pc2, "client"), (nas, "server"))
        )
    )
    command = lan.start("stations", "--testbed", f"ssh:{file}", "--stations", "1,4", *SHORT)
    code, out, err = finished(command)
    assert code == 0, err
    rows = [line.split() for line in out.splitlines()]
    hosts = [(row[0], row[1], row[2]) for row in rows if len(row) > 2 and row[1][:2] == "pc"]
    # One station is one host's.
    assert hosts == [("4", "pc1", "2"), ("4", "pc2", "2")]
    run = next(row[2] for row in rows if row[:2] == ["saved", "as"]).rstrip(";")

    code, _, err = lan.run("report", run, "--out", str(tmp_path / "report"))
    assert code == 0, err
    assert any(tmp_path.glob("report/**/*-hosts*.csv"))


def test_a_lost_client_host_costs_only_its_trial(lan: SshLan, tmp_path: Path) -> None:
    pc1, pc2, nas = lan.hosts
    clients = ["--from", f"{named(pc1)},{named(pc2)}", "--to", "nas", "--address", nas.address]
    long = ["--service", "smb", "--time", "5s", "--size", "4k", "--trials", "2", "--json"]
    trials = Held(tmp_path / "trials")
    command = lan.start("stations", *clients, "--stations", "4", *long, before=trials.code)
    trials.reach()
    engine = next(pid for pid, words in pc2.processes().items() if is_engine(words))
    os.kill(engine, signal.SIGKILL)
    trials.let_go()
    _, out, err = finished(command)
    found = json.loads(out)
    assert [trial["status"] for trial in found["trials"]] == ["failed", "done"], err
    assert found["trials"][0]["error"]["message"].startswith("pc2: the engine was ended")
    assert [share["host"] for share in found["trials"][1]["hosts"]] == ["pc1", "pc2"]
    await_nothing_left(lan)


def is_engine(words: str) -> bool:
    return "engine-" in words and "hold" not in words and "sh -c" not in words


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--from", "pc1,pc1", "--to", "nas"], "--from names a host twice"),
        (["--from", "pc1,pc2", "--from-address", "10.0.0.1"], "--from names 2 hosts"),
        (["--from", "pc1,", "--to", "nas"], "host: found ``"),
        (
            ["--client-hosts", "2", "--to", "nas"],
            "--client-hosts works only on the testbeds virtual",
        ),
        (["--client-hosts", "2", "--testbed", "loopback"], "found `loopback`"),
    ],
)
def test_impossible_client_hosts_are_refused(lan: SshLan, argv: list[str], said: str) -> None:
    code, out, err = lan.run("stations", *argv, *SHORT)
    assert (code, out) == (2, "")
    assert said in err


def test_stations_of_the_virtual_testbed_are_spread_as_well(lan: SshLan) -> None:
    found = lan.measured(
        "stations", "--client-hosts", "3", "--link", "100M", "--stations", "3", *SHORT
    )
    assert [share["stations"] for share in found["trials"][0]["hosts"]] == [1, 1, 1]
    assert {share["clock_error_ns"] for share in found["trials"][0]["hosts"]} == {0}
