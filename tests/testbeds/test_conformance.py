"""What every testbed promises, tried on each."""

import contextlib
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from missing import missing
from programs import begun
from ssh_hosts import SshLan, ssh_lan
from testbed_peers import (
    Server,
    answered,
    children_of,
    kept_networks,
    marked_by,
    network_of,
    own_interfaces,
    own_network,
    reaches,
    used_networks,
)
from waiting import ENDS, await_end

from lanlab.engine import Engine
from lanlab.errors import UnmetNeed
from lanlab.performers import Hosts
from lanlab.testbeds.base import Counters
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.link import parse_link
from lanlab.testbeds.registry import testbed as open_testbed


class Case(NamedTuple):
    name: str
    hosts: int
    link: str
    as_user: bool = False
    #: The hosts that it reaches, if it does not make them.
    lan: SshLan | None = None
    #: Processes that were there before, as those of the hosts with ssh servers.
    before: frozenset[int] = frozenset()

    @property
    def makes_hosts(self) -> bool:
        return self.name == "virtual"

    @property
    def is_simulated(self) -> bool:
        """Whether its hosts are computed, and carry no traffic of this machine."""
        return self.name == "simulated"

    def processes_of(self, pid: int) -> list[int]:
        """Living processes of testbeds of its kind that a process opened."""
        if self.is_simulated:
            return [child for child in children_of(pid) if child not in self.before]
        if self.lan is None:
            return [each.pid for each in marked_by(pid) if each.pid not in self.before]
        return [*self.lan.clients(pid), *(n for host in self.lan.hosts for n in host.processes())]


CASES = {
    "loopback": Case("loopback", 2, "unshaped"),
    "cable": Case("virtual", 2, "unshaped"),
    "cable-10M": Case("virtual", 2, "10M"),
    "switch-10M": Case("virtual", 3, "10M"),
    "hub-10M": Case("virtual", 3, "10M:hub"),
    "switch-100M": Case("virtual", 2, "100M:switch"),
    "cable-10M-token-bucket": Case("virtual", 2, "10M+tbf"),
    "switch-1G": Case("virtual", 3, "1G:switch"),
    "switch-of-two": Case("virtual", 2, "unshaped:switch"),
    "cable-10M-as-user": Case("virtual", 2, "10M", as_user=True),
    "switch-10M-as-user": Case("virtual", 3, "10M", as_user=True),
    "hub-10M-as-user": Case("virtual", 2, "10M:hub", as_user=True),
    "cable-10M-token-bucket-as-user": Case("virtual", 2, "10M+tbf", as_user=True),
    "ssh": Case("ssh", 2, "unshaped"),
    "simulated": Case("simulated", 2, "10M:hub"),
}
#: Of each way to make a network one: they are tried without root, too.
RIGHTS = {"cable", "hub-10M", "switch-10M"}

#: Opens a testbed, says in which networks its hosts are, and waits.
CHILD = """
import os, sys
from lanlab.testbeds.registry import testbed
name, hosts, link, as_user = sys.argv[1:]
if as_user == "True" and os.geteuid() == 0:
    os.geteuid = lambda: 1000
with testbed(name, int(hosts), link) as opened:
    print("open", flush=True)
    sys.stdin.readline()
    raise RuntimeError("as any error in a run")
"""


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    with ssh_lan(tmp_path_factory.mktemp("ssh")) as opened:
        yield opened


@functools.cache
def lack_of(case: Case) -> UnmetNeed | None:
    """Why this machine cannot have a testbed; it is opened once to see."""
    try:
        open_testbed(case.name, case.hosts, case.link).close()
    except UnmetNeed as error:
        return error
    return None


@pytest.fixture(
    params=[
        pytest.param(case, marks=pytest.mark.rights if name in RIGHTS else (), id=name)
        for name, case in CASES.items()
    ]
)
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Each testbed in turn; skipped where this machine cannot have it."""
    chosen: Case = request.param
    if chosen.name == "ssh":
        lan: SshLan = request.getfixturevalue("lan")
        monkeypatch.setenv("PATH", lan.environment["PATH"])
        chosen = chosen._replace(name=lan.testbed, lan=lan)
    if chosen.as_user:
        if os.geteuid() != 0:
            pytest.skip("the case without `-as-user` is this one")
        monkeypatch.setattr("lanlab.testbeds.namespaces.os.geteuid", lambda: 1000)
    if (lack := lack_of(chosen)) is not None:
        missing(lack)
    marked = {each.pid for each in marked_by(os.getpid())}
    return chosen._replace(before=frozenset({*marked, *children_of(os.getpid())}))


@pytest.fixture
def opened(case: Case) -> Iterator[Bed]:
    with open_testbed(case.name, case.hosts, case.link) as bed:
        yield bed


def other_networks(bed: Bed) -> set[str]:
    return {network_of(host) for host in bed.hosts if host.command_prefix} - {own_network()}


def made_networks(case: Case, bed: Bed) -> set[str]:
    return other_networks(bed) if case.makes_hosts else set()


def counters_of(bed: Bed) -> Counters:
    """As a trial's record has them: engines tell those of hosts that are reached."""
    hosts = Hosts(bed, has_engines=bed.name != "simulated")
    try:
        counters: Counters = hosts.passing_facts()["counters"]
        return counters
    finally:
        hosts.close()


def start_child(case: Case) -> subprocess.Popen[str]:
    child, said = begun([sys.executable, "-c", CHILD, *case[:4]], stderr=subprocess.PIPE)
    assert said == "open\n"
    return child


