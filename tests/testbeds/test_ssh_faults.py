"""What goes wrong on hosts that are reached by ssh: said with their names, and nothing is left."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from held import BEFORE_TRIAL, Held
from ssh_hosts import SshHost, SshLan, finished, ssh_lan
from waiting import until

from lanlab.engine import engine_path
from lanlab.testbeds.remote import installed_engine


def await_engine(host: SshHost) -> int:
    found: list[int] = []

    def is_there() -> bool:
        found.extend(
            pid
            for pid, words in host.processes().items()
            if "engine-" in words and "hold" not in words and "sh -c" not in words
        )
        return found != []

    until(is_there, "the engine")
    return found[0]


def received(host: SshHost) -> int:
    lines = Path(f"/proc/{host.server.pid}/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Udp:"))
    return int(values[names.index("InDatagrams")])


def in_a_trial(lan: SshLan, *argv: str, before: str = "") -> tuple[subprocess.Popen[str], int]:
    """A command of lanlab in its first trial, and the engine's process at `nas`."""
    nas = lan.hosts[1]
    already = received(nas)
    command = lan.start(*argv, before=before)
    until(lambda: received(nas) >= already + 500, "a stream")
    # Not looked for before: an engine is started for a moment when it arrives, to see that it runs.
    return command, await_engine(nas)


def has_no_client(command: subprocess.Popen[str]) -> bool:
    """Whether each ssh that a command has started has ended; a suspended command reaps none."""
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    commands = {Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return not any(words.startswith(b"ssh\0") or b"/ssh\0" in words for words in commands)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshLan]:
    with ssh_lan(tmp_path_factory.mktemp("ssh")) as opened:
        yield opened


