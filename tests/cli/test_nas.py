"""`lanlab nas`: from a host to the answer, and what is left out on the way."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import Lanlab, Said
from file_servers import Relay, Served, closed_port

from lanlab.cli.commands import nas
from lanlab.cli.places import nas_targets, same_places
from lanlab.engine import Engine
from lanlab.nas import discovery, plan
from lanlab.nas.discovery import Found
from lanlab.performers.servers import places

pytestmark = pytest.mark.usefixtures("password_and_cache")

HOST = "127.0.0.1"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """No port of this machine is asked, and the plan takes seconds."""
    monkeypatch.setattr(discovery, "discover", lambda host: ())
    monkeypatch.setattr(plan, "QUICK", plan.Scale(2, 1.0))


@pytest.fixture
def two_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the plan the first two tasks, one large file up and down, where the targets are tested."""
    whole = plan.study

    def study(host: str, targets: Any, found: Any, *more: Any) -> dict[str, Any]:
        return whole(host, targets, found[:2], *more)

    monkeypatch.setattr(plan, "study", study)


def test_two_services_get_an_answer_and_a_refusal_its_reason(
    lanlab: Lanlab, engine: Engine, root: Path
) -> None:
    with Served(engine, "ftp", root) as (ftp, _), Served(engine, "webdav", root) as (webdav, _):
        refused = f"sftp://me@{HOST}:{closed_port()}/"
        said = lanlab("nas", HOST, ftp, webdav, refused, "--quick", "--yes", "--json")
    assert said.code == 0, said.err
    found = said.json()
    assert len(found["purposes"]) == 10
    # Two trials of each show no order, but name the fastest mean.
    assert not any(one["is_tested"] for one in found["purposes"])
    assert found["answer"][0].startswith("Fastest by mean: for large files ")
    assert list(found["left_out"]) == [refused]
    assert f"{refused}: left out: " in said.err
    # What was written is gone, and the check is no run of the store.
    assert [path.name for path in root.iterdir()] == ["letter"]
    runs = lanlab("runs", "--json").json()["runs"]
    assert [run["run"] for run in runs] == [found["run"]]


def test_each_omitted_service_names_its_need(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = (
        Found("smb", 445),
        Found("nfs", 2049),
        Found("sftp", 22, "no answer within 10 s"),
    )
    monkeypatch.setattr(discovery, "discover", lambda host: offered)
    listed = {"nfs": ["/a", "/b"], "smb": []}
    monkeypatch.setattr(places, "places_of", lambda url, trust: listed[url.partition(":")[0]])
    said = lanlab("nas", HOST, "--user", "me", "--yes")
    assert said.code == 2
    assert "SMB: left out: the server lists no share; name one by its URL" in said.err
    assert "NFS 3: left out: name one export by its URL (exports: /a, /b)" in said.err
    assert "SFTP: left out: no answer within 10 s" in said.err
    assert "hint: name a share or folder, and another port, by a URL" in said.err
    assert "SMB: left out: needs a login" in lanlab("nas", "nas", "--yes").err


def test_a_user_is_asked_for_in_a_terminal(lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = (Found("ftp", 21), Found("nfs", 2049, "no answer"))
    asked: list[str] = []
    monkeypatch.setattr(discovery, "discover", lambda host: offered)
    monkeypatch.setattr(nas_targets, "can_ask", lambda: True)
    monkeypatch.setattr(typer, "prompt", lambda text, *_, **__: asked.append(text) or "me")
    said = lanlab("nas", "no.invalid", "--yes")
    assert asked == ["user at no.invalid (empty: only services without login)"]
    assert "checking ftp://me@no.invalid/" in said.err, said


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("smb://me@[::1]/data", "hint: set LANLAB_PASSWORD"),
        ("nas:445", "HOST: found `nas:445`; allowed: a name or an address"),
        ("me@nas", "HOST: found `me@nas`; allowed: a name or an address"),
        ("/mnt/nas", "HOST: found `/mnt/nas`; allowed: a name or an address"),
        ("//nas/data", "hint: write it as `smb://nas/data`"),
        ("file:///mnt/nas", "HOST: found `file:///mnt/nas`; allowed: a name or an address"),
        ("", "HOST: found an empty name; allowed: a name, an address or a URL"),
        ("nas", "nas: no answer (No route to host)"),
        ("NAS", "nas: no answer (No route to host)"),
        ("[::1]", "::1: no answer (No route to host)"),
        ("fe80::1", "fe80::1 is a link-local address without an interface"),
    ],
)
def test_a_host_may_be_a_url_but_no_other_notation(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch, host: str, said: str
) -> None:
    monkeypatch.delenv("LANLAB_PASSWORD")
    monkeypatch.setattr(discovery, "silence", lambda host: "No route to host")
    found = lanlab("nas", host, "--yes")
    assert found.code == 2 and said in found.err, found


