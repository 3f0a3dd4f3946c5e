"""What a server of a user's refuses to remove: said with where it is, kept, and tried again."""

import contextlib
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from command_line import Lanlab, running
from copying import working_directories
from file_servers import Relay, Served
from waiting import until

from lanlab.engine import Engine

pytestmark = pytest.mark.usefixtures("password_and_cache")

#: Words of a service for removing a file and a directory; another of that length is refused.
FILE = {"ftp": b"DELE ", "webdav": b"DELETE ", "s3": b"DELETE "}
DIRECTORY = {"ftp": b"RMD "}
REMOVALS = [("ftp", "file"), ("ftp", "directory"), ("webdav", "file"), ("s3", "file")]


def refuse(relay: Relay, service: str, what: str) -> None:
    word = (FILE if what == "file" else DIRECTORY)[service]
    relay.there = lambda octets, _: octets.replace(word, word.replace(word[:3], b"XXX"))


@pytest.mark.parametrize(("service", "what"), REMOVALS)
@pytest.mark.parametrize("command", ["copy 3x1kB", "stations --stations 2 --readings 5"])
def test_a_server_that_refuses_to_remove_is_reported(
    lanlab: Lanlab, engine: Engine, root: Path, service: str, what: str, command: str
) -> None:
    """What was measured is told; then what is left and where, in the server's words, as a failure.
    The next trial at that server removes it."""
    name, *args = command.split()
    with Served(engine, service, root) as (url, _), Relay(url) as relay:
        asked = (
            (name, *args, relay.url, "--trials", "1")
            if name == "copy"
            else (name, relay.url, *args, "--trials", "1")
        )
        refuse(relay, service, what)
        said = lanlab(*asked)
        assert said.code == 1, said
        assert "goodput" in said.out
        (left,) = working_directories(root)
        assert f"`{left.name}/files" in said.err
        assert f"stay at {relay.url.rstrip('/')}: it said: " in said.err
        assert "somebody else" not in said.out + said.err
        assert f"hint: remove `{left.name}` there yourself" in said.err
        assert any((left / "files").iterdir()) == (what == "file")
        relay.there = lambda octets, _: octets
        said = lanlab(*asked)
    assert (said.code, "refused" in said.err) == (0, False), said
    assert [path.name for path in root.iterdir()] == ["letter"]


@pytest.mark.parametrize("service", ["ftp", "sftp", "webdav", "s3", "smb", "smb1", "nfs"])
def test_a_read_only_server_is_not_reported_for_leftovers(
    lanlab: Lanlab, engine: Engine, root: Path, service: str
) -> None:
    with Served(engine, service, root, read_only=True) as (url, _):
        said = lanlab("copy", "3x1kB", url, "--trials", "1")
    assert said.code == 1, said
    assert "stay" not in said.err and "left" not in said.err, said.err
    assert [path.name for path in root.iterdir()] == ["letter"]


def test_leftovers_of_an_interrupted_copy_are_reported(
    folder: Path, engine: Engine, root: Path
) -> None:
    def slow(octets: bytes, before: int) -> bytes:
        if before > 200_000:
            time.sleep(0.05)
        return octets.replace(b"DELETE ", b"XXXETE ")

    with Served(engine, "webdav", root) as (url, _), Relay(url) as relay:
        relay.there = slow
        with running(folder, "copy", "1x200MB", relay.url, "--timeout", "60") as command:
            until(
                lambda: any(
                    path.stat().st_size > 100_000 for path in root.rglob(".lanlab-unseen-*")
                ),
                "a file at the server",
            )
            command.process.send_signal(signal.SIGINT)
            said = command.end()
    assert said.code == 1, said
    assert "interrupted" in said.err
    (left,) = working_directories(root)
    assert f"`{left.name}/files/f000000.dat`" in said.err


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 there\r\n"])
def test_no_leftovers_are_reported_if_nothing_was_written(
    lanlab: Lanlab, says: bytes, tmp_path: Path
) -> None:
    """A server that says nothing, is of another protocol, or falls silent before a login: also the
    note by which another trial would clear up is gone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        talking = threading.Thread(target=_talk, args=(listener, says), daemon=True)
        talking.start()
        url = f"ftp://me@127.0.0.1:{listener.getsockname()[1]}/"
        said = lanlab("copy", "3x1kB", url, "--trials", "1", "--timeout", "0.3")
    assert said.code == 1, said
    assert "left" not in said.err and "stay" not in said.err, said.err
    assert not list((tmp_path / "cache").rglob("*.json"))


def _talk(listener: socket.socket, says: bytes) -> None:
    """Say this to whoever comes, and nothing more, until the listener is closed."""
    held = []
    with contextlib.suppress(OSError):
        while True:
            held.append(listener.accept()[0])
            held[-1].sendall(says)
