"""`lanlab nas`: from a host to the answer, and what is left out on the way."""

from pathlib import Path

import pytest
from command_line import Lanlab
from file_servers import Served, closed_port

from lanlab.cli import same_places
from lanlab.engine import Engine
from lanlab.nas import discovery, plan
from lanlab.nas.discovery import Found

pytestmark = pytest.mark.usefixtures("password_and_cache")

HOST = "127.0.0.1"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """No port of this machine is asked, and the plan takes seconds."""
    monkeypatch.setattr(discovery, "discover", lambda host: ())
    monkeypatch.setattr(plan, "QUICK", plan.Scale(2, 1.0))


def test_two_services_get_an_answer_and_a_refusal_its_reason(
    lanlab: Lanlab, engine: Engine, root: Path
) -> None:
    with Served(engine, "ftp", root) as (ftp, _), Served(engine, "webdav", root) as (webdav, _):
        refused = f"sftp://me@{HOST}:{closed_port()}/"
        said = lanlab("nas", HOST, ftp, webdav, refused, "--quick", "--yes", "--json")
    assert said.code == 0, said.err
    found = said.json()
    assert len(found["purposes"]) == 10
    assert all(one["is_tested"] for one in found["purposes"])
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
        Found("nfs", 2049, exports=("/a", "/b")),
        Found("sftp", 22, "no answer within 10 s"),
    )
    monkeypatch.setattr(discovery, "discover", lambda host: offered)
    said = lanlab("nas", "nas", "--user", "me", "--yes")
    assert said.code == 2
    assert "SMB: left out: needs a share: add --share" in said.err
    assert "NFS: left out: name one export as nfs://nas/EXPORT (exports: /a, /b)" in said.err
    assert "SFTP: left out: no answer within 10 s" in said.err
    assert "hint: name a share or folder by its URL" in said.err
    assert "SMB: left out: needs a login" in lanlab("nas", "nas", "--yes").err


@pytest.mark.parametrize(
    ("urls", "error"),
    [
        (["smb://me@other/data"], "allowed: nas, the host that is measured"),
        (["ftp://me@nas/", "ftp://me@nas/b"], "two URLs for ftp; allowed: one"),
        (["gopher://nas/"], "no such file service"),
        (["ftp://me:pw@nas/"], "a URL with a password"),
        (["/no/such/mount"], "no such directory"),
    ],
)
def test_bad_urls_are_refused_before_anything_is_touched(
    lanlab: Lanlab, urls: list[str], error: str
) -> None:
    said = lanlab("nas", "nas", *urls, "--yes")
    assert said.code == 2 and error in said.err


def test_a_mount_is_one_more_target_and_a_disk_is_none(
    lanlab: Lanlab, engine: Engine, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mount").mkdir()
    with Served(engine, "ftp", root) as (ftp, _):
        said = lanlab("nas", HOST, ftp, str(tmp_path / "mount"), "--quick", "--yes", "--json")
        assert said.code == 2 and "found a directory of this machine (" in said.err, said
        monkeypatch.setattr(same_places, "local_file_system", lambda directory: None)
        said = lanlab("nas", HOST, ftp, str(tmp_path / "mount"), "--quick", "--yes", "--json")
    assert said.code == 0, said.err
    levels = {
        level["level"]
        for one in said.json()["purposes"]
        for group in one["groups"]
        for level in group
    }
    assert levels == {ftp, (tmp_path / "mount").as_uri()}
    assert list((tmp_path / "mount").iterdir()) == []


def test_nas_starts_only_after_a_yes(lanlab: Lanlab, engine: Engine, root: Path) -> None:
    with Served(engine, "ftp", root) as (ftp, _), Served(engine, "webdav", root) as (webdav, _):
        said = lanlab("nas", HOST, ftp, webdav, "--quick")
    assert said.code == 2 and "cannot ask whether to start" in said.err
    assert "plan: one file of " in said.err