def test_a_host_that_refuses_connections_is_there() -> None:
    assert discovery.silence(HOST) is None


def test_trust_is_checked_before_a_password_is_asked_for(
    lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANLAB_PASSWORD")
    for command in (["nas", "nas"], ["copy", "1x1kB"]):
        said = lanlab(*command, "sftp://me@nas/", "--trust", "abc")
        assert said.code == 2 and "/abc`: No such file" in said.err, said


def levels_of(said: Said) -> set[str]:
    found = said.json()["purposes"]
    return {level["level"] for one in found for group in one["groups"] for level in group}


@pytest.mark.usefixtures("two_tasks")
def test_the_only_share_and_bucket_are_used(lanlab: Lanlab, engine: Engine, root: Path) -> None:
    (root.parent / "bucket").mkdir()
    with (
        Served(engine, "smb", root) as (smb, _),
        Served(engine, "s3", root.parent / "bucket") as (s3, _),
    ):
        without = [url.rstrip("/").rpartition("/")[0] for url in (smb, s3)]
        said = lanlab("nas", HOST, *without, "--quick", "--yes", "--json")
    assert said.code == 0, said.err
    assert levels_of(said) == {smb.rstrip("/"), s3.rstrip("/")}


@pytest.mark.parametrize("service", ["ftp", "smb", "webdav", "s3"])
def test_a_wrong_password_is_tried_twice_at_most(
    lanlab: Lanlab, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    monkeypatch.setenv("LANLAB_PASSWORD", "wrong")
    with Served(engine, service, root) as (url, _), Relay(url) as relay:
        said = lanlab("nas", HOST, relay.url, "--quick", "--yes")
        assert 1 <= relay.accepted <= 2
    assert said.code == 2 and f"{relay.url}: left out: " in said.err, said
    assert "hint: see the reasons above" in said.err
    assert [path.name for path in root.iterdir()] == ["letter"]


@pytest.mark.parametrize("nth", [3, 4, 9])
def test_a_login_refused_in_mid_run_is_tried_twice_at_most(
    lanlab: Lanlab, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    whole = plan.study
    logins = [-100]

    def study(host: str, targets: Any, found: Any, *more: Any) -> dict[str, Any]:
        # Two tasks of 8 users: a refusal meets some of them at once.
        logins[0] = 0
        return whole(host, targets, [found[2], found[9]], *more)

    def refuse(octets: bytes, before: int) -> bytes:
        if octets.startswith(b"PASS "):
            logins[0] += 1
            return octets if logins[0] < nth else b"PASS wrong\r\n"
        return octets

    monkeypatch.setattr(plan, "study", study)
    with (
        Served(engine, "ftp", root) as (ftp, _),
        Served(engine, "webdav", root) as (webdav, _),
        Relay(ftp) as relay,
    ):
        relay.there = refuse
        said = lanlab("nas", HOST, relay.url, webdav, "--quick", "--yes", "--json")
    assert said.code == 1 and nth <= logins[0] <= nth + 1, said.err
    (failed,) = said.json()["failed"]
    assert failed["server"] == relay.url and failed["trials"] >= 2
    assert "check the user name and the password" in said.err
    # The first failure is reported at once, and the number of all at the end.
    assert said.err.count(" failed: FTP login of `me`") == 1, said.err
    assert said.err.count(f" failed at {relay.url}; the last: FTP login of `me`") == 1, said.err


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["ftp=a", "ftp=b"], "found two for ftp"),
        (["a", "b"], "found two without a service"),
        (["smb=/none"], "no smb target has a user name"),
        (["ssh=/none"], "no sftp target has a user name"),
        (["ftp=/none", "/none"], "no other target has a user name"),
        (["ftp=/none/of/that"], "No such file"),
    ],
)
def test_password_files_are_for_one_service_each(
    lanlab: Lanlab, given: list[str], error: str
) -> None:
    options = [word for one in given for word in ("--password-file", one)]
    said = lanlab("nas", HOST, f"ftp://me@{HOST}/", *options, "--yes")
    assert said.code == 2 and error in said.err, said


