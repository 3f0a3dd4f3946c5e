"""What every real server promises, tried on each that is here, by a client that is not ours."""

import os
import ssl
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from missing import missing
from programs import ran
from server_clients import CASES, WHO, Case, Client, folder_for_all, require

from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.testbeds.servers import Credentials, RunningServer, start

#: More than any buffer on the way, and no multiple of a block.
CONTENT = os.urandom(3_000_017)


@pytest.fixture(scope="module", params=["loopback", "virtual"])
def bed(request: pytest.FixtureRequest) -> Iterator[Bed]:
    try:
        opened = open_testbed(request.param, 2)
    except UnmetNeed as error:
        missing(error)
    with opened:
        yield opened


@pytest.fixture(scope="module", params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest, bed: Bed) -> Case:
    chosen: Case = request.param
    require(chosen, bed.hosts[1])
    return chosen


@pytest.fixture(scope="module")
def served_by_one(case: Case, bed: Bed) -> Iterator[Path]:
    """The directory that one server serves to all tests; the next server has its own."""
    with folder_for_all() as folder:
        yield folder


@pytest.fixture
def served(served_by_one: Path) -> Iterator[Path]:
    yield served_by_one
    for left in served_by_one.iterdir():
        left.unlink()


def started(case: Case, bed: Bed, served: Path) -> RunningServer:
    host = bed.hosts[1]
    return start(
        host, case.service, served, host.addresses["ipv4"], case.credentials, server=case.server
    )


@pytest.fixture(scope="module")
def server(case: Case, bed: Bed, served_by_one: Path) -> Iterator[RunningServer]:
    """The server, running on the second host; no test of it may end it."""
    with started(case, bed, served_by_one) as running:
        yield running


@pytest.fixture
def their_client(server: RunningServer, bed: Bed, tmp_path: Path) -> Client:
    return Client(server, bed.hosts[0], tmp_path)


@pytest.fixture
def content(tmp_path: Path) -> Path:
    file = tmp_path / "content"
    file.write_bytes(CONTENT)
    return file


@pytest.mark.rights
def test_a_file_round_trips_through_the_server(
    server: RunningServer, their_client: Client, content: Path, served: Path, tmp_path: Path
) -> None:
    assert WHO.secret not in repr(server.credentials)
    assert server.credentials is None or server.credentials.secret not in repr(server.credentials)
    assert server.version and server.host.name == "host1"
    assert their_client.put(content, "file", server.credentials) == ""
    assert (served / "file").read_bytes() == CONTENT
    back = tmp_path / "back"
    assert their_client.get("file", back, server.credentials) == ""
    assert back.read_bytes() == CONTENT


