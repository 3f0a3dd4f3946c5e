"""
Hosts of a virtual LAN, each with a real OpenSSH server, and a client that knows them.

Each host is a network namespace with mounts of its own: a home directory in memory, which is gone
with it. It takes root: sshd lets a user in by what only root may do.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from missing import missing
from programs import ran
from waiting import until

from lanlab.store import open_store
from lanlab.testbeds.base import Host
from lanlab.testbeds.link import parse_link
from lanlab.testbeds.namespaces import Namespaces
from lanlab.testbeds.registry import testbed
from lanlab.testbeds.tools import find_tool

_COMMAND_WITHIN_S = 180.0
#: Of the links that ssh goes over, apart from those that are measured.
_MANAGEMENT = "mgmt0"

_CONFIGURATION = """\
Port 22
ListenAddress 0.0.0.0
ListenAddress ::
HostKey /run/lanlab/host_key
AuthorizedKeysFile /run/lanlab/authorized_keys
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
StrictModes no
PrintMotd no
PrintLastLog no
LogLevel INFO
{more}
"""
#: Mounts of a host's own, then its server. `$1`: what the server is to have; `$2`: options of the
#: home's file system; `$3`: of directories for anybody; `$4`: the server.
_START = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd
cp -r "$1" /run/lanlab
home=$(getent passwd root | cut -d : -f 6)
mount -t tmpfs -o "mode=700,$2" tmpfs "$home"
for each in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o "mode=1777,$3" tmpfs "$each"; done
exec "$4" -D -e -f /run/lanlab/sshd_config
"""


@dataclass
class SshHost:
    #: As its users name it.
    destination: str
    host: Host
    #: Of the network that is measured.
    address: str
    #: Of the network that ssh goes over.
    management: str
    server: subprocess.Popen[bytes]
    folder: Path

    def run(self, *argv: str) -> str:
        enter = ["nsenter", "--target", str(self.server.pid), "--mount", "--net", "--", *argv]
        return ran(enter, check=True).stdout

    def processes(self) -> dict[int, str]:
        """What runs in its network but the server's listener and the network's holder."""
        here = network_of(self.server.pid)
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.server.pid:
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if (
                    network_of(int(entry.name)) == here
                    and words[0]
                    and not words[0].endswith(b"cat")
                ):
                    found[int(entry.name)] = b" ".join(words).decode(errors="replace").strip()
        return found

    def await_nothing_left(self) -> None:
        until(lambda: self.processes() == {}, "the end of what runs there")

    def files(self) -> list[str]:
        others = " ".join(f"{each}/lanlab-engine-0" for each in ("/tmp", "/var/tmp", "/dev/shm"))
        script = f"find $HOME {others} -type f"
        return sorted(self.run("sh", "-c", f"{script} 2>/dev/null || true").split())