@pytest.fixture
def lan(hosts: SshLan) -> Iterator[SshLan]:
    """Hosts on which nothing is left of the test."""
    yield hosts
    hosts.configure("")
    for host in hosts.hosts:
        for pid in (host.server.pid, *host.processes()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        host.await_nothing_left()


SLOW = ["stream", "--to", "nas", "--rate", "10M", "--time", "30", "--idle-timeout", "2"]


#: In place of 5 s.
LITTLE_PATIENCE = """
import lanlab.performers.engine_host as module
module.CANCEL_S = 1.0
"""


def kill_engine(_: SshLan, host: SshHost, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def suspend_machine(_: SshLan, host: SshHost, pid: int) -> None:
    for each in (*host.processes(), host.server.pid):
        os.kill(each, signal.SIGSTOP)


def suspend_engine(_: SshLan, host: SshHost, pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def cut_connection(_: SshLan, host: SshHost, pid: int) -> None:
    for each, words in host.processes().items():
        if words.startswith("sshd:"):
            os.kill(each, signal.SIGKILL)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (kill_engine, "nas: the engine was ended there by a signal"),
        (cut_connection, "nas: the engine was cut off: the ssh connection ended"),
        (suspend_engine, "nas: the engine did not answer within 5 s and was ended"),
        (suspend_machine, "nas: the engine did not answer within 1 s and was ended"),
    ],
)
def test_a_fault_in_a_trial_is_reported_with_its_host(
    lan: SshLan, fault: Callable[[SshLan, SshHost, int], None], said: str
) -> None:
    # One of both that stand still is given the time that is given to all.
    patience = LITTLE_PATIENCE if "within 1 s" in said else ""
    command, engine = in_a_trial(lan, *SLOW, before=patience)
    fault(lan, lan.hosts[1], engine)
    code, _, err = finished(command)
    assert code == 1, err
    assert said in err


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_command_that_was_ended(lan: SshLan, end: int) -> None:
    command, _ = in_a_trial(lan, *SLOW)
    command.send_signal(end)
    finished(command)
    lan.hosts[1].await_nothing_left()


def test_a_connection_cut_before_the_first_trial_is_reported(tmp_path: Path) -> None:
    with ssh_lan(tmp_path) as lan:
        nas = lan.hosts[1]
        command = lan.start(*SLOW)
        until(lambda: any(" hold " in words for words in nas.processes().values()), "a connection")
        # What is begun until here shares the connection; what comes later finds it ended.
        command.send_signal(signal.SIGSTOP)
        cut_connection(lan, nas, 0)
        until(lambda: has_no_client(command), "the end of each ssh")
        command.send_signal(signal.SIGCONT)
        code, _, err = finished(command)
        assert code == 1, err
        # What was being asked decides whether ssh is asked first why there is no answer.
        assert re.search("nas: .*(the ssh connection ended|no answer within)", err), err
        nas.await_nothing_left()


def test_a_connection_cut_between_trials_costs_at_most_one(lan: SshLan, tmp_path: Path) -> None:
    trials = Held(tmp_path / "trials", BEFORE_TRIAL)
    command = lan.start(
        "stream", "--to", "nas", "--rate", "10M", "--time", "1", "--idle-timeout", "1",
        "--trials", "3", "--json", before=trials.code,
    )  # fmt: skip
    trials.reach()
    trials.let_end()
    trials.reach()
    cut_connection(lan, lan.hosts[1], 0)
    trials.let_go()
    _, out, err = finished(command)
    statuses = [trial["status"] for trial in json.loads(out)["trials"]]
    assert statuses[-1] == "done", err
    assert statuses.count("failed") <= 1, err


#: In place of 45 s and 12 s.
SHORT_SILENCE = """
import lanlab.testbeds.remote.installed_engine as module
module.END_AFTER_SILENCE_S, module.HEARTBEAT_S = 4, 1.0
"""


def test_keepalives_are_frequent_enough() -> None:
    assert 3 * installed_engine.HEARTBEAT_S < installed_engine.END_AFTER_SILENCE_S


def test_an_engine_without_keep_alives_exits(lan: SshLan) -> None:
    """No program learns of a pulled cable: the engine and its holder end by themselves, after the
    silence that they were started with."""
    nas = lan.hosts[1]
    command, _ = in_a_trial(lan, *SLOW, before=SHORT_SILENCE)
    for each, words in nas.processes().items():
        # The server's side does not hear that its client is gone.
        if words.startswith("sshd:"):
            os.kill(each, signal.SIGSTOP)
    command.kill()
    finished(command)
    assert any("--end-after-silence 4" in words for words in nas.processes().values())
    until(lambda: not any("engine-" in words for words in nas.processes().values()), "their end")


@pytest.mark.parametrize(
    ("home", "reason"), [("size=4m", "KiB free"), ("size=64m,noexec", "mounted noexec")]
)
def test_another_directory_is_used_if_the_cache_is_unusable(
    tmp_path: Path, home: str, reason: str
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with ssh_lan(tmp_path / "a", home=home) as lan:
        code, _, err = lan.run("echo", "--to", "nas", "--requests", "10")
        assert code == 0, err
        assert lan.hosts[1].files() == []
    with ssh_lan(tmp_path / "b", home=home, others=home) as lan:
        code, _, err = lan.run("echo", "--to", "nas", "--requests", "10")
        assert code == 2
        assert "error: nas: cannot store the engine: /root/.cache/lanlab: " in err
        assert err.count(reason) == 5
        # Room helps only where it is short.
        room = "free some space, or " if reason == "KiB free" else ""
        assert f"hint: {room}set XDG_CACHE_HOME" in err
        assert lan.hosts[1].files() == []
        lan.hosts[1].await_nothing_left()


FAKE = "SetEnv PATH=/run/lanlab:/usr/local/bin:/usr/bin:/bin"
UNAME = """#!/bin/sh
case "$1" in -s) echo {};; -m) echo {};; -r) echo {};; *) exec /usr/bin/uname "$@";; esac
"""


def test_another_architecture_is_named(tmp_path: Path) -> None:
    cases = [
        ("Linux", "aarch64", "nas: no engine for aarch64; this machine has one for", "--engine"),
        ("Linux", "arm64", "nas: no engine for aarch64", "--target aarch64-unknown-linux-musl"),
        ("Darwin", "arm64", "nas: found Darwin; allowed: Linux", "another host"),
    ]
    with ssh_lan(tmp_path, more=FAKE, programs={"uname": ""}) as lan:
        for system, machine, said, hint in cases:
            fake = UNAME.format(system, machine, "6.1.0")
            lan.hosts[1].run("sh", "-c", 'printf %s "$1" >/run/lanlab/uname', "sh", fake)
            code, _, err = lan.run("echo", "--to", "nas")
            assert code == 2
            assert said in err
            assert hint in err
            if system == "Linux":
                other = f"{machine}={sys.executable}"
                code, _, err = lan.run("echo", "--to", "nas", "--engine", other)
                assert code == 2
                assert "is not a Linux program for aarch64" in err


def test_an_engine_that_does_not_start_there_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "engine"
    engine = Path(engine_path()).read_bytes()
    broken.write_bytes(engine[:100_000])
    folder = tmp_path / "lan"
    folder.mkdir()
    with ssh_lan(folder) as lan:
        machine = os.uname().machine
        code, _, err = lan.run("echo", "--to", "nas", "--engine", f"{machine}={broken}")
        assert code == 2
        assert "nas: the engine does not start: " in err
        assert lan.hosts[1].files() == []
        lan.hosts[1].await_nothing_left()


def test_an_old_kernel_gets_a_note_on_its_timers(tmp_path: Path) -> None:
    programs = {"uname": UNAME.format("Linux", os.uname().machine, "4.19.0-27-amd64")}
    with ssh_lan(tmp_path, more=FAKE, programs=programs) as lan:
        code, _, err = lan.run("echo", "--to", "nas", "--requests", "10")
        assert code == 0, err
        assert "note: nas: Linux 4.19 waits to the millisecond; 5.11 and newer" in err


def test_a_kernel_too_old_for_the_engine_is_reported(tmp_path: Path) -> None:
    # No such kernel is here, so a script that prints its error replaces the engine.
    said = "FATAL: kernel too old"
    chmod = f"""#!/bin/sh
case "$1 $2" in "700 "*/.part-*) [ "$(head -c 4 "$2")" = exit ] ||
  printf '#!/bin/sh\\necho {said} >&2; exit 127\\n' >"$2";; esac
exec /usr/bin/chmod "$@"
"""
    with ssh_lan(tmp_path, more=FAKE, programs={"chmod": chmod}) as lan:
        code, _, err = lan.run("echo", "--to", "nas")
        assert code == 2
        assert "error: nas: the engine does not start: the host's kernel is too old" in err
        assert lan.hosts[1].files() == []
        lan.hosts[1].await_nothing_left()


def test_a_host_with_only_ipv6_is_measured_over_ipv6(tmp_path: Path) -> None:
    with ssh_lan(tmp_path) as lan:
        nas = lan.hosts[1]
        over_ipv6 = "fd99:2::2"
        lan.configure(f"Host nas\n  HostName {over_ipv6}\n  AddressFamily inet6\n")
        known = lan.folder / "known_hosts"
        key = (lan.folder / "host_key.pub").read_text()
        known.write_text(f"{known.read_text()}{over_ipv6} {key}")
        nas.run("ip", "-4", "address", "flush", "dev", "mgmt0")

        found = lan.measured("echo", "--to", "nas", "--ip", "6", "--requests", "10")
        assert found["replies"] == 10
        peer = lan.trials(found["run"])[0]["setup"]["requests"]["requester"]["peer"]
        assert peer == over_ipv6

        code, _, err = lan.run("echo", "--to", "nas", "--requests", "10")
        assert code == 2
        assert "nas: no IPv4 address is known to measure at" in err
        assert "--ip" in err
        nas.await_nothing_left()


def test_a_login_that_runs_no_command_is_reported(tmp_path: Path) -> None:
    with ssh_lan(tmp_path, more="ForceCommand echo only files here") as lan:
        code, _, err = lan.run("echo", "--to", "nas")
        assert code == 2
        assert "nas: the login does not run commands: it printed `only files here`" in err
        assert "must print `hello`" in err


def test_a_firewall_has_another_error_than_a_dead_host(tmp_path: Path) -> None:
    with ssh_lan(tmp_path) as lan:
        nas = lan.hosts[1]
        # A route that loses what comes back is a firewall as far as the other end can tell.
        nas.run("ip", "route", "add", "blackhole", lan.here.addresses["ipv4"])
        argv = ["echo", "--to", "nas", "--address", nas.address, "--port", "5201"]
        code, _, err = lan.run(*argv, "--requests", "10")
        assert code == 1
        assert "no answer from UDP port 5201 of" in err
        assert "nas answers lanlab" in err
        assert "ufw allow 5201/udp" in err
        nas.await_nothing_left()


def test_an_interrupt_while_connecting_ends_the_command_soon(lan: SshLan) -> None:
    lan.configure("Host nas\n  ProxyCommand sleep 600\n")
    command = lan.start("echo", "--to", "nas")
    until(lambda: lan.clients(command.pid) != [], "ssh")
    command.send_signal(signal.SIGINT)
    code, _, err = finished(command)
    assert code == 1, err
    assert not list(Path(tempfile.gettempdir()).glob(f"lanlab-ssh-{command.pid}-*"))