@pytest.mark.usefixtures("two_tasks")
def test_bad_targets_are_skipped_with_reasons_while_others_are_measured(
    lanlab: Lanlab, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "QUICK", plan.Scale(4, 1.0))
    with (
        Served(engine, "ftp", root) as (good, _),
        Served(engine, "sftp", root, read_only=True) as (read_only, trust),
        Served(engine, "webdavs", root) as (untrusted, _),
        Served(engine, "s3", root) as (s3, _),
    ):
        missing, other = f"{s3.rstrip('/')}-missing", f"{good}below"
        (root / "below").mkdir()
        bad = [read_only, untrusted, missing]
        options = ["--trust", str(trust), "--quick", "--yes", "--json"]
        said = lanlab("nas", HOST, good, other, *bad, *options)
    # Of the targets that are measured none needs --trust.
    assert said.code == 0, said.err
    left_out = said.json()["left_out"]
    assert set(left_out) == set(bad)
    assert "certificate" in left_out[untrusted]
    assert levels_of(said) == {good, other}
    # Two folders of one service are told apart by their paths, whichever was faster.
    shown = lanlab("show", "last").out
    assert set(re.findall(r"FTP /\w*", shown)) == {"FTP /", "FTP /below"}, shown
    assert sorted(path.name for path in root.rglob("*")) == ["below", "letter"]


def test_an_interrupted_check_leaves_no_run(
    lanlab: Lanlab, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nas._Silent, "trial_started", interrupted)
    with Served(engine, "ftp", root) as (ftp, _):
        said = lanlab("nas", HOST, ftp, "--yes")
    assert said.code == 1 and "interrupted during the check; nothing was measured" in said.err
    assert "no run" in lanlab("runs").err


def test_a_silent_server_is_left_out(lanlab: Lanlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_LIMITS", {"timeout_s": 1, "longest_s": 60})
    with socket.create_server((HOST, 0)) as server:
        url = f"ftp://me@{HOST}:{server.getsockname()[1]}/"
        said = lanlab("nas", HOST, url, "--yes")
    assert said.code == 2 and f"{url}: left out: FTP greeting: no answer" in said.err, said
    # `nas` has no --timeout.
    assert "--timeout" not in said.err


@pytest.mark.usefixtures("two_tasks")
def test_a_mount_is_a_further_target_and_a_local_disk_is_not(
    lanlab: Lanlab, engine: Engine, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mount").mkdir()
    with Served(engine, "ftp", root) as (ftp, _):
        said = lanlab("nas", HOST, ftp, str(tmp_path / "mount"), "--quick", "--yes", "--json")
        assert said.code == 2 and "found a directory of this machine (" in said.err, said
        monkeypatch.setattr(same_places, "local_file_system", lambda directory: None)
        said = lanlab("nas", HOST, ftp, str(tmp_path / "mount"), "--quick", "--yes", "--json")
    assert said.code == 0, said.err
    assert levels_of(said) == {ftp, (tmp_path / "mount").as_uri()}
    assert list((tmp_path / "mount").iterdir()) == []


def test_nas_starts_only_after_a_yes(lanlab: Lanlab, engine: Engine, root: Path) -> None:
    with Served(engine, "ftp", root) as (ftp, _), Served(engine, "webdav", root) as (webdav, _):
        said = lanlab("nas", HOST, ftp, webdav, "--quick")
        alone = lanlab("nas", HOST, ftp, "--quick", "--yes")
    assert said.code == 2 and "cannot ask whether to start" in said.err
    assert "plan: one file of " in said.err
    assert alone.code == 2 and f"only {ftp} can be measured; a comparison needs two" in alone.err
