"""Processes of a server that lanlab did not start, known by their sockets."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lanlab.linux import sockets
from lanlab.testbeds.servers.listening import LocalServer, is_this_machine

#: A server that has a child work for each connection, and waits for it, as Samba and OpenSSH do.
#: It answers when the work is done; `linger` leaves the child there until the connection closes.
SERVER = """
import os, socket, sys, time
def work(seconds):
    while time.process_time() < seconds:
        pass
if sys.argv[1] == "bystander":
    print("working", flush=True)
    work(60)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    child = os.fork()
    if child == 0:
        listener.close()
        work(0.3)
        connection.sendall(b"done")
        if sys.argv[1] == "linger":
            connection.recv(1)
        os._exit(0)
    connection.close()
    if sys.argv[1] != "linger":
        os.waitpid(child, 0)
"""


@contextlib.contextmanager
def process(kind: str) -> Iterator[str]:
    """A process of the program above, and the first line that it prints."""
    command = [sys.executable, "-c", SERVER, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.kill()


@pytest.mark.parametrize("kind", ["reap", "linger"])
def test_processor_time_of_children_belongs_to_the_server(kind: str) -> None:
    with process(kind) as port, process("bystander"):
        server = LocalServer("127.0.0.1", int(port))
        before = server.cpu_s()
        with socket.create_connection(("127.0.0.1", int(port))) as connection:
            assert connection.recv(4) == b"done"
            if kind == "reap":
                assert connection.recv(1) == b""
            after = server.cpu_s()
    assert before == 0.0
    assert after is not None
    # Of a child that was waited for the kernel tells whole ticks.
    assert 0.27 <= after <= 0.6
    assert server.unknown is None


def test_a_port_without_a_local_process_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = LocalServer("127.0.0.1", port)

    assert server.cpu_s() is None
    assert server.unknown is not None
    assert "nothing in this network namespace listens" in server.unknown


def test_addresses_of_this_machine_are_distinguished_from_others() -> None:
    assert is_this_machine("127.0.0.1")
    assert is_this_machine("127.0.0.77")
    # TEST-NET-1 (RFC 5737) is nobody's.
    assert not is_this_machine("192.0.2.1")


@pytest.mark.skipif(sys.byteorder != "little", reason="written down on a little-endian machine")
def test_the_kernel_s_table_is_read() -> None:
    """Lines of IPv4 and IPv6, one of a mapped address, one of no process."""
    table = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout inode\n"
        "   0: 0100007F:01BD 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1\n"
        "   1: 0000000000000000FFFF00000100007F:01BD 0000000000000000FFFF00000100007F:9C40 01 "
        "00000000:00000000 00:00000000 00000000 0 0 4712 1\n"
        "   2: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000 0 0 4713 1\n"
        "   3: 0100007F:01BD 0100007F:9C41 06 00000000:00000000 00:00000000 00000000 0 0 0 3\n"
    )
    found = [(str(one.address), one.port, one.state, one.inode) for one in sockets(table)]

    assert found == [
        ("127.0.0.1", 445, 10, 4711),
        ("127.0.0.1", 445, 1, 4712),
        ("::1", 22, 10, 4713),
        ("127.0.0.1", 445, 6, 0),
    ]
