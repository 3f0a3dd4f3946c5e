"""A user's own server from a TOML file: measured beside others, and ended with what it leaves."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Lanlab

from lanlab.performers.engine_host import EngineHost
from lanlab.performers.servers import of_trial
from lanlab.performers.servers.of_trial import served
from lanlab.testbeds import servers
from lanlab.workloads.copy.parameters import CopyParameters

pytestmark = [
    pytest.mark.usefixtures("password_and_cache"),
]

NGINX = """
name = "my-nginx"
service = "webdav"
command = ["nginx", "-c", "{private}/nginx.conf", "-e", "{private}/error.log"]
version = ["nginx", "-v"]
clean_up = ["touch", "PLACE/cleaned"]
[files]
"nginx.conf" = '''
daemon off;
pid {private}/pid;
events { }
http {
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {root}/.uploads;
    proxy_temp_path {private}/a; fastcgi_temp_path {private}/b;
    uwsgi_temp_path {private}/c; scgi_temp_path {private}/d;
    server {
        listen {address}:{port};
        root {root};
        location / { dav_methods PUT DELETE MKCOL; create_full_put_path on; }
    }
}
'''
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder for the user that the server runs as."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        yield Path(place)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_a_server_from_a_file_is_measured_next_to_lanlabs(
    lanlab: Lanlab, open_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "my.toml").write_text(NGINX.replace("PLACE", str(open_folder)))
    where = ("--service", "webdav", "--server", f"embedded,{tmp_path}/my.toml")
    said = lanlab("copy", "3x2kB", *where, "--testbed", "loopback", "--trials", "1", "--json")
    assert said.code == 0, said
    trials = said.json()["conditions"]
    assert [one["trials"] for one in trials] == [1, 1], trials
    assert (open_folder / "cleaned").is_file()


def test_nfs_is_reached_at_the_port_of_the_server_and_not_by_a_portmapper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = SimpleNamespace(
        credentials=None, trust_sha256=None, port=4711, share="/x", version="1", cpu_s=lambda: 0.0
    )
    engine: Any = None
    client = EngineHost(engine, "127.0.0.1", None)
    monkeypatch.setattr(servers, "start", lambda *_, **__: contextlib.nullcontext(started))
    parameters = CopyParameters.model_validate({"service": "nfs", "server": "my.toml"})
    made = contextlib.nullcontext("/served")
    monkeypatch.setattr(of_trial, "temporary_directory", lambda *_, **__: made)
    with served(parameters, client, client) as server:
        assert (server.target["port"], server.target["share"]) == (4711, "/x")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("name = ", "not TOML"),
        ('name = "a"\nservice = "webdav"', "command: Field required"),
        ('name = "a"\nservice = "gopher"\ncommand = ["x"]', "service: found gopher"),
        ('name = "a"\nservice = "smb"\ncommand = ["x"]', "needs `share`"),
        ('name = "a"\nservice = "ftp"\ncommand = ["/no/such"]', "no program `/no/such`"),
        ('name = "a"\nservice = "ftp"\ncommand = ["x"]\nport = 1', "port: Extra inputs"),
        ('name = "a"\nservice = "sftp"\ncommand = ["true"]', "found ftp; allowed: sftp"),
        ('name = "a"\nservice = "ftp"\ncommand = ["true"]', "before it listened"),
    ],
)
def test_a_wrong_file_is_refused_with_its_reason(
    lanlab: Lanlab, tmp_path: Path, text: str, error: str
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    where = ("--service", "ftp", "--server", f"{tmp_path}/bad.toml", "--testbed", "loopback")
    said = lanlab("copy", "1x1kB", *where, "--trials", "1")
    assert said.code != 0 and error in said.err, said
