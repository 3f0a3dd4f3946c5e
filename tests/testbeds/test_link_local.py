"""
Addresses of one link (`fe80::/10`), which need a zone: between real hosts, at servers, for ssh.
What an interface is called differs from host to host.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from missing import missing
from ssh_hosts import SshLan, ssh_lan

from lanlab.addresses import in_url, seen_from
from lanlab.errors import UsageError
from lanlab.testbeds.remote.destinations import Destination, parse_destination, read_destinations
from lanlab.workloads.services.server_url import parse_url, target_of

COMMAND = [sys.executable, "-c", "from lanlab.cli import main; main()"]
HERE, NAS = "fe80::1", "fe80::2"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[fe80::2%eth0]", Destination("fe80::2%eth0")),
        ("root@[fe80::2%eth0]:2222", Destination("root@fe80::2%eth0", 2222)),
        ("root@[fe80::2%eth0]%eth1", Destination("root@fe80::2%eth0", None, (), "eth1")),
        ("nas=fe80::2%eth1", Destination("nas", None, ("fe80::2%eth1",), "eth1")),
        (
            "nas=10.0.0.2=fe80::2%eth1",
            Destination("nas", None, ("10.0.0.2", "fe80::2%eth1"), "eth1"),
        ),
        ("here%eth1", Destination(None, None, (), "eth1")),
    ],
)
def test_a_zone_is_read_and_written_back(text: str, wanted: Destination) -> None:
    assert parse_destination(text) == wanted
    assert parse_destination(str(wanted)) == wanted


def test_an_address_that_every_link_has_is_refused_without_its_zone() -> None:
    for refuse in (
        lambda: parse_destination("nas=fe80::2"),
        lambda: read_destinations("pc1,root@[fe80::2]"),
        lambda: parse_url("nfs://[fe80::2]/export"),
    ):
        with pytest.raises(
            UsageError, match="is a link-local address without an interface"
        ) as refused:
            refuse()
        assert "%" in (refused.value.hint or "")


def test_the_interface_of_this_machine_is_the_zone_for_ssh() -> None:
    first, second = read_destinations("here%eth1,root@[fe80::2]")
    assert (first.interface, second.ssh) == ("eth1", "root@fe80::2%eth1")


@pytest.mark.parametrize("host", ["fe80::2%25eth0.7", "fe80::2%eth0.7"])
def test_a_url_has_its_zone_either_way(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As RFC 6874 has it, and as most programs take it. It is no part of the server's name."""
    monkeypatch.setenv("LANLAB_PASSWORD", "secret")
    url = parse_url(f"webdav://me@[{host}]:8080/data")
    assert (url.host, url.port, url.directory) == ("fe80::2%eth0.7", 8080, "data")
    assert in_url(url.host) == "[fe80::2%25eth0.7]"
    assert target_of(url, None)["server_name"] == "fe80::2"


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    """The hosts `pc1` and `nas`, with addresses of their links and interfaces of other names."""
    if os.geteuid() != 0:
        missing("hosts with ssh servers take root")
    with ssh_lan(tmp_path_factory.mktemp("ssh"), link="unshaped") as opened:
        pc1, nas = opened.hosts
        for host, address, device in ((pc1, HERE, "eth0"), (nas, NAS, "eth0")):
            host.run("ip", "address", "add", f"{address}/64", "dev", device, "nodad")
        nas.run("ip", "address", "add", f"{NAS}/64", "dev", "mgmt0", "nodad")
        own = f"ip address add {HERE}/64 dev mgmt2 nodad"
        subprocess.run([*opened.here.command_prefix, *own.split()], check=True)
        opened.configure(f"Host fe80*\n  HostKeyAlias {nas.management}\n")
        yield opened


def test_hosts_are_measured_at_addresses_of_their_link(lan: SshLan) -> None:
    ends = ("--from", f"pc1={HERE}%eth0", "--to", f"nas={NAS}%eth0", "--ip", "6")
    for transport in ("udp", "tcp"):
        found = lan.measured(
            *("stream", *ends, "--transport", transport, "--rate", "1M", "--time", "0.3")
        )
        assert found["received_messages"] > 0
    assert lan.measured("echo", *ends, "--requests", "5")["replies"] == 5


def test_ssh_and_measurement_use_the_same_link(lan: SshLan) -> None:
    """Here the interface is called `mgmt2`, there `mgmt0`; the user knows the name here."""
    found = lan.measured(
        *("stream", "--to", f"[{NAS}%mgmt2]", "--ip", "6", "--rate", "1M", "--time", "0.3")
    )
    assert found["received_messages"] > 0
    found = lan.measured(
        *("echo", "--testbed", f"ssh:here%mgmt2,[{NAS}]", "--ip", "6", "--requests", "5")
    )
    assert found["replies"] == 5


@pytest.mark.parametrize("service", ["ftp", "webdav", "nfs"])
def test_files_are_copied_to_a_link_local_server(service: str, lan: SshLan, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    nas = lan.hosts[1].host
    wanted = f"--service {service} --address {NAS}%mgmt0 --port 0 --write"
    server = subprocess.Popen(
        [*nas.command_prefix, *COMMAND, "serve", str(target), *wanted.split()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        said = {}
        while "address" not in said or (service != "nfs" and "password" not in said):
            word, _, rest = server.stdout.readline().partition(" ")
            assert word, "the server has ended"
            said[word] = rest.strip()
        assert "[fe80::2%25mgmt0]" in said["address"]
        url = said["address"].replace("%25mgmt0", "%25mgmt2")
        lan.environment["LANLAB_PASSWORD"] = said.get("password", "")
        code, out, err = lan.run("copy", "3x1kB", url, "--trials", "1")
        assert code == 0, err
        assert "goodput" in out
        assert not list(target.iterdir())
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


def test_a_zone_is_of_one_host() -> None:
    assert seen_from("fe80::1%eth0", "fe80::2%lan0") == "fe80::2%eth0"
