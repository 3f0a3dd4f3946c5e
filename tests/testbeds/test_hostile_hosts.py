"""Hosts that are reached by ssh and do what they like: lanlab waits for none without end, keeps
little of what they say, and has a sentence for each."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lanlab.errors import LabError, RunError
from lanlab.testbeds.remote import connection as module
from lanlab.testbeds.remote.connection import Connection
from lanlab.testbeds.remote.destinations import Destination
from lanlab.testbeds.remote.installed_engine import arrive, install
from lanlab.testbeds.ssh import LINE

#: In the place of ssh: makes the connection's socket as ssh does, and then is the host.
SSH = """#!/bin/sh
for word; do case "$word" in ControlPath=*) : >"${{word#ControlPath=}}";; esac; last=$word; done
mark=${{last##* }}
{host}
"""
#: A host that does as it is asked.
HONEST = 'exec sh -c "$last"'
FACTS = (
    'read -r script; echo "$mark"; echo "facts Linux $(uname -m) 6.1 10.0.0.1 1 10.0.0.2 22"; '
    "read -r wanted"
)

Host = Callable[[str], Connection]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    programs, sockets = tmp_path / "bin", tmp_path / "sockets"
    for folder in (programs, sockets):
        folder.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    # None of them ends by itself.
    monkeypatch.setattr(module, "_END_WITHIN_S", 0.1)
    opened: list[Connection] = []

    def connect(script: str) -> Connection:
        ssh = programs / "ssh"
        ssh.write_text(SSH.format(host=script))
        ssh.chmod(0o755)
        opened.append(Connection(Destination("evil"), sockets, LINE))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


def fails(call: Callable[[], object]) -> str:
    with pytest.raises(LabError) as error:
        call()
    assert "None" not in error.value.message
    return error.value.message


def temporary_bytes() -> int:
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if "(deleted)" in str(entry.readlink()):
                found += entry.stat().st_size
        except OSError:
            continue
    return found


FLOOD = "evil: the ssh connection wrote more than 64 MiB of output and was ended"


def test_a_host_that_floods_while_connecting_is_ended(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine needs longer for so much.
    monkeypatch.setattr(module, "_BEGIN_WITHIN_S", 300.0)
    before = temporary_bytes()
    assert fails(lambda: host("exec yes evil >&2")) == FLOOD
    assert temporary_bytes() == before


def test_a_host_that_floods_later_is_ended(host: Host) -> None:
    connection = host(f"{FACTS}; yes evil >&2")
    arrive(connection)
    connection.send(b"go\n")
    before = temporary_bytes()
    assert fails(connection.next_line) == FLOOD
    assert temporary_bytes() == before
    assert f"evil: {connection.why_ended()}" == FLOOD


def test_the_last_output_of_a_host_is_kept(host: Host) -> None:
    connection = host(
        f"{FACTS}; head -c 10000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2"
    )
    arrive(connection)
    connection.send(b"go\n")
    assert fails(connection.next_line) == "evil: the ssh connection ended: last"


def test_a_host_that_reads_nothing_times_out(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWER_WITHIN_S", 0.5)
    connection = host(f"{FACTS}; echo 'send /tmp/engine'; exec sleep 60")
    arrival = arrive(connection)
    said = fails(lambda: install(connection, arrival, keep=False))
    assert said.startswith("evil: the host does not take what is sent to it: ")
    assert said.endswith(" bytes were not taken")
    # Another host's sign of life does not wait for this one.
    fails(lambda: connection.send(b"\n", 0))


def test_a_host_that_reads_slowly_has_a_total_time_limit(host: Host) -> None:
    connection = host(f"{FACTS}; while head -c 4096 >/dev/null; do sleep 0.1; done")
    arrive(connection)
    said = fails(lambda: connection.send(b"x" * 10_000_000, 1.0))
    assert "does not take what is sent to it" in said


def test_a_host_that_closes_its_input_is_reported(host: Host) -> None:
    connection = host(f"{FACTS}; exec <&-; echo 'send /tmp/engine'; exec sleep 60")
    arrival = arrive(connection)
    said = fails(lambda: install(connection, arrival, keep=False))
    assert said == "evil: the host has closed its end of the ssh connection"


def test_a_connection_that_ends_early_is_reported(host: Host) -> None:
    connection = host(f"{FACTS}; echo 'send /tmp/engine'; echo gone >&2; exit 1")
    arrival = arrive(connection)
    with pytest.raises(RunError) as error:
        install(connection, arrival, keep=False)
    assert error.value.message.startswith("evil: the ")
    assert "None" not in error.value.message


@pytest.mark.parametrize("ends", ["UNKNOWN 65535 UNKNOWN 65535", "a b c d", "1 2 3 4", ""])
def test_a_server_that_does_not_tell_its_address_is_reached(host: Host, ends: str) -> None:
    facts = f'echo "$mark"; echo "facts Linux x86_64 6.1 {ends}"; exec sleep 60'
    arrival = arrive(host(facts))
    assert (arrival.address, arrival.peer_address) == (None, None)


def test_a_correct_host_is_accepted(host: Host, tmp_path: Path) -> None:
    connection = host(f"export XDG_CACHE_HOME={tmp_path}/cache; {HONEST}")
    found = install(connection, arrive(connection), keep=True)
    assert found.was_copied
    version = subprocess.run([found.path, "--version"], capture_output=True, check=True)
    assert version.stdout
