"""Copies that cannot be: what is wrong with a server, a user, a place or a name is said."""

import os
from pathlib import Path
from typing import Any

import pytest
from copying import copy, failure_of, metrics_of
from file_servers import EMBEDDED, WITH_USERS, Served, closed_port
from trial_running import Pair

from lanlab.errors import RunError
from lanlab.performers.trial_leftovers import noted
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.copy.steps import simulated_spec

pytestmark = pytest.mark.usefixtures("cache")


def below(url: str, names: str) -> str:
    return f"{url}{'' if url.endswith('/') else '/'}{names}"


def refused(pair: Pair, root: Path, service: str, change: Any, **parameters: Any) -> Any:
    """Why a trial with something changed about its server failed; nothing is left there."""
    with Served(pair.engines[1], service, root) as (url, trust):
        asked = {"server": url, "trust": trust, "dataset": "1x20kB", "retries": 0, **parameters}
        error = failure_of(copy(pair.engines, **{**asked, **change(url)}))
    assert list(root.iterdir()) == []
    return error


def test_the_default_time_limit_of_a_large_copy_is_allowed() -> None:
    parameters = CopyParameters.model_validate({"dataset": "1x1000GB", "service": "ftp"})
    assert simulated_spec(parameters)["longest_ns"] == 366 * 86_400 * 10**9


@pytest.mark.parametrize("service", EMBEDDED)
def test_an_unreachable_server_is_named(pair: Pair, service: str) -> None:
    port = closed_port()
    share = {"smb": "/share", "nfs": "/export", "s3": "/bucket", "s3s": "/bucket"}.get(service, "/")
    error = failure_of(
        copy(pair.engines, server=f"{service}://me@127.0.0.1:{port}{share}", timeout_s=3)
    )
    assert error.code == "service.refused"
    assert f"127.0.0.1:{port}" in error.message
    assert error.hint == "check that the server runs on this port"


@pytest.mark.parametrize("service", WITH_USERS)
def test_a_wrong_password_is_reported_without_secrets(pair: Pair, root: Path, service: str) -> None:
    error = refused(pair, root, service, lambda url: {"server": url, "secret": "gue55ed"})
    assert error.code == "service.login"
    assert "gue55ed" not in f"{error.message} {error.hint}"
    assert error.hint


@pytest.mark.parametrize("service", ["ftps", "sftp", "webdavs", "s3s"])
@pytest.mark.parametrize("trust", [None, "sha256:" + 64 * "0"])
def test_an_untrusted_certificate_is_refused(
    pair: Pair, root: Path, service: str, trust: str | None
) -> None:
    error = refused(pair, root, service, lambda url: {}, trust=trust)
    assert error.code == "service.certificate"
    assert "add `--trust sha256:" in (error.hint or "").lower()
    assert "Fault {" not in error.message
    if trust is not None:
        assert 64 * "0" in error.message
        assert "; allowed: " in error.message


@pytest.mark.parametrize("service", ["ftp", "ftps", "sftp", "webdav", "webdavs", "nfs", "smb"])
def test_a_missing_directory_is_not_created(pair: Pair, root: Path, service: str) -> None:
    error = refused(pair, root, service, lambda url: {"server": below(url, "no/where")})
    assert error.code == "service.missing"
    assert "no/where" in error.message


@pytest.mark.parametrize("service", ["smb", "nfs", "s3", "s3s"])
def test_a_missing_share_export_or_bucket_is_named(pair: Pair, root: Path, service: str) -> None:
    error = refused(
        pair, root, service, lambda url: {"server": url.rpartition("/")[0] + "/elsewhere"}
    )
    assert error.code == "service.missing"
    assert "elsewhere" in error.message


def test_a_missing_local_directory_is_refused(pair: Pair, tmp_path: Path) -> None:
    error = failure_of(copy(pair.engines, server=(tmp_path / "unmounted").as_uri()))
    assert error.code == "service.missing"


@pytest.mark.parametrize("service", ["directory", *EMBEDDED])
def test_names_that_are_awkward_are_copied(
    pair: Pair, tmp_path: Path, root: Path, service: str
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    names = [255 * "x", "per%41cent +&=", " leads", "-rf", "a;b", "ünï e\u0301", "#sharp", "~"]
    if service != "smb":
        names += ["co:lon", "dot.", "blank ", "what?", "*", 'quo"te', "<in>|"]
    for number, name in enumerate(names):
        (files / name).write_bytes(bytes([number]) * (number + 1))
    asked = {"dataset": f"dir:{files}", "parallel_files": 2}
    if service == "directory":
        exchange = copy(pair.engines, server=root.as_uri(), **asked)
    else:
        with Served(pair.engines[1], service, root) as (url, trust):
            exchange = copy(pair.engines, server=url, trust=trust, **asked)
    assert metrics_of(exchange)["copied_files"] == len(names)
    assert exchange.setup["checked"]["verified"]["files"] == len(names)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["co:lon", "dot.", "blank ", "what?", "*", 'quo"te', "<in>|"])
@pytest.mark.parametrize("deep", [False, True])
def test_names_that_smb_cannot_store_are_refused(
    pair: Pair, tmp_path: Path, root: Path, name: str, deep: bool
) -> None:
    files = tmp_path / "files"
    (files / name if deep else files).mkdir(parents=True)
    (files / "a plain one").write_text("1")
    (files / name / "inside" if deep else files / name).write_text("2")
    error = refused(pair, root, "smb", lambda url: {}, dataset=f"dir:{files}")
    assert error.code == "service.name"
    assert f"`{name}`" in error.message
    assert error.hint == "rename the file, or use a service that can hold its name"


@pytest.mark.parametrize(
    "name", [b"new\nline", b"back\\slash", b"no utf-8 \xff", b"escape \x1b[31m"]
)
@pytest.mark.parametrize("service", ["directory", "ftp", "smb"])
def test_names_that_no_service_can_store_are_refused(
    pair: Pair, tmp_path: Path, root: Path, service: str, name: bytes
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    try:
        (Path(os.fsdecode(bytes(files) + b"/" + name))).write_text("1")
    except OSError as error:
        pytest.skip(f"this file system cannot hold the name either: {error}")
    if service == "directory":
        error = failure_of(copy(pair.engines, server=root.as_uri(), dataset=f"dir:{files}"))
    else:
        error = refused(pair, root, service, lambda url: {}, dataset=f"dir:{files}")
    assert error.code == "copy.name"
    assert "rename" in (error.hint or "")
    assert not any(ord(letter) < 32 for letter in error.message)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("service", EMBEDDED)
def test_ipv6_literals_work_in_urls(pair: Pair, tmp_path: Path, service: str) -> None:
    """As `smb://[::1]:4450/share`: over IPv6, data connections of FTP, too."""
    if not pair.has_ipv6():
        pytest.skip("no IPv6 on this machine")
    with Served(pair.engines[1], service, tmp_path, "::1") as (url, trust):
        assert "[::1]:" in url
        for direction in ("upload", "download"):
            exchange = copy(pair.engines, server=url, trust=trust, direction=direction)
            assert metrics_of(exchange)["copied_files"] == 6
    assert exchange.setup["requests"]["client"]["spec"]["service"]["address"] == "::1"


def test_notes_do_not_follow_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    monkeypatch.setenv("LANLAB_CACHE", str(link))
    spec = {"service": {}, "working_name": "lanlab-0123456789ab"}

    with (
        pytest.raises(RunError, match="belongs to another user"),
        noted("ftp://nas/", "copy_empty", spec),
    ):
        pass

    assert list(elsewhere.iterdir()) == []
