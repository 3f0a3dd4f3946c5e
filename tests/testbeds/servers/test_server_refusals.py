"""What cannot be had is refused before anything is started, in words that say what to do."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_clients import CASES, WHO, folder_for_all, require

from lanlab.errors import RunError, UnknownName, UnmetNeed, UsageError
from lanlab.testbeds.base import Host
from lanlab.testbeds.servers import SERVERS, Credentials, server_needs, server_of, start
from lanlab.testbeds.servers.nginx import Nginx

HERE = Host("host1", {"ipv4": "127.0.0.1"}, ())


@pytest.fixture
def served() -> Iterator[Path]:
    with folder_for_all() as folder:
        yield folder


@pytest.fixture
def nginx() -> str:
    require(CASES["nginx-webdav"], HERE)
    return "nginx"


def refused(served: Path, service: str = "webdav", **others: object) -> UsageError:
    arguments: dict[str, object] = {"server": None, "credentials": WHO, **others}
    credentials = arguments.pop("credentials")
    with pytest.raises(UsageError) as caught:
        start(HERE, service, served, "127.0.0.1", credentials, **arguments)  # type: ignore[arg-type]
    return caught.value


def test_an_unknown_service_or_server_is_named(served: Path) -> None:
    assert isinstance(refused(served, "gopher"), UnknownName)
    error = refused(served, server="apache")
    assert isinstance(error, UnknownName)
    assert "nginx" in str(error.hint)


def test_a_server_of_other_services_names_them(served: Path, nginx: str) -> None:
    assert refused(served, "smb", server=nginx).message == (
        "server `nginx`: found smb; allowed: webdav, webdavs"
    )


def test_a_missing_program_is_named_with_its_install_command(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanlab.testbeds.tools._SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    error = refused(served, "ftp")
    assert isinstance(error, UnmetNeed)
    assert error.message == "server `vsftpd` needs `vsftpd`, not found on PATH"
    assert error.hint == "apt install vsftpd"
    assert [need.found for need in server_needs()] == [False] * len(SERVERS)


def test_the_nfs_server_needs_its_own_network(served: Path) -> None:
    error = refused(served, "nfs", credentials=None)
    assert isinstance(error, UnmetNeed)
    assert error.hint


@pytest.mark.rights
def test_users_without_root_learn_which_servers_need_root(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(CASES["vsftpd-ftp"], HERE)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    error = refused(served, "ftp", server="vsftpd")
    assert error.message == "server `vsftpd` needs root; lanlab runs as user 1000"


@pytest.mark.parametrize(
    "who",
    [Credentials("a:b", "x"), Credentials("", "x"), Credentials("a", ""), Credentials("a", "x\ny")],
    ids=["colon", "no name", "no secret", "two lines"],
)
def test_names_and_secrets_that_no_file_can_hold_are_refused(
    served: Path, nginx: str, who: Credentials
) -> None:
    error = refused(served, credentials=who)
    assert "allowed: " in error.message
    assert not who.secret or "x\n" not in error.message


def test_a_directory_that_cannot_be_served_is_named(served: Path, nginx: str) -> None:
    file = served / "file"
    file.touch()
    for root in (served / "none", file, Path("served")):
        assert str(root) in refused(root).message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has directories of root's")
def test_directories_of_root_are_not_served(served: Path, nginx: str) -> None:
    (served / "precious").touch()
    error = refused(served)
    assert "belongs to root and is not empty" in error.message
    assert error.hint == f"chown -R nobody {served}"
    (served / "precious").unlink()
    served.parent.chmod(0o700)
    assert "cannot read and write" in refused(served).message


def test_a_server_that_does_not_start_gives_the_reason_and_leaves_nothing(
    served: Path, nginx: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Nginx, "_module", lambda _: Path("/nowhere.so"))
    made: list[str] = []
    make = tempfile.mkdtemp

    def noted(*arguments: Any, **others: Any) -> str:
        made.append(make(*arguments, **others))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    with pytest.raises(RunError, match=r"server `nginx` ended with exit code 1 .*/nowhere\.so"):
        start(HERE, "webdav", served, "127.0.0.1", WHO)
    assert made
    assert not any(Path(folder).exists() for folder in made)


@pytest.mark.skipif(
    os.environ.get("LANLAB_REQUIRE_PEERS") != "1", reason="not all peers have to be here"
)
def test_with_required_peers_every_service_has_a_server() -> None:
    found = {service for need in server_needs() if need.found for service in need.services}
    assert found >= {"ftp", "ftps", "sftp", "webdav", "webdavs", "nfs", "smb"}


def test_every_service_is_served_and_every_server_is_looked_for() -> None:
    for service in ("ftp", "ftps", "sftp", "webdav", "webdavs", "nfs", "smb"):
        assert service in server_of(service).services
    needs = server_needs()
    assert [need.name for need in needs] == list(SERVERS)
    for need in needs:
        assert need.detail
        assert need.found or need.how_to_get
