"""Copies between engines: what is measured, refused, found wrong, left behind and left alone."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from trial_running import LEAD_S, OnProgress, Pair, opened_pair

from lanlab.errors import EngineError, EngineLost, UsageError
from lanlab.workloads import (
    WORKLOADS,
    CounterChanges,
    Exchange,
    Progress,
    copy_datasets,
    copy_server,
)
from lanlab.workloads.copy import CopyParameters

#: Services whose server comes with the engine.
EMBEDDED = ("ftp", "ftps", "sftp", "webdav", "webdavs", "nfs", "smb", "s3", "s3s")
SECRET = "s3cret &/ word"


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two engines on this machine."""
    with opened_pair() as opened:
        yield opened


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for datasets and directories of trials of the test's own."""
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("lanlab.workloads.copy_trial._checked", set())
    for name in ("LANLAB_PASSWORD", "LANLAB_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


def run(pair: Pair, on_progress: OnProgress | None = None, **parameters: Any) -> Exchange:
    """One trial."""
    kind = WORKLOADS["copy"]
    asked = kind.Parameters.model_validate({"dataset": "5x20kB+1x300kB", **parameters})
    source, target = pair.end(0), pair.end(1)
    return kind.run(asked, source, target, LEAD_S, on_progress)


def metrics_of(exchange: Exchange) -> dict[str, float | int]:
    """The results of a trial, which must not have failed."""
    if exchange.error is not None:
        raise exchange.error
    kind = WORKLOADS["copy"]
    return kind.summarise(CopyParameters(), exchange, CounterChanges())


@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize("service", ["directory", *EMBEDDED])
def test_every_service_copies_both_ways(pair: Pair, service: str, direction: str) -> None:
    """All octets there, compared, and nothing left at the server."""
    exchange = run(pair, service=service, direction=direction, parallel_files=3)
    metrics = metrics_of(exchange)

    assert (metrics["copied_files"], metrics["copied_bytes"]) == (6, 400_000)
    assert metrics["goodput_bps"] == pytest.approx(8 * 400_000 / metrics["elapsed_s"])
    assert (metrics["retries"], metrics["faults"]) == (0, 0)
    checked = exchange.setup["checked"] if direction == "upload" else exchange.connector
    assert checked is not None
    assert checked["verified"] == {"how": "content", "files": 6, "bytes": 400_000}
    assert exchange.setup["emptied"]["is_gone"]
    assert exchange.connector is not None
    assert exchange.connector["facts"]["no_delay"] in (True, None)
    if service != "directory":
        assert exchange.connector["facts"]["no_delay"]
        assert metrics["server_cpu_s"] > 0


def test_each_file_has_its_times(pair: Pair) -> None:
    """From the opening of the first to the closing of the last is the time of all."""
    exchange = run(pair, service="ftp", parallel_files=2)
    metrics = metrics_of(exchange)
    assert exchange.connector is not None
    times = exchange.connector["file_times"]

    assert sorted(times["number"]) == list(range(6))
    elapsed_ns = max(times["closed_ns"]) - min(times["opened_ns"])
    assert elapsed_ns == exchange.connector["elapsed_ns"]
    for opened, first, closed in zip(
        times["opened_ns"], times["first_byte_ns"], times["closed_ns"], strict=True
    ):
        assert opened <= first <= closed
    assert metrics["file_time_max_s"] <= metrics["elapsed_s"]


def test_no_secret_is_kept(pair: Pair) -> None:
    """Neither the password of a server nor the token of the trial stands in the record."""
    told = run(pair, service="ftp").setup
    assert "credentials" not in told["spec"]["service"]
    assert told["spec"]["service"]["user"] == "lanlab"
    assert "token" not in told["spec"]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("killed", [0, 1], ids=["client", "server"])
def test_a_killed_engine_ends_the_copy(killed: int) -> None:
    """With an error that says whose engine it was; the other one is free."""
    with opened_pair() as pair:
        begun = threading.Event()

        def on_progress(_: Progress) -> None:
            if not begun.is_set():
                begun.set()
                os.kill(pair.engines[killed].pid, signal.SIGKILL)

        exchange = run(pair, on_progress, service="ftp", dataset="1x20GB", medium="memory")
        assert begun.is_set()
        assert isinstance(exchange.error, EngineLost | EngineError), exchange.error
        if isinstance(exchange.error, EngineLost):
            assert f"host{killed}: the engine was ended by signal 9" in exchange.error.message
        assert pair.engines[killed].is_lost
        assert pair.engines[1 - killed].ask({"type": "ping"})


@pytest.mark.parametrize("medium", ["disk", "tmpfs"])
@pytest.mark.parametrize("direction", ["upload", "download"])
def test_files_of_a_medium_are_read_or_written(
    pair: Pair, medium: str, direction: str, cache: Path
) -> None:
    """A dataset is made once and used again; what is downloaded is removed."""
    if medium == "tmpfs" and not Path("/dev/shm").is_dir():
        pytest.skip("no files in memory on this system")
    first = run(pair, service="webdav", medium=medium, direction=direction)
    metrics_of(first)
    again = run(pair, service="webdav", medium=medium, direction=direction)
    metrics_of(again)
    if direction == "upload":
        assert first.setup["dataset"]["written_files"] == 6
        assert "dataset" not in again.setup
    kept = [p for p in cache.rglob("*") if p.is_file() and "datasets" not in p.parts]
    assert kept == []


def test_a_user_s_own_server_keeps_what_is_the_user_s(pair: Pair, tmp_path: Path) -> None:
    """Over all trials, good and bad ones, its other files stay as they are."""
    mine = tmp_path / "mine"
    (mine / "lanlab-photos").mkdir(parents=True)
    (mine / "lanlab-photos/f000000.dat").write_text("precious")
    (mine / "letter").write_text("dear")
    for service in EMBEDDED:
        with Served(pair, service, mine) as (url, trust):
            copy_server.remember_password(url, SECRET)
            for direction in ("upload", "download"):
                metrics_of(run(pair, server=url, trust=trust, direction=direction))
    found = sorted(str(path.relative_to(mine)) for path in mine.rglob("*"))
    assert found == ["lanlab-photos", "lanlab-photos/f000000.dat", "letter"]
    assert (mine / "lanlab-photos/f000000.dat").read_text() == "precious"


def test_what_a_killed_lanlab_left_is_removed_by_the_next(pair: Pair, tmp_path: Path) -> None:
    """By its note and its mark; what a living one has, and what is nobody's, stays."""
    with Served(pair, "ftp", tmp_path) as (url, _):
        copy_server.remember_password(url, SECRET)
        script = KILLED.format(url=url, secret=SECRET)
        killed = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        (left,) = tmp_path.glob("lanlab-*")
        assert (left / "files/f000000.dat").is_file()
        # Of a name like ours, but without our mark.
        (tmp_path / "lanlab-000000000000").mkdir()
        exchange = run(pair, server=url)
        metrics_of(exchange)

        (removed,) = exchange.setup["left_before"]
        assert (removed["working_name"], removed["is_gone"]) == (left.name, True)
        assert [path.name for path in tmp_path.glob("lanlab-*")] == ["lanlab-000000000000"]
        assert "left_before" not in run(pair, server=url).setup


#: Copies to a server, and is killed before it could empty it.
KILLED = """
import os, signal
from lanlab.engine import Engine, engine_path
from lanlab.workloads import WORKLOADS, End, copy_server, copy_trial
copy_server.remember_password({url!r}, {secret!r})
ask = copy_trial._Asking.__call__
def dying(self, request):
    if request["type"] == "copy_check":
        os.kill(os.getpid(), signal.SIGKILL)
    return ask(self, request)
copy_trial._Asking.__call__ = dying
kind = WORKLOADS["copy"]
asked = kind.Parameters.model_validate(dict(server={url!r}, dataset="2x10kB"))
end = End(Engine("host0", [engine_path()]), "127.0.0.1", None)
kind.run(asked, end, end, 0.05, None)
"""


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"port": 1}, "service.refused"),
        ({"secret": "wrong"}, "service.login"),
        ({"trust": "sha256:" + 64 * "0"}, "service.certificate"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(
    pair: Pair, tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    """Server absent, wrong password, certificate not trusted: a code, a sentence, no secret."""
    with Served(pair, "ftps", tmp_path) as (url, trust):
        if "port" in change:
            url = f"ftps://me@127.0.0.1:{closed_port()}/"
        copy_server.remember_password(url, change.get("secret", SECRET))
        error = run(pair, server=url, trust=change.get("trust", trust)).error
    assert isinstance(error, EngineError)
    assert error.code == code
    assert error.hint
    assert SECRET not in error.message and "wrong" not in error.message


def test_a_missing_share_is_said(pair: Pair, tmp_path: Path) -> None:
    """Of SMB."""
    with Served(pair, "smb", tmp_path) as (url, _):
        url = url.rpartition("/")[0] + "/nowhere"
        copy_server.remember_password(url, SECRET)
        error = run(pair, server=url).error
    assert isinstance(error, EngineError)
    assert error.code == "service.missing"


def test_a_server_that_is_silent_is_not_waited_for_for_ever(pair: Pair) -> None:
    """It accepts and never answers: timed out, by the time-out that was asked for."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"ftp://me@127.0.0.1:{listener.getsockname()[1]}/"
        copy_server.remember_password(url, SECRET)
        error = run(pair, server=url, timeout_s=0.3).error
    assert isinstance(error, EngineError)
    assert error.code == "service.timed_out"


def test_a_connection_cut_in_mid_file_is_tried_again_and_counted(
    pair: Pair, tmp_path: Path
) -> None:
    """By the stated policy; a second chance is all that it needs."""
    with Served(pair, "webdav", tmp_path) as (url, _), Cutter(url) as cutter:
        copy_server.remember_password(cutter.url, SECRET)
        cutter.cut_after(400_000)
        exchange = run(pair, server=cutter.url, dataset="1x1MB", retries=2)
        metrics = metrics_of(exchange)
        assert metrics["retries"] == 1
        assert metrics["faults"] == 1
        assert exchange.setup["checked"]["verified"]["bytes"] == 1_000_000

        cutter.cut_after(400_000)
        error = run(pair, server=cutter.url, dataset="1x1MB", retries=0).error
        assert isinstance(error, EngineError)
        assert error.code == "service.reset"
    assert not list(tmp_path.glob("lanlab-*"))


def test_parameters_that_do_not_fit_are_refused() -> None:
    """Before anything is run, in words."""
    for wrong, said in [
        ({"dataset": "nothing-known"}, "no dataset named"),
        ({"dataset": "dir:relative"}, "absolute"),
        ({"dataset": "0x6kB"}, "allowed: 1 to 100000"),
        ({"server": "gopher://host/"}, "no such file service"),
        ({"server": "smb://host/"}, "no share"),
        ({"driver": "iperf3"}, "allowed: lanlab"),
        ({"trust": "sha256:00"}, "a server that lanlab starts"),
        ({"server": "ftps://h/", "trust": "sha256:00"}, "64 hexadecimal digits"),
    ]:
        with pytest.raises(ValidationError, match=said):
            CopyParameters.model_validate(wrong)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    """It would stand in the shell's history."""
    with pytest.raises(UsageError) as caught:
        copy_server.parse_url(f"smb://me:{SECRET.split()[0]}@nas/share")
    assert "s3cret" not in f"{caught.value.message} {caught.value.hint}"
    assert "LANLAB_PASSWORD" in (caught.value.hint or "")


def test_a_password_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """As ssh does with keys."""
    path = tmp_path / "password"
    path.write_text(SECRET + "\n")
    path.chmod(0o600)
    assert copy_server.read_password_file(path) == SECRET
    path.chmod(0o644)
    with pytest.raises(UsageError, match="others may read"):
        copy_server.read_password_file(path)


def test_named_datasets_are_what_was_published() -> None:
    """Schomer and Claason: 1 file of 623 MB, 198 files of 472 MB; Brutman's three."""
    assert copy_datasets.mean_bytes("schomer-large") == 623_000_000
    (many,) = copy_datasets.groups("schomer-many")
    assert (many["count"], many["total_bytes"]) == (198, 472_000_000)
    sizes = [copy_datasets.mean_bytes(f"brutman-{size}") for size in ("small", "medium", "large")]
    assert sizes == [260_163, 1_376_275, 3_239_589]
    assert copy_datasets.key(copy_datasets.spec("mixed", 1, 0.0)) != copy_datasets.key(
        copy_datasets.spec("mixed", 2, 0.0)
    )


def closed_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Served:
    """An embedded server on a directory, as a user's own: its URL and whom to trust."""

    def __init__(self, pair: Pair, service: str, root: Path) -> None:
        self._engine = pair.engines[1]
        credentials = None if service == "nfs" else {"user": "me", "secret": SECRET}
        self._serving = self._engine.start(
            {
                "type": "serve",
                "service": service,
                "root": str(root),
                "bind": "127.0.0.1",
                "credentials": credentials,
            }
        )
        ready = self._serving.wait_ready(10)
        told = ready["served"]
        assert told is not None
        share = (told["share"] or "").removeprefix("/")
        user = "" if credentials is None else "me@"
        self._url = f"{service}://{user}127.0.0.1:{ready['ports'][0]}/{share}"
        sha256 = told["trust_sha256"]
        self._trust = None if sha256 is None else f"sha256:{sha256}"

    def __enter__(self) -> tuple[str, str | None]:
        return self._url, self._trust

    def __exit__(self, *_: object) -> None:
        self._engine.ask({"type": "cancel", "target": self._serving.id})
        with pytest.raises(EngineError) as ended:
            self._serving.result(5)
        assert ended.value.code == "cancelled"


class Cutter:
    """Passes connections on to a server, and cuts one after so many octets towards it, once."""

    def __init__(self, url: str) -> None:
        before, _, after = url.partition("127.0.0.1:")
        port, _, path = after.partition("/")
        self._port = int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._left: int | None = None
        self.url = f"{before}127.0.0.1:{self._listener.getsockname()[1]}/{path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, octets: int) -> None:
        """Cut the connection over which so many octets have come from now on."""
        self._left = octets

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._port))
            for pipe in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._pass_on, args=pipe, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):
            while octets := source.recv(65_536):
                if counted and self._left is not None:
                    self._left -= len(octets)
                    if self._left < 0:
                        self._left = None
                        break
                target.sendall(octets)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Cutter:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
