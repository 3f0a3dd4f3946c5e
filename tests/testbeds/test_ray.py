"""Nodes of a Ray cluster: measured, left as they were, and lost."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import ran
from ray_nodes import RayCluster, ray_cluster

COMMAND = [sys.executable, "-c", "from lanlab.cli import main; main()"]
NODES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(*NODES) as made:
        yield made


def start(cluster: RayCluster, *argv: str, before: str = "", **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND[:2], before + COMMAND[2], *argv],
        env=cluster.environment | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(command: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    try:
        said, errors = command.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        command.kill()
        said, errors = command.communicate()
        pytest.fail(f"a command hangs: {said}{errors}")
    return subprocess.CompletedProcess(command.args, command.returncode, said, errors)


def stored(cluster: RayCluster, run_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    script = (
        "import json, sys; from lanlab.store import open_store\n"
        "with open_store(None) as s: print(json.dumps([s.run(sys.argv[1]).testbed, "
        "[{'status': t.status, 'error': t.error, **t.raw} for t in s.trials(sys.argv[1])]]))"
    )
    told = ran([sys.executable, "-c", script, run_id], env=cluster.environment, check=True)
    testbed, trials = json.loads(told.stdout)
    return testbed, trials


def test_datagrams_go_from_one_node_to_the_next(cluster: RayCluster) -> None:
    kept = cluster.folder / "cache/lanlab"
    assert not kept.exists()
    where = f"ray:{cluster.address}"
    # Few a second: a receiver that waits for a processor for 90 ms loses none.
    amount = ["--messages", "500", "--message-rate", "1000", "--warmup", "0"]
    done = ended(start(cluster, "stream", "--testbed", where, *amount, "--json"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["testbed"] == where
    assert found["received_messages"] == found["sent_messages"] == 500

    testbed, (trial,) = stored(cluster, found["run"])
    assert trial["setup"]["requests"]["sender"]["peer"] == NODES[1]
    reached = testbed["facts"]["reached"]
    assert [each["label"] for each in reached.values()] == list(NODES[:2])
    assert [each["addresses"] for each in reached.values()] == [{"ipv4": one} for one in NODES[:2]]
    (engine,) = kept.iterdir()
    sha256 = hashlib.sha256(engine.read_bytes()).hexdigest()
    assert engine.name == f"engine-{sha256}"
    assert {each["engine"]["sha256"] for each in reached.values()} == {sha256}
    assert cluster.engines() == []


STATIONS = ["stations", "--service", "ftp", "--stations", "9", "--readings", "5", "--trials", "1"]


def test_stations_work_on_several_nodes(cluster: RayCluster) -> None:
    where = ["--testbed", f"ray:{cluster.address}", "--client-hosts", "2", "--json"]
    done = ended(start(cluster, *STATIONS, *where, LANLAB_REMOVE_ENGINE="1"))
    assert done.returncode == 0, done.stdout + done.stderr

    _, (trial, *_) = stored(cluster, json.loads(done.stdout)["run"])
    asked = [one for one in trial["setup"]["requests"].values() if one["type"] == "stations"]
    assert [one["spec"]["own"] for one in asked] == [
        {"first": 0, "count": 5},
        {"first": 5, "count": 4},
    ]
    assert trial["client"]["readings_count"] == 45
    assert cluster.engines() == []
    assert not (cluster.folder / "cache/lanlab").exists()


def test_more_nodes_than_available_are_refused(cluster: RayCluster) -> None:
    where = ["--testbed", f"ray:{cluster.address}", "--client-hosts", "3"]
    done = ended(start(cluster, *STATIONS, *where))
    assert done.returncode == 2
    assert "too few live nodes" in done.stderr
    assert "found 3; needed: 4" in done.stderr


def test_a_directory_of_this_host_is_on_no_node(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    done = ran(
        [*COMMAND, "copy", str(tmp_path), "--service", "sftp", "--testbed", "ray:127.0.0.2:9"]
    )
    assert done.returncode == 2
    assert "but files are copied from a host of `ray:" in done.stderr


def test_a_killed_command_leaves_nothing_on_the_nodes(cluster: RayCluster) -> None:
    command = start(cluster, "echo", "--testbed", f"ray:{cluster.address}", "--time", "60")
    cluster.await_engines(2)
    command.kill()
    command.communicate()
    cluster.await_engines(0)


#: Address, what runs before lanlab, environment, what is said, and what to do.
NOT_JOINED: dict[str, tuple[str, str, dict[str, str], str, str]] = {
    "no address": ("nowhere", "", {}, "found `nowhere`", "ray:10.0.0.1:6379"),
    "nobody there": (
        *("127.0.0.2:9", "", {}),
        *("no Ray cluster at this address: Connection refused", "head node"),
    ),
    "wrong token": (
        *("", "", {"RAY_AUTH_TOKEN": "0" * 64}),
        *("its token is wrong or missing", "RAY_AUTH_TOKEN_PATH"),
    ),
    "no token": (
        *("", "", {"RAY_AUTH_MODE": "disabled"}),
        *("its token is wrong or missing", "RAY_AUTH_MODE=token"),
    ),
    "version": (
        *("", "import ray; ray.__version__ = '2.0.0'; ", {}),
        *("the cluster has another version", "the same versions of Ray and Python"),
    ),
    "not installed": (
        *("", "import sys; sys.modules['ray'] = None; ", {}),
        *("needs the package ray", "pip install ray"),
    ),
}


@pytest.fixture(scope="module")
def not_joined(cluster: RayCluster) -> dict[str, subprocess.CompletedProcess[str]]:
    """What became of a command in each of these cases: at once, as they mostly wait."""
    commands = {}
    for name, (address, before, more, *_) in NOT_JOINED.items():
        argv = ["echo", "--testbed", f"ray:{address or cluster.address}", "--time", "1"]
        commands[name] = start(cluster, *argv, before=before, **more)
    return {name: ended(command) for name, command in commands.items()}


@pytest.mark.parametrize("name", NOT_JOINED)
def test_a_cluster_that_cannot_be_joined_is_named(
    not_joined: dict[str, subprocess.CompletedProcess[str]], name: str
) -> None:
    *_, said, hint = NOT_JOINED[name]
    done = not_joined[name]
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert said in done.stderr
    assert hint in done.stderr.partition("hint: ")[2]


def test_an_invalid_cluster_is_given_up(cluster: RayCluster) -> None:
    script = """
