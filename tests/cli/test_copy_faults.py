"""`lanlab copy` where something goes wrong: what the user reads, and what is left at his server."""

import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Lanlab, Running, running
from copying import working_directories
from file_servers import SECRET, Relay, Served
from waiting import until

from lanlab.cli.commands import doctor
from lanlab.engine import Engine, Measurement
from lanlab.performers import trial_leftovers

pytestmark = pytest.mark.usefixtures("password_and_cache")

ONCE = ("--trials", "1", "--retries", "1", "--timeout", "60")


def test_trusted_certificates_apply_only_to_services_with_tls(
    lanlab: Lanlab, engine: Engine, root: Path
) -> None:
    with Served(engine, "ftps", root) as (url, trust), Served(engine, "ftp", root) as (plain, _):
        assert trust is not None
        said = lanlab("copy", "1x1kB", url, plain, "--trust", trust, "--trials", "1", "--json")
        assert said.code == 0, said.err
        none = f"`{plain}` has no certificate or host key"
        assert f"--trust is for the other servers: {none}\n" in said.err
        wrong = lanlab("copy", "1x1kB", plain, url, "--trust", "sha256:" + 64 * "0", *ONCE)
        assert wrong.code == 1 and "add `--trust sha256:" in wrong.err
        refused = lanlab("copy", "1x1kB", plain, "--trust", trust)
        assert refused.code == 2 and f"--trust: {none} to check" in refused.err


