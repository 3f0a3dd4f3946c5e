"""Paths between hosts with real OpenSSH servers: the largest packets, and clocks kept right."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from programs import ran
from ssh_hosts import SshHost, SshLan, ssh_lan

from lanlab.addresses import AddressFamily

COMMAND = [sys.executable, "-c", "from lanlab.cli import main; main()"]
#: An address of no network that the hosts are in.
BEHIND = "10.78.9.9"
#: Of the way back no longer packets are tried than come there.
BEYOND_UNTRIED = {"least_bytes": 1400, "most_bytes": 1500}
SCRIPT = (
    "import json, sys; from lanlab.store import open_store\n"
    "with open_store(None) as s: run = s.run(sys.argv[1])\n"
    "print(json.dumps(run.testbed['facts']['paths']))"
)


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    with ssh_lan(tmp_path_factory.mktemp("ssh"), nas_ahead_s=1000) as opened:
        yield opened


def run(lan: SshLan, *argv: str) -> subprocess.CompletedProcess[str]:
    return ran(lan.command(*argv), env=lan.environment, check=True)


def streamed(
    lan: SshLan, *more: str, family: AddressFamily = "ipv4", to: str | None = None
) -> tuple[str, str, dict[str, Any]]:
    """What a stream between both hosts says, and what is stored of the path."""
    pc1, nas = (host.host.addresses[family] for host in lan.hosts)
    ends = ["--from", f"pc1={pc1}", "--to", f"nas={to or nas}", "--ip", family[-1]]
    amount = ["--messages", "200", "--message-rate", "2000", "--size", "100"]
    done = run(lan, *COMMAND, "stream", *ends, *amount, *more)
    run_id = next(line.split()[-1] for line in done.stdout.splitlines() if "saved as" in line)
    ((name, path),) = json.loads(run(lan, sys.executable, "-c", SCRIPT, run_id).stdout).items()
    assert name == "pc1 to nas"
    return done.stdout, done.stderr, path


def bounds(octets: int) -> dict[str, int]:
    return {"least_bytes": octets, "most_bytes": octets}


@contextmanager
def dropped(host: SshHost, beyond: int) -> Iterator[None]:
    """A host whose longer packets are lost as they leave, as in a tunnel that says nothing."""
    # A token bucket drops what is larger than itself, the frame's header included.
    bucket = f"rate 10mbit burst {beyond + 14} latency 50ms"
    host.run("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", *bucket.split())
    try:
        yield
    finally:
        host.run("tc", "qdisc", "del", "dev", "eth0", "root")


@contextmanager
def routed(lan: SshLan, mtu_bytes: int) -> Iterator[str]:
    """An address of `nas` that `pc1` reaches by a router, behind which packets must be shorter."""
    pc1, nas = lan.hosts
    router = lan.here.addresses["ipv4"]
    settings = "/proc/sys/net/ipv4"
    script = (
        f"echo 1 > {settings}/ip_forward; echo 0 > {settings}/conf/all/send_redirects; "
        f"echo 0 > {settings}/conf/eth0/send_redirects; "
        f"ip route add {BEHIND} via {nas.address} mtu lock {mtu_bytes}"
    )
    subprocess.run([*lan.here.command_prefix, "sh", "-c", script], check=True, timeout=20)
    nas.run("ip", "address", "add", f"{BEHIND}/32", "dev", "eth0")
    pc1.run("ip", "route", "add", BEHIND, "via", router)
    try:
        yield BEHIND
    finally:
        pc1.run("ip", "route", "del", BEHIND)
        nas.run("ip", "address", "del", f"{BEHIND}/32", "dev", "eth0")


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_path_that_carries_full_packets_gives_no_note(lan: SshLan, family: AddressFamily) -> None:
    _, err, path = streamed(lan, family=family)
    assert path["interface_mtu_bytes"] == 1500
    assert path["there"] == path["back"] == bounds(1500)
    assert "packets of" not in err
    for host in lan.hosts[:1]:
        host.await_nothing_left()


def test_a_path_that_loses_long_packets_is_reported_before_the_run(lan: SshLan) -> None:
    pc1, nas = lan.hosts
    with dropped(pc1, 1400), dropped(nas, 1400):
        _, err, path = streamed(lan)
    assert (path["there"], path["back"]) == (bounds(1400), BEYOND_UNTRIED)
    assert not path["was_told"]
    said = "note: between pc1 and nas packets of up to 1400 B pass, though the interfaces take 1500"
    assert said in err
    assert "no router reports it" in err


def test_the_way_back_may_carry_less(lan: SshLan) -> None:
    _, nas = lan.hosts
    with dropped(nas, 1333):
        _, err, path = streamed(lan)
    assert (path["there"], path["back"]) == (bounds(1500), bounds(1333))
    assert "from pc1 to nas packets of up to 1500 B pass, and of up to 1333 B back" in err


def test_a_router_that_reports_its_mtu_gets_its_own_note(lan: SshLan) -> None:
    with routed(lan, 1400) as address:
        _, err, path = streamed(lan, to=address)
    assert (path["there"], path["back"]) == (bounds(1400), BEYOND_UNTRIED)
    assert path["was_told"]
    assert "a router on the path reports it" in err


def test_the_doctor_sees_that_long_packets_are_lost(lan: SshLan) -> None:
    pc1, nas = lan.hosts
    with dropped(pc1, 1400), dropped(nas, 1400):
        code, out, err = lan.run("doctor", *lan.ends(), "--json")
        found = {need["name"]: need for need in json.loads(out)["pc1 to nas"]}
        assert code == 1, err
        assert found["UDP"]["found"] and found["TCP"]["found"]
        assert not found["packets"]["found"]
        assert "packets of up to 1400 B pass" in found["packets"]["detail"]
        assert "MTU of both interfaces to 1400" in found["packets"]["how_to_get"]
    pc1.run("ip", "link", "set", "dev", "eth0", "mtu", "1400")
    try:
        code, out, err = lan.run("doctor", *lan.ends(), "--json")
    finally:
        pc1.run("ip", "link", "set", "dev", "eth0", "mtu", "1500")
    found = {need["name"]: need for need in json.loads(out)["pc1 to nas"]}
    assert (code, found["packets"]["detail"]) == (0, "up to 1400 B pass, and back"), err


def test_a_stream_of_messages_that_the_path_loses_has_failed(lan: SshLan) -> None:
    pc1, nas = lan.hosts
    with dropped(pc1, 1300), dropped(nas, 1300):
        for transport in ("udp", "tcp"):
            more = ("--transport", transport, "--size", "1400", "--rate", "5M", "--time", "0.5")
            code, out, err = lan.run("stream", *lan.ends(), *more, "--idle-timeout", "2")
            assert code == 1, out
            assert "0.00 bit/s" not in out
            hints = [line for line in err.splitlines() if line.startswith("hint: ")]
            assert any("packets of up to 1300 B pass" in line for line in hints), err


def test_clock_synchronisation_is_reported_with_one_way_delays(lan: SshLan) -> None:
    out, _, _ = streamed(lan)
    line = next(line for line in out.splitlines() if line.startswith("one way"))
    assert "(clocks of two hosts: pc1 by " in line
    assert "; nas by " in line