def finished(command: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = command.communicate(timeout=_COMMAND_WITHIN_S)
    except subprocess.TimeoutExpired:
        command.kill()
        raise
    return command.returncode, out, err


def network_of(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


class SshLan:
    """Such hosts and a place for lanlab; ssh goes over links of its own."""

    def __init__(self, folder: Path, here: Host, hosts: list[SshHost]) -> None:
        self.folder, self.here, self.hosts = folder, here, hosts
        #: For lanlab: its `ssh` is one that has this LAN's configuration.
        self.environment = {
            **os.environ,
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "LANLAB_STORE": f"{folder}/store.sqlite",
            "NO_COLOR": "1",
        }

    def command(self, *argv: str) -> list[str]:
        return [*self.here.command_prefix, *argv]

    @property
    def testbed(self) -> str:
        named = (
            "=".join((one.destination, *(one.host.addresses[f] for f in ("ipv4", "ipv6"))))
            for one in self.hosts
        )
        return f"ssh:{','.join(named)}"

    def start(self, *argv: str, before: str = "") -> subprocess.Popen[str]:
        """A command of lanlab in its place; `before`: Python that runs first."""
        code = f"{before}\nfrom lanlab.cli import main; main()"
        return subprocess.Popen(
            self.command(sys.executable, "-c", code, *argv),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *argv: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a command of lanlab in its place."""
        return finished(self.start(*argv))

    def measured(self, *argv: str) -> dict[str, Any]:
        code, out, err = self.run(*argv, "--json")
        assert code == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    def trials(self, run_id: str) -> list[dict[str, Any]]:
        with open_store(self.environment["LANLAB_STORE"]) as store:
            return [dict(trial.raw) for trial in store.trials(run_id)]

    def await_nothing_left(self) -> None:
        for host in self.hosts:
            host.await_nothing_left()

    def ends(self) -> list[str]:
        """Both hosts as the ends of a measurement, at the addresses of the measured network."""
        pc1, nas = self.hosts
        ends = ["--from", "pc1", "--from-address", pc1.address]
        return [*ends, "--to", "nas", "--address", nas.address]

    def clients(self, pid: int) -> list[int]:
        """The clients of ssh that a lanlab has started, by their connections' directory."""
        wanted = f"lanlab-ssh-{pid}-".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
        return found

    def configure(self, text: str) -> None:
        (self.folder / "ssh_config").write_text(text + _client(self.folder, self.hosts))


def _client(folder: Path, hosts: list[SshHost]) -> str:
    each = "".join(f"Host {one.destination}\n  HostName {one.management}\n" for one in hosts)
    return (
        f"{each}Host *\n  User root\n  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
    )


@contextlib.contextmanager
def ssh_lan(
    folder: Path,
    *,
    link: str = "unshaped:switch",
    management_link: str | None = None,
    more: str = "",
    home: str = "size=128m",
    others: str = "size=256m",
    programs: Mapping[str, str] | None = None,
    nas_ahead_s: int = 0,
    names: Sequence[str] = ("pc1", "nas"),
) -> Iterator[SshLan]:
    """
    The hosts, for as long as the `with` block.

    Args:
        link: What joins them to be measured, as the virtual testbed reads it. On a switch lanlab's
            place is a third host.
        management_link: What ssh goes over: a switch; `None`: a cable of its own to each.
        more: Lines for the servers' configuration.
        home: Options of the file system of home directories.
        others: Options of the file systems of directories for anybody.
        programs: Scripts by name that lie in /run/lanlab there.
        nas_ahead_s: By how much the monotonic clock of `nas` is ahead of ours.
        names: What they are called.
    """
    if os.geteuid() != 0:
        missing("hosts with ssh servers take root")
    for name in ("sshd", "ssh", "ssh-keygen", "ip", "unshare", "nsenter"):
        if find_tool(name) is None:
            missing(f"need `{name}`")
    served = folder / "served"
    served.mkdir()
    for key in ("host_key", "user_key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "user_key.pub", served / "authorized_keys")
    shutil.copy(folder / "host_key", served / "host_key")
    for name, script in (programs or {}).items():
        (served / name).write_text(script)
        (served / name).chmod(0o755)
    is_cable = parse_link(link).topology in (None, "cable")
    with contextlib.ExitStack() as opened:
        bed = opened.enter_context(testbed("virtual", len(names) + (not is_cable), link))
        others_hosts = bed.hosts[-len(names) :]
        if management_link is not None:
            manager = opened.enter_context(testbed("virtual", 1 + len(names), management_link))
            here = manager.hosts[0]
        else:
            manager, here = None, _place(opened) if is_cable else bed.hosts[0]
        hosts = []
        for number, (name, host) in enumerate(zip(names, others_hosts, strict=True), 1):
            if manager is None:
                _cable(here, host, number)
            else:
                _move(manager.hosts[number], host)
            device = "eth0" if manager else f"mgmt{number}"
            management = _address(here, host, number, device)
            text = _CONFIGURATION.format(more=more)
            ahead_s = nas_ahead_s if name == "nas" else 0
            server = _serve(folder, host, name, text, home, others, ahead_s=ahead_s)
            opened.callback(_end, server)
            hosts.append(SshHost(name, host, host.addresses["ipv4"], management, server, folder))
        for one in hosts:
            _await_listening(one)
        key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text("".join(f"{one.management} {key}" for one in hosts))
        lan = SshLan(folder, here, hosts)
        lan.configure("")
        (folder / "bin").mkdir()
        wrapper = folder / "bin/ssh"
        # It connects from lanlab's place, wherever it is started.
        enter = f"nsenter --target {_holder(here)} --net -- {find_tool('ssh')}"
        wrapper.write_text(f'#!/bin/sh\nexec {enter} -F {folder}/ssh_config "$@"\n')
        wrapper.chmod(0o755)
        yield lan


def _place(opened: contextlib.ExitStack) -> Host:
    namespaces = Namespaces()
    opened.callback(namespaces.close)
    return Host("here", {}, namespaces.add(1)[0].command_prefix)


def _holder(host: Host) -> str:
    return next(word for word in host.command_prefix if word.isdigit())


def _ip(host: Host, words: str) -> None:
    ip = find_tool("ip") or "ip"
    subprocess.run([*host.command_prefix, ip, *words.split()], check=True)


def _cable(here: Host, host: Host, number: int) -> None:
    names = f"mgmt{number} type veth peer name {_MANAGEMENT} netns {_holder(host)}"
    _ip(here, f"link add {names}")


def _move(managed: Host, host: Host) -> None:
    _ip(managed, f"link set eth0 down netns {_holder(host)} name {_MANAGEMENT}")


def _address(here: Host, host: Host, number: int, device: str) -> str:
    """Addresses of a management link, and what it needs to be used; the host's IPv4 address."""
    _ip(here, f"link set {device} up")
    _ip(host, f"link set {_MANAGEMENT} up")
    for network, more in ((f"10.99.{number}.{{}}/24", ""), (f"fd99:{number}::{{}}/64", " nodad")):
        _ip(here, f"addr add {network.format(1)} dev {device}{more}")
        _ip(host, f"addr add {network.format(2)} dev {_MANAGEMENT}{more}")
    return f"10.99.{number}.2"


def _serve(
    folder: Path, host: Host, name: str, configuration: str, *mounts: str, ahead_s: int
) -> subprocess.Popen[bytes]:
    (folder / "served/sshd_config").write_text(configuration)
    served = folder / f"served-{name}"
    shutil.copytree(folder / "served", served)
    (served / "host_key").chmod(0o600)
    argv = [str(served), *mounts, find_tool("sshd") or "sshd"]
    clock = ["--time", "--monotonic", str(ahead_s), "--fork", "--kill-child"] if ahead_s else []
    with (folder / f"{name}.log").open("wb") as log:
        # The server is this process: `nsenter`, `unshare` and the shell become it.
        return subprocess.Popen(
            [*host.command_prefix, "unshare", "--mount", *clock, "sh", "-c", _START, "sh", *argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _await_listening(host: SshHost) -> None:
    def is_listening() -> bool:
        assert host.server.poll() is None, _log(host)
        return "Server listening" in _log(host)

    until(is_listening, "a server for ssh")


def _log(host: SshHost) -> str:
    try:
        return (host.folder / f"{host.destination}.log").read_text()
    except OSError:
        return ""


def _end(server: subprocess.Popen[bytes]) -> None:
    assert isinstance(server.args, list)
    if "--kill-child" in server.args:
        # `unshare` passes on no other signal.
        server.kill()
    else:
        server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