def test_clients_without_the_secret_get_nothing(
    case: Case,
    server: RunningServer,
    their_client: Client,
    content: Path,
    served: Path,
    tmp_path: Path,
) -> None:
    if case.service in ("nfs", "nfs4"):
        pytest.skip("NFS has no login")
    assert server.credentials is not None
    user, secret = server.credentials.user, server.credentials.secret
    # With one letter changed, neither a password nor a key is right.
    wrong = secret[: len(secret) // 2] + "@" + secret[len(secret) // 2 + 1 :]

    def refused(who: Credentials) -> str:
        scratch = tmp_path / who.user
        scratch.mkdir()
        return Client(server, their_client.host, scratch).put(content, "file", who)

    # Both at once, as some servers take seconds to refuse one.
    with ThreadPoolExecutor() as pool:
        assert all(pool.map(refused, (Credentials(user, wrong), Credentials("bin", secret))))
    assert not list(served.iterdir())
    assert their_client.put(content, "file", server.credentials) == ""


def test_the_server_presents_the_certificate_that_lanlab_trusts(
    case: Case, bed: Bed, server: RunningServer
) -> None:
    if case.service == "webdavs":
        script = (
            "import socket,ssl,sys\n"
            "c=ssl.create_default_context(); c.check_hostname=False; c.verify_mode=0\n"
            "s=c.wrap_socket(socket.create_connection((sys.argv[1],int(sys.argv[2])),10))\n"
            "print(ssl.DER_cert_to_PEM_cert(s.getpeercert(True)))"
        )
        argv = [*bed.hosts[0].command_prefix, sys.executable, "-c", script]
        where = [server.host.addresses["ipv4"], str(server.port)]
        shown = ran([*argv, *where], check=True)
        der = ssl.PEM_cert_to_DER_cert(shown.stdout.strip())
        assert sha256(der).hexdigest() == server.trust_sha256
    else:
        protected = case.service in ("ftps", "sftp")
        assert (server.trust_sha256 is not None) == protected


#: What discovery calls a service that differs from its name here.
_DISCOVERED = {"ftps": "ftp", "smb1": None, "s3": None, "s3s": None}


def test_discovery_recognises_the_server(
    case: Case, bed: Bed, server: RunningServer, served_by_one: Path
) -> None:
    name = _DISCOVERED.get(case.service, case.service)
    if name is None:
        pytest.skip("`lanlab nas` measures it by its URL alone")
    script = (
        "import sys; from lanlab.nas.discovery import discover; "
        "from lanlab.performers.servers.places import places_of; "
        "address, name, port = sys.argv[1:]; "
        "print([(one.service, one.problem) for one in discover(address, {name: int(port)})], "
        "places_of(f'{name}://{address}:{port}/x', None) if 'nfs' in name else [])"
    )
    argv = [*bed.hosts[0].command_prefix, sys.executable, "-c", script]
    where = [server.host.addresses["ipv4"], name, str(server.port)]
    shown = ran([*argv, *where], check=True)
    exports = {"nfs": [str(served_by_one)], "nfs4": ["/data"]}.get(name, [])
    assert shown.stdout.strip() == f"{[(name, None)]} {exports}"


@pytest.fixture
def ending(case: Case, bed: Bed) -> Iterator[RunningServer]:
    with folder_for_all("ending") as folder, started(case, bed, folder) as running:
        yield running


def test_server_processes_are_unprivileged_and_measured(
    case: Case, bed: Bed, ending: RunningServer, content: Path, tmp_path: Path
) -> None:
    server, their_client = ending, Client(ending, bed.hosts[0], tmp_path)
    before, pids = server.cpu_s(), server.pids()
    assert pids
    for pid in pids:
        status = Path(f"/proc/{pid}/status").read_text()
        uid = int(status.partition("Uid:")[2].split()[1])
        assert uid == (os.geteuid() or uid)
        assert uid != 0 or case.server in ("vsftpd", "ganesha")
    for i in range(5):
        assert their_client.put(content, f"file{i}", server.credentials) == ""
    assert server.cpu_s() > before
    during = server.cpu_s()
    server.close()
    assert server.cpu_s() >= during
    assert server.pids() == []


def test_two_at_once_do_not_disturb_each_other(
    case: Case, bed: Bed, server: RunningServer, content: Path, served: Path, tmp_path: Path
) -> None:
    if case.server == "ganesha":
        pytest.skip("`rpcbind` tells of one NFS server on a host")
    with folder_for_all("other") as other_served:
        with started(case, bed, other_served) as other:
            assert other.port != server.port
            assert not set(other.pids()) & set(server.pids())
            put = Client(other, bed.hosts[0], tmp_path).put
            assert put(content, "file", other.credentials) == ""
        assert (other_served / "file").read_bytes() == CONTENT
        assert not list(served.iterdir())
    assert Client(server, bed.hosts[0], tmp_path).put(content, "file", server.credentials) == ""


@pytest.mark.parametrize("name", ["Öl & 100 %", 'it\'s #1; $HOME {x} "y"'])
def test_the_directory_may_have_any_name(
    case: Case, bed: Bed, name: str, content: Path, tmp_path: Path
) -> None:
    """Whatever a program's configuration makes of it otherwise."""
    if bed.name == "virtual" and case.server != "ganesha":
        pytest.skip("the same as on loopback")
    with folder_for_all(name) as served, started(case, bed, served) as server:
        there = Client(server, bed.hosts[0], tmp_path)
        assert there.put(content, "file", server.credentials) == ""
        assert (served / "file").read_bytes() == CONTENT
