"""`lanlab serve --stack small`: clients of FTP by the kernel's TCP, on the virtual LAN."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import COMMAND
from peer_finding import peer_program
from programs import ran
from served import serving

from lanlab.testbeds.base import Host
from lanlab.testbeds.registry import testbed as open_testbed

WITHIN_S = 60
SIZE_BYTES = 300_000
#: Another address that no host has.
CLIENT = "10.77.255.253"
#: Opens control connections that say nothing, and vanishes when it is killed.
IDLE = """
import socket, sys, time
ends = [socket.create_connection((sys.argv[1], 21), 10) for _ in range(int(sys.argv[2]))]
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    """
    Two hosts of a LAN whose kernels leave checksums and the cutting of segments to the veth; `eth0`
    of the first is where the station is.
    """
    with open_testbed("virtual", 2, "unshaped") as bed:
        here, there = bed.hosts
        yield here, there


def address_of(host: Host) -> str:
    assert host.spare_address is not None
    return host.spare_address


@contextmanager
def served(
    host: Host, directory: Path, *argv: str
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    own = ("--stack", "small", "--stack-address", address_of(host), "--interface", "eth0")
    given = ("--service", "ftp", *own, str(directory), *argv)
    with serving(*given, prefix=host.command_prefix) as (server, said):
        assert said["address"] == f"ftp://lanlab@{address_of(host)}:21/"
        yield server, said


def ended(server: subprocess.Popen[str]) -> dict[str, str]:
    server.send_signal(signal.SIGINT)
    rest, errors = server.communicate(timeout=WITHIN_S)
    assert server.returncode == 0, errors
    return dict(line.split(maxsplit=1) for line in rest.splitlines() if line[0].islower())


def run(host: Host, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return ran([*host.command_prefix, *argv], env=os.environ | environment, timeout=WITHIN_S)


def test_curl_takes_and_brings_files(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    here, there = hosts
    curl = peer_program("curl")
    directory = tmp_path / "served"
    directory.mkdir()
    content = random.Random(45).randbytes(SIZE_BYTES)
    (directory / "old").write_bytes(content)
    (tmp_path / "new").write_bytes(content[::-1])
    with served(here, directory, "--write") as (server, said):
        url, login = f"ftp://{address_of(here)}", ("-u", f"lanlab:{said['password']}")
        for way in ((), ("--disable-epsv",)):
            taken = run(there, curl, "-sS", *way, *login, f"{url}/old", "-o", f"{tmp_path}/got")
            assert taken.returncode == 0, taken.stderr
            assert (tmp_path / "got").read_bytes() == content
            (tmp_path / "got").unlink()
        brought = run(there, curl, "-sS", *login, "-T", f"{tmp_path}/new", f"{url}/new")
        assert brought.returncode == 0, brought.stderr
        assert (directory / "new").read_bytes() == content[::-1]
        listed = run(there, curl, "-sS", *login, "-l", f"{url}/")
        assert sorted(listed.stdout.split()) == ["new", "old"]
        wrong = run(there, curl, "-sS", "-u", "lanlab:wrong", f"{url}/old")
        assert wrong.returncode == 67, wrong.stderr
        counted = ended(server)["stack"]
    held, most = (int(word.replace(",", "")) for word in counted.split()[2:5:2])
    assert 0 < held <= most == 2_000_000


@pytest.mark.parametrize("stack", ["system", "small"])
def test_a_copy_of_many_files_is_complete(
    hosts: tuple[Host, Host], stack: str, tmp_path: Path
) -> None:
    here, there = hosts
    directory = tmp_path / "served"
    directory.mkdir()
    own = ("--stack", "small", "--stack-address", CLIENT, "--interface", "eth0")
    with served(here, directory, "--write") as (_, said):
        copied = run(
            there,
            *(*COMMAND, "copy", "30x6kB", said["address"], "--trials", "1", "--json"),
            *(own if stack == "small" else ()),
            LANLAB_PASSWORD=said["password"],
            LANLAB_STORE=str(tmp_path / "store.sqlite"),
        )
        assert copied.returncode == 0, copied.stderr
        found = json.loads(copied.stdout)
        assert (found["copied_files"], found["faults"], found["retries"]) == (30, 0, 0)
    assert list(directory.iterdir()) == []


def test_silent_and_vanished_clients_make_room(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    here, there = hosts
    curl = peer_program("curl")
    directory = tmp_path / "served"
    directory.mkdir()
    (directory / "file").write_bytes(b"x" * 1000)
    with served(here, directory) as (_, said):
        login = ("-u", f"lanlab:{said['password']}")
        idle = [*there.command_prefix, sys.executable, "-c", IDLE, address_of(here), "2"]
        with subprocess.Popen(idle, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            try:
                assert program.stdout.readline() == "open\n"
                for _ in range(3):
                    taken = run(there, curl, "-sS", *login, f"ftp://{address_of(here)}/file")
                    assert taken.stdout == "x" * 1000, taken.stderr
            finally:
                program.kill()


def test_memory_too_small_for_a_client_is_refused_with_the_minimum(
    hosts: tuple[Host, Host], tmp_path: Path
) -> None:
    here, _ = hosts
    own = ("--stack", "small", "--stack-address", address_of(here), "--interface", "eth0")
    argv = (*COMMAND, "serve", str(tmp_path), "--service", "ftp", *own, "--time", "0.2")
    refused = run(here, *argv, "--stack-memory", "64kB")
    assert refused.returncode != 0
    least = refused.stderr.split("allowed: ")[1].split()[0]
    assert run(here, *argv, "--stack-memory", least).returncode == 0