def check_ways(opened: Bed, case: Case) -> None:
    """Every host reaches every other."""
    assert [host.name for host in opened.hosts] == [f"host{i}" for i in range(case.hosts)]
    servers = [Server(host) for host in opened.hosts]
    for sender, receiver in itertools.permutations(range(case.hosts), 2):
        ports = servers[receiver].ports
        reached = {f"ipv{port[0]}" for port in ports}
        assert reached == set(opened.hosts[receiver].addresses) - {"mac"}
        assert answered(opened.hosts[sender], ports) == ports
    for server in servers:
        server.process.communicate()


def check_addresses(opened: Bed, case: Case) -> None:
    """Each host has its own."""
    addresses = [host.addresses["ipv4"] for host in opened.hosts]
    if opened.link.topology == "loopback":
        assert set(addresses) == {"127.0.0.1"}
    else:
        assert len(set(addresses)) == len(addresses)
        networks = 0 if case.is_simulated else len(opened.hosts)
        assert len(other_networks(opened)) == networks


def check_facts(opened: Bed, case: Case) -> None:
    """Those of link and counters are JSON."""
    facts = json.loads(json.dumps(opened.facts(), allow_nan=False))
    assert facts["link"] == opened.link.to_json()
    assert case.is_simulated or facts["kernel"] == os.uname().release
    assert opened.link.rate_bps == parse_link(case.link).rate_bps
    assert opened.link.shape == parse_link(case.link).shape
    # Each simulated world has a medium of its own.
    has_medium = opened.link.shape == "medium" and not case.is_simulated
    assert ("medium" in facts) == has_medium
    assert (opened.start_lead_s > 0) != case.is_simulated
    for values in counters_of(opened).values():
        assert all(value >= 0 for value in values.values())


def check_counters(opened: Bed) -> None:
    """They see the traffic."""
    before = counters_of(opened)
    assert reaches(opened, 0, 1)
    after = counters_of(opened)

    names = {"lo"} if opened.link.topology == "loopback" else {"host0/eth0", "host1/eth0"}
    for name in names:
        for counter in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes"):
            assert after[name][counter] > before[name][counter]
    # A host that is not up yet refuses the reports of multicast groups that others send.
    dropped = {
        name: values["rx_drops"] - before[name]["rx_drops"] for name, values in after.items()
    }
    assert all(count == 0 for name, count in dropped.items() if name != "lo")


def test_an_open_testbed_keeps_its_promises(opened: Bed, case: Case) -> None:
    """All on one, as to open it takes longer than to look."""
    check_addresses(opened, case)
    check_facts(opened, case)
    if not case.is_simulated:
        check_counters(opened)
        check_ways(opened, case)


def test_close_leaves_nothing(case: Case) -> None:
    interfaces = own_interfaces()
    bed = open_testbed(case.name, case.hosts, case.link)
    left = case.processes_of(os.getpid())
    assert bool(left) == (case.name != "loopback")
    with kept_networks(left if case.makes_hosts else ()) as networks:
        assert networks >= made_networks(case, bed)
        bed.close()
        bed.close()

        await_end(case.processes_of(os.getpid()))
        assert case.processes_of(os.getpid()) == []
        assert not networks & used_networks()
    assert own_interfaces() == interfaces


def test_an_exception_leaves_nothing(case: Case) -> None:
    with contextlib.ExitStack() as kept:
        networks: set[str] = set()
        with (
            pytest.raises(ZeroDivisionError),
            open_testbed(case.name, case.hosts, case.link),
        ):
            left = case.processes_of(os.getpid()) if case.makes_hosts else ()
            networks = kept.enter_context(kept_networks(left))
            raise ZeroDivisionError
        await_end(case.processes_of(os.getpid()))
        assert case.processes_of(os.getpid()) == []
        assert not networks & used_networks()


def test_close_ends_processes_on_hosts(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even what ignores the end of its input; on loopback, it is its starter's to end. On hosts
    that are reached only engines run."""
    monkeypatch.setattr("lanlab.testbeds.namespaces._END_WITHIN_S", 0.1)
    if case.name == "loopback":
        pytest.skip("loopback hosts are this machine: nothing on them is the testbed's")
    if case.is_simulated:
        pytest.skip("nothing can be started on simulated hosts")
    with open_testbed(case.name, case.hosts, case.link) as bed:
        if (start := bed.hosts[1].start_engine) is not None:
            engine = Engine("host1", start())
            bed.close()
            assert "the connection was closed" in engine.lost().message
            engine.close()
            await_end(case.processes_of(os.getpid()))
            return
        stubborn = subprocess.Popen(
            [*bed.hosts[1].command_prefix, "sh", "-c", "trap '' TERM HUP; echo on; sleep 600"],
            stdout=subprocess.PIPE,
        )
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
    assert stubborn.wait() == -signal.SIGKILL
    stubborn.stdout.close()
    assert case.processes_of(os.getpid()) == []


@pytest.mark.parametrize("end", ENDS)
def test_an_ended_process_leaves_nothing(
    case: Case, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    child = start_child(case)
    left = case.processes_of(child.pid)
    assert bool(left) == (case.name != "loopback")
    with kept_networks(left if case.makes_hosts else ()) as networks:
        end(child)
        child.communicate()
        await_end(left)

        assert case.processes_of(child.pid) == []
        assert not networks & used_networks()


def test_two_at_once_do_not_disturb_each_other(case: Case, opened: Bed) -> None:
    with open_testbed(case.name, case.hosts, case.link) as other:
        assert [host.addresses for host in other.hosts] == [h.addresses for h in opened.hosts]
        assert not made_networks(case, other) & made_networks(case, opened)
        if case.is_simulated:
            assert len(case.processes_of(os.getpid())) == 2
            return
        with Server(other.hosts[1]) as server:
            heard = answered(opened.hosts[0], server.ports, patience_s=0.2)
            assert bool(heard) != case.makes_hosts
    assert reaches(opened, 0, 1)