@pytest.mark.parametrize(
    ("service", "number"),
    [
        ("ftp", signal.SIGINT),
        ("smb", signal.SIGTERM),
        ("s3", signal.SIGINT),
        # Both signals go one way, whatever the service.
        pytest.param("ftp", signal.SIGTERM, marks=pytest.mark.long),
        pytest.param("smb", signal.SIGINT, marks=pytest.mark.long),
        pytest.param("s3", signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_a_terminated_copy_leaves_nothing_at_the_server(
    folder: Path, engine: Engine, root: Path, service: str, number: signal.Signals
) -> None:
    with (
        Served(engine, service, root) as (url, _),
        Relay(url) as relay,
        running(folder, *slowly(relay)) as command,
    ):
        in_mid_file(command, root)
        relay.there = lambda octets, _: octets
        command.process.send_signal(number)
        said = command.end()
        left = command.left()
    assert said.code == 1, said
    assert "interrupted" in said.err
    assert left == []
    assert [path.name for path in root.iterdir()] == ["letter"]
    assert list((folder / "cache").rglob("*.json")) == []


@pytest.mark.parametrize("command", ["copy", "stations", "metadata"])
@pytest.mark.parametrize("number", [signal.SIGINT, None])
def test_a_trial_that_ends_before_its_login_reports_no_leftovers(
    folder: Path, command: str, number: signal.Signals | None
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ftp://me@127.0.0.1:{silent.getsockname()[1]}/"
        files = ["1x1kB"] if command == "copy" else []
        limit = "30" if number else "0.2"
        asked = (command, *files, url, "--trials", "1", "--timeout", limit)
        with running(folder, *asked) as trial, silent.accept()[0]:
            if number is not None:
                trial.process.send_signal(number)
            said = trial.end()
    assert said.code == 1, said
    assert "lanlab-" not in said.err
    assert ("interrupted" if number else "no answer within") in said.err
    assert list((folder / "cache").rglob("*.json")) == []


def test_files_of_an_interrupted_copy_at_a_lost_server_are_named(
    folder: Path, engine: Engine, root: Path
) -> None:
    with Served(engine, "ftp", root) as (url, _), Relay(url) as relay:
        with running(folder, *slowly(relay)) as command:
            in_mid_file(command, root)
            relay.cut_always(0, "there")
            command.process.send_signal(signal.SIGINT)
            said = command.end()
        (left,) = working_directories(root)
        assert said.code == 1, said
        assert f"what lanlab wrote stays at {relay.url.rstrip('/')}/{left.name}" in said.err


def test_an_interrupt_while_a_request_is_sent_leaves_no_files(
    lanlab: Lanlab, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Engine.start

    def interrupted(self: Engine, request: Mapping[str, Any], **more: Any) -> Measurement:
        asked = start(self, request, **more)
        if request["type"] == "copy_prepare":
            until(lambda: working_directories(root) != [], "the trial's directory")
            raise KeyboardInterrupt
        return asked

    monkeypatch.setattr(Engine, "start", interrupted)
    with Served(engine, "ftp", root) as (url, _):
        said = lanlab("copy", "1x1kB", url, *ONCE)
    assert said.code == 1 and "interrupted" in said.err, said
    assert [path.name for path in root.iterdir()] == ["letter"]


@pytest.mark.parametrize("service", ["ftp", "smb"])
def test_doctor_names_leftovers_of_a_killed_copy_and_removes_them(
    folder: Path,
    lanlab: Lanlab,
    engine: Engine,
    root: Path,
    service: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = "127.0.0.1"
    with Served(engine, service, root) as (url, _), Relay(url) as relay:
        with running(folder, *slowly(relay)) as command:
            in_mid_file(command, root)
            command.process.kill()
            command.process.wait(10)
            until(lambda: command.left() == [], "the end of its engines")
        (left,) = working_directories(root)
        place = f"{relay.url.rstrip('/')}/{left.name}"
        said = lanlab("doctor", relay.url)
        assert said.code == 1 and f"{place}: may be left" in said.out, said
        assert "`--remove` removes them" in said.out and left.is_dir()
        assert lanlab("doctor", "nas.example").out.startswith("nas.example: this user's lanlab")
        relay.there = lambda octets, _: b""
        failed = lanlab("doctor", host, "--remove")
        assert failed.code == 1 and f"{place}: not removed: " in failed.out, failed
        relay.there = lambda octets, _: octets
        # The files of `lanlab nas`, of which sftp needs none here.
        monkeypatch.delenv("LANLAB_PASSWORD")
        (folder / "secret").touch(0o600)
        (folder / "secret").write_text(SECRET)
        files = [f"{service}={folder / 'secret'}", "sftp=/none"]
        options = [word for file in files for word in ("--password-file", file)]
        said = lanlab("doctor", host, "--remove", *options)
        assert (said.code, said.out) == (0, f"{place}: removed\n"), said
    assert [path.name for path in root.iterdir()] == ["letter"]
    assert lanlab("doctor", host, "--json").json() == {"host": host, "left": []}


def test_doctor_finds_leftovers_by_each_name_of_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [("ftp://me@127.0.0.1/", "a"), (tmp_path.as_uri(), "b"), ("ftp://me@nas/", "c")]
    monkeypatch.setattr(trial_leftovers, "folders_left", lambda: left)
    for place, found in (("LOCALHOST", "a"), (str(tmp_path), "b"), ("smb://NAS/data", "c")):
        assert [folder for _, folder in doctor._left_at(place)[1]] == [found]


def test_doctor_refuses_options_without_a_host(lanlab: Lanlab) -> None:
    assert "needs HOST" in lanlab("doctor", "--remove").err
    assert (
        "HOST and a testbed cannot be used together"
        in lanlab("doctor", "nas", "--to", "me@nas").err
    )


def slowly(relay: Relay) -> list[str]:
    def slow(octets: bytes, before: int) -> bytes:
        if before > 200_000:
            time.sleep(0.05)
        return octets

    relay.there = slow
    return ["copy", "1x200MB", relay.url, "--trials", "3", "--timeout", "10"]


def in_mid_file(command: Running, root: Path) -> None:
    def there() -> bool:
        assert command.process.poll() is None, command.end()
        for path in root.rglob("*"):
            try:
                if path.is_file() and path.stat().st_size > 100_000:
                    return True
            except OSError:
                continue
        return False

    until(there, "a file at the server")
