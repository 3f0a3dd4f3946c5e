"""Hosts with real OpenSSH servers: measured, and left as they were."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_hosts import SshLan, ssh_lan

from lanlab.performers import Hosts
from lanlab.performers.program import ProgramThere, wait_listening_there
from lanlab.testbeds import testbed as open_testbed

#: By how much one clock is ahead of the other.
AHEAD_S = 1000


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    with ssh_lan(tmp_path_factory.mktemp("ssh")) as opened:
        yield opened


def test_datagrams_go_from_one_remote_host_to_the_other(lan: SshLan) -> None:
    amount = ["--messages", "2000", "--message-rate", "5000", "--warmup", "0"]
    found = lan.measured("stream", *lan.ends(), *amount)
    raw = lan.trials(found["run"])[0]
    pc1, nas = lan.hosts

    assert found["testbed"] == f"ssh:pc1={pc1.address},nas={nas.address}"
    assert found["received_messages"] == found["sent_messages"] == 2000
    before, after = (raw["facts"][when]["counters"]["host1/eth0"] for when in ("before", "after"))
    assert 2000 <= after["rx_packets"] - before["rx_packets"] < 2200
    lan.await_nothing_left()


def test_an_engine_is_copied_once(lan: SshLan) -> None:
    found = lan.measured("echo", "--to", "nas", "--requests", "10")
    kept = lan.hosts[1].files()
    assert found["replies"] == 10
    assert len(kept) == 1
    assert "/.cache/lanlab/engine-" in kept[0]
    sha256 = lan.hosts[1].run("sha256sum", kept[0]).split()[0]
    assert kept[0].endswith(sha256)

    before = lan.hosts[1].run("stat", "-c", "%Y %i", kept[0])
    lan.measured("echo", "--to", "nas", "--requests", "10")
    assert lan.hosts[1].run("stat", "-c", "%Y %i", kept[0]) == before

    lan.measured("echo", "--to", "nas", "--requests", "10", "--remove-engine")
    assert lan.hosts[1].files() == []


def test_a_damaged_engine_is_copied_again(lan: SshLan) -> None:
    lan.measured("echo", "--to", "nas", "--requests", "10")
    (kept,) = lan.hosts[1].files()
    lan.hosts[1].run("sh", "-c", f"printf x >> {kept}")
    lan.measured("echo", "--to", "nas", "--requests", "10")
    assert lan.hosts[1].run("sha256sum", kept).split()[0] in kept


def test_login_scripts_may_print(lan: SshLan) -> None:
    script = "echo 'welcome to nas'; echo '{\"type\":\"hello\"}'; echo oops >&2"
    lan.hosts[1].run("sh", "-c", 'echo "$1" > ~/.bashrc', "sh", script)
    try:
        assert lan.measured("echo", "--to", "nas", "--requests", "10")["replies"] == 10
    finally:
        lan.hosts[1].run("sh", "-c", "rm ~/.bashrc")


def test_a_study_runs_on_the_hosts_of_a_file(lan: SshLan, tmp_path: Path) -> None:
    pc1, nas = lan.hosts
    file = tmp_path / "lab.toml"
    file.write_text(
        f'[[host]]\nssh = "nas"\ninterface = "eth0"\nroles = ["receiver"]\n'
        f'[[host]]\nssh = "pc1"\naddress = "{pc1.address}"\nroles = ["sender", "client"]\n'
    )
    found = lan.measured(
        "stream", "--testbed", f"ssh:{file}", "--messages", "100", "--message-rate", "1000"
    )
    assert found["received_messages"] == 100
    raw = lan.trials(found["run"])[0]
    assert raw["setup"]["requests"]["sender"]["peer"] == nas.address


def test_the_doctor_looks_at_each_host_and_at_the_way_between(lan: SshLan) -> None:
    nas = lan.hosts[1]
    code, out, err = lan.run("doctor", *lan.ends(), "--json")
    assert code == 0, err
    found = json.loads(out)
    assert list(found) == ["pc1", "nas", "pc1 to nas"]
    names = {place: [need["name"] for need in needs] for place, needs in found.items()}
    assert names["nas"] == ["ssh", "engine", "kernel", "interface", "clock"]
    assert names["pc1 to nas"] == ["UDP", "TCP", "packets"]
    (packets,) = (need for need in found["pc1 to nas"] if need["name"] == "packets")
    assert packets["detail"] == "up to 1500 B pass, and back"
    (interface,) = (need for need in found["nas"] if need["name"] == "interface")
    assert interface["detail"].startswith(f"eth0 ({nas.address}), ")

    code, out, _ = lan.run("doctor", "--from", "pc1", "--to", "nas")
    assert code == 1
    assert out.count("FAILED") == 2
    assert out.count("give the addresses of a network") == 2
    assert "firewall" not in out

    code, out, _ = lan.run("doctor", "--from", "no-such-host.invalid", "--to", "nas")
    assert code == 1
    assert "define it in ~/.ssh/config" in out
    lan.await_nothing_left()


def test_the_other_version_of_ip_is_measured_at_the_same_interface(lan: SshLan) -> None:
    """ssh came by IPv4; the interface that it came to has IPv6 as well."""
    code, out, err = lan.run("stream", "--to", "nas", "-6", "--time", "0.3", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["parameters"]["ip_version"] == 6
    assert answer["goodput_bps"] > 0


@pytest.mark.parametrize(
    ("argv", "said", "hint"),
    [
        (["--to", "no-such-host.invalid"], "no host named `no-such-host.invalid`", "ssh/config"),
        (["--to", "nas:2222"], "nas:2222: no ssh server listens there", "start sshd there"),
        (["--to", "-oProxyCommand=x"], "host: found `-oProxyCommand=x`", "write"),
        (["--to", "nas", "--address", "nas"], "found address `nas`", None),
        (["--to", "nas=10.0.0.1,pc1"], "found address `10.0.0.1,pc1`", None),
        (["--to", "nas", "--link", "10M"], "--link cannot be used", "omit it"),
        (["--address", "10.0.0.1"], "--address needs --to or --from", "name the host"),
        (["--to", "nas", "--tool", "qperf"], "--tool qperf cannot be used", "use --tool iperf3"),
        (["--to", "nas%eth7"], "nas: no interface named `eth7`; allowed: eth0, lo, mgmt0", None),
        (["--testbed", "ssh"], "testbed `ssh` has no hosts", "ssh:here,alice@nas"),
        (["--testbed", "ssh:nas"], "1 hosts; allowed: 2 or more", "this machine is `here`"),
    ],
)
def test_invalid_hosts_are_refused(
    lan: SshLan, argv: list[str], said: str, hint: str | None
) -> None:
    code, out, err = lan.run("stream", *argv)
    assert code == 2, err
    assert said in err
    assert hint is None or hint in err
    assert out == ""


def test_an_unauthorised_key_is_refused(lan: SshLan) -> None:
    lan.configure(f"Host nas\n  IdentityFile {lan.folder}/host_key\n  IdentitiesOnly yes\n")
    config = lan.folder / "ssh_config"
    config.write_text(config.read_text().replace("user_key", "host_key"))
    try:
        code, _, err = lan.run("stream", "--to", "nas")
    finally:
        lan.configure("")
    assert code == 2
    assert "error: nas: ssh login refused; the host allows: publickey" in err
    assert "ssh-copy-id" in err


def test_an_unknown_host_is_refused(lan: SshLan) -> None:
    known = lan.folder / "known_hosts"
    kept = known.read_text()
    try:
        known.write_text("")
        code, _, err = lan.run("stream", "--to", "nas")
        assert code == 2
        assert "nas: ssh does not know the host key of this host" in err

        other = (lan.folder / "user_key.pub").read_text()
        known.write_text(f"{lan.hosts[1].management} {other}")
        code, _, err = lan.run("stream", "--to", "nas")
        assert code == 2
        assert "the host key is not the one that ssh knows" in err
        assert known.read_text().startswith(lan.hosts[1].management)
    finally:
        known.write_text(kept)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_hosts_without_a_route_between_them_are_named(lan: SshLan, transport: str) -> None:
    ends = ["--from", "pc1", "--to", "nas", "--transport", transport]
    code, _, err = lan.run("stream", *ends, "--time", "1")
    assert code == 1
    assert "error: pc1: connect to 10.99.2.2" in err
    assert "--address" in err
    lan.await_nothing_left()


def test_files_are_copied_to_a_server_on_a_remote_host(lan: SshLan) -> None:
    found = lan.measured("copy", "50x6kB", "--service", "smb", *lan.ends(), "--trials", "1")
    assert found["copied_files"] == 50
    for host in lan.hosts:
        host.await_nothing_left()
        assert all("/.cache/lanlab/engine-" in path for path in host.files())


def test_a_directory_of_this_host_is_not_copied_from_another(lan: SshLan, tmp_path: Path) -> None:
    code, _, err = lan.run("copy", str(tmp_path), "--service", "smb", "--from", "pc1")
    assert code == 2
    assert "SOURCE is a directory of this host, but files are copied from pc1" in err


def test_the_testbed_says_what_its_hosts_are(lan: SshLan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", lan.environment["PATH"])
    pc1, nas = lan.hosts
    name = f"ssh:pc1={pc1.address},nas={nas.address}"
    with (
        open_testbed(name, 2, "unshaped") as bed,
        open_testbed(name, 2, "unshaped") as other,
    ):
        assert [host.label for host in bed.hosts] == ["pc1", "nas"]
        assert bed.link.topology == "network"
        reached = bed.facts()["reached"]
        assert [each["label"] for each in reached.values()] == ["pc1", "nas"]
        assert len(reached["host1"]["engine"]["sha256"]) == 64
        hosts = Hosts(bed)
        assert hosts.interfaces()["nas"]["name"] == "eth0"
        assert hosts.interfaces()["nas"]["driver"] == "veth"
        assert hosts.lasting_facts()["host1"]["kernel"]
        hosts.close()
        assert bed.damage() is None
        other.close()
        assert other.damage() is not None
        assert bed.damage() is None
    lan.await_nothing_left()


def test_the_configuration_of_the_user_holds(lan: SshLan) -> None:
    nas = lan.hosts[1]
    lan.configure(
        f"Host behind\n  HostName {nas.address}\n  ProxyJump pc1\n  RemoteCommand tmux\n"
        "  RequestTTY force\n  LocalForward 22222 127.0.0.1:22\n  ControlMaster auto\n"
        f"  ControlPath {lan.folder}/own-%h\n  ControlPersist yes\n"
    )
    known = lan.folder / "known_hosts"
    kept = known.read_text()
    known.write_text(f"{kept}{nas.address} {(lan.folder / 'host_key.pub').read_text()}")
    try:
        found = lan.measured("echo", "--to", "behind", "--requests", "10")
    finally:
        lan.configure("")
        known.write_text(kept)
    raw = lan.trials(found["run"])[0]
    assert raw["setup"]["requests"]["requester"]["peer"] == nas.address
    assert not list(lan.folder.glob("own-*"))
    lan.await_nothing_left()


def test_a_server_that_shares_no_connection_is_measured_too(tmp_path: Path) -> None:
    with ssh_lan(tmp_path, more="MaxSessions 1") as lan:
        assert lan.measured("echo", "--to", "nas", "--requests", "10")["replies"] == 10


def test_hosts_with_clocks_of_their_own_start_together(tmp_path: Path) -> None:
    with ssh_lan(tmp_path, nas_ahead_s=AHEAD_S) as lan:
        found = lan.measured(
            "stream", *lan.ends(), "--messages", "1000", "--message-rate", "2000",
            "--trials", "4",
        )  # fmt: skip
        for trial in lan.trials(found["run"]):
            clocks = trial["setup"]["clocks"]
            # Receiver first.
            for when in ("before", "after"):
                measured_ns = clocks[when]["difference_ns"]
                assert abs(measured_ns + AHEAD_S * 1_000_000_000) <= clocks[when]["error_ns"]
            assert not clocks["shared_clock"]
            assert trial["setup"]["start"]["clock_error_ns"] > 0
        for one in found["trials"]:
            assert one["lost_messages"] == 0
            assert abs(one["one_way_delay_min_ns"]) <= one["clock_error_ns"] + 5_000_000


def test_iperf3_on_the_hosts_measures_next_to_lanlab(lan: SshLan) -> None:
    found = lan.measured(
        *("stream", "--to", "nas", "--tool", "lanlab,iperf3", "--transport", "tcp"),
        *("--time", "1", "--warmup", "0", "--size", "16k", "--trials", "1"),
    )
    by_tool = found["tools"]
    trial = next(one for one in lan.trials(found["run"]) if "asked" in one["setup"])

    assert by_tool.keys() == {"lanlab", "iperf3"}
    assert all(metrics["goodput_bps"] > 1e6 for metrics in by_tool.values())
    assert 0 < by_tool["iperf3"]["receiver_cpu_s"] < 5
    assert trial["setup"]["version at nas"].startswith("iperf 3")
    assert trial["receiver"]["command"][0].endswith("ssh")
    lan.await_nothing_left()


def test_iperf3_ends_when_lanlab_is_gone(lan: SshLan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", lan.environment["PATH"])
    pc1, nas = lan.hosts
    with open_testbed(f"ssh:pc1={pc1.address},nas={nas.address}", 2, "unshaped") as bed:
        programs = bed.hosts[1].programs_there
        assert programs is not None
        server = ["iperf3", "--server", "--port", "29999"]
        program = ProgramThere("iperf3", programs.started(server))
        prefix = bed.hosts[1].command_prefix
        wait_listening_there(program, prefix, "tcp", 29_999, 10)
        program.end()
        assert program.cpu_s is None
        program.close()
    nas.await_nothing_left()