import socket, sys
import lanlab.testbeds.ray_cluster as module
from lanlab.errors import UsageError
module._JOIN_WITHIN_S = 3.0
with socket.create_server(("127.0.0.1", 0)) as silent:
    try:
        module.Cluster("127.0.0.1:%d" % silent.getsockname()[1])
    except UsageError as error:
        print(error.message)
"""
    done = ran([sys.executable, "-c", script], env=cluster.environment)
    assert "could not join the Ray cluster within 3 s" in done.stdout


def test_a_lost_engine_and_a_lost_actor_cost_a_trial_each(cluster: RayCluster) -> None:
    argv = ["--testbed", f"ray:{cluster.address}", "--time", "2", "--trials", "4", "--json"]
    command = start(cluster, "echo", *argv)
    first = cluster.await_engines(2)
    os.kill(cluster.await_measuring(), signal.SIGKILL)
    engine = cluster.await_measuring(other_than=first)
    actor = int(Path(f"/proc/{engine}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(actor, signal.SIGKILL)
    done = ended(command)

    assert done.returncode == 1, done.stderr
    _, trials = stored(cluster, json.loads(done.stdout)["run"])
    failed = [trial["error"]["message"] for trial in trials if trial["status"] == "failed"]
    assert "the engine was ended by signal 9" in failed[0]
    assert "its Ray actor" in failed[1]
    assert len(failed) == 2
    assert len(trials) == 4
    assert cluster.engines() == []


@pytest.mark.long
def test_a_killed_node_costs_its_trial(cluster: RayCluster) -> None:
    argv = ["--testbed", f"ray:{cluster.address}", "--time", "2", "--trials", "4", "--json"]
    command = start(cluster, "echo", *argv)
    first = cluster.await_engines(2)
    cluster.await_measuring()
    cluster.kill(NODES[1])
    # On the node that was killed as well, an engine ends.
    cluster.await_engines(2, other_than=first)
    cluster.await_measuring()
    cluster.kill(NODES[2])
    cluster.add("127.0.0.5")
    done = ended(command)

    assert done.returncode == 1, done.stderr
    _, trials = stored(cluster, json.loads(done.stdout)["run"])
    failed = [trial["error"]["message"] for trial in trials if trial["status"] == "failed"]
    assert [
        f"{node}: its node left the Ray cluster" in said
        for node, said in zip(NODES[1:], failed, strict=True)
    ] == [True, True]
    # A trial whose node ends before all is prepared has no request of its client.
    finished = [trial for trial in trials if trial["status"] != "failed"]
    peers = [trial["setup"]["requests"]["requester"]["peer"] for trial in finished]
    assert len(peers) == 2
    assert peers[-1] == "127.0.0.5"
    assert len(trials) == 4
    assert cluster.engines() == []
