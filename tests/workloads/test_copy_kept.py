"""What is the user's stays the user's, whatever lies where lanlab removes its own; full disks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from copying import before_request, copy, failure_of, mark_of, metrics_of, working_directories
from file_servers import EMBEDDED, Served, each_at_three
from small_disks import on_mount
from trial_running import Pair

from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS

pytestmark = pytest.mark.usefixtures("cache")

SUPPORT = str(Path(__file__).parents[1] / "support")


def tree(root: Path) -> dict[str, str]:
    """All that is below a directory: what is in files, and where links lead."""
    found = {}
    for path in sorted(root.rglob("*")):
        what = f"-> {path.readlink()}" if path.is_symlink() else "directory"
        if path.is_file() and not path.is_symlink():
            what = path.read_text()
        found[str(path.relative_to(root))] = what
    return found


@pytest.fixture
def precious(root: Path) -> Path:
    place = root / "precious"
    (place / "sub").mkdir(parents=True)
    for name in ("f000000.dat", "f000001.dat", "mark.lab", "sub/f000000.dat"):
        (place / name).write_text(f"precious {name}")
    (place / "empty").mkdir()
    return place


def trial(pair: Pair, service: str, root: Path, **parameters: Any) -> Any:
    asked = {"dataset": "2x1kB", **parameters}
    if service == "directory":
        return copy(pair.engines, server=root.as_uri(), **asked)
    with Served(pair.engines[1], service, root) as (url, trust):
        return copy(pair.engines, server=url, trust=trust, **asked)


@pytest.mark.parametrize("service", ["directory", *EMBEDDED])
def test_foreign_files_in_the_trial_directory_are_kept(
    pair: Pair, root: Path, precious: Path, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    def put(_: Any) -> None:
        (working,) = working_directories(root)
        (working / "files/his").write_text("his")
        (working / "his too").write_text("his too")
        (working / "files/f000001.dat").unlink()
        (working / "files/f000001.dat").mkdir()
        (working / "files/f000001.dat/inside").write_text("his as well")

    before_request(monkeypatch, "copy_empty", put)
    before = tree(precious)
    exchange = trial(pair, service, root)
    metrics_of(exchange)

    (working,) = working_directories(root)
    left = {key: value for key, value in tree(working).items() if value != "directory"}
    assert left == {
        "files/his": "his",
        "his too": "his too",
        "files/f000001.dat/inside": "his as well",
    }
    assert tree(precious) == before
    if not service.startswith("s3"):
        assert not exchange.setup["emptied"]["is_gone"]


@pytest.mark.parametrize(
    ("where", "service"),
    each_at_three(
        ("files",), ("files/f000000.dat",), ("working",), services=("directory", *EMBEDDED)
    ),
)
def test_link_targets_are_kept(
    pair: Pair,
    tmp_path: Path,
    precious: Path,
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    where: str,
) -> None:
    root = tmp_path / "root"

    def put(_: Any) -> None:
        (working,) = working_directories(root)
        place = working if where == "working" else working / where
        place.rename(tmp_path / "away")
        leads_to = precious / "f000000.dat" if where.endswith(".dat") else precious
        place.symlink_to(leads_to)

    before_request(monkeypatch, "copy_empty", put)
    before = tree(precious)
    exchange = trial(pair, service, root)

    assert tree(precious) == before
    assert "client" in exchange.results


@pytest.mark.parametrize("where", ["files", "working"])
@pytest.mark.parametrize("way", ["upload", "download", "stations"])
@pytest.mark.parametrize("put_there", ["link", "directory"])
def test_nothing_is_written_next_to_the_directory_of_a_trial(
    pair: Pair,
    tmp_path: Path,
    precious: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    way: str,
    put_there: str,
) -> None:
    """Somebody puts the user's own directory, or a link to it, where ours was, before the files are
    written: nothing is written, changed or removed there."""
    root, mine = tmp_path / "root", tmp_path / "mine"
    if way == "download":
        mine, root = root, mine
        root.mkdir()
    own = tmp_path / "root"

    def put(_: Any) -> None:
        (working,) = working_directories(own)
        place = working if where == "working" else working / "files"
        if way == "download" and where == "files":
            pytest.skip("a download has no directory of that name")
        place.rename(tmp_path / "away")
        if put_there == "link":
            place.symlink_to(precious)
        else:
            precious.rename(place)
            precious.symlink_to(place)

    before = tree(precious)
    if way == "stations":
        asked = {"readings_per_station": 20, "operation": "write"}
        exchange = station_trial(monkeypatch, put, pair.engines, root, **asked)
    else:
        before_request(monkeypatch, "copy", put)
        asked = {"client_directory": str(mine)} if way == "download" else {}
        exchange = copy(pair.engines, server=root.as_uri(), dataset="3x1kB", direction=way, **asked)
    assert {name: tree(precious)[name] for name in before} == before
    assert len(tree(precious)) == len(before)
    assert "client" in exchange.results
    emptied = exchange.setup["emptied"]
    assert (emptied["is_gone"], emptied["left"]["refusal"]) == (False, None)


def station_trial(
    monkeypatch: pytest.MonkeyPatch,
    put: Any,
    engines: tuple[Engine, Engine],
    root: Path,
    **parameters: Any,
) -> Any:
    """A trial of stations, with something that happens before they begin."""
    before_request(monkeypatch, "stations", put)
    kind = WORKLOADS["stations"]
    given = {"server": root.as_uri(), "stations": 2, "file_size_bytes": 65536, **parameters}
    asked = kind.Parameters.model_validate(given)
    hosts = [EngineHost(engine, "127.0.0.1", engine.describe()["boot_id"]) for engine in engines]
    return perform_between(kind, asked, *hosts, 0.05)


@pytest.mark.parametrize("where", ["", "sub"])
def test_links_in_a_download_directory_are_not_followed(
    pair: Pair, tmp_path: Path, precious: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    mine, root = tmp_path / "mine", tmp_path / "served"
    (mine / "sub").mkdir(parents=True)
    root.mkdir()
    for name in ("f000000.dat", "sub/f000000.dat"):
        (mine / name).write_text("to be copied")

    def put(_: Any) -> None:
        (working,) = working_directories(precious)
        place = working / where
        place.rename(tmp_path / "away")
        place.symlink_to(precious / where)

    before_request(monkeypatch, "copy_empty", put)
    before = tree(precious)
    exchange = trial(
        pair,
        "ftp",
        root,
        dataset=f"dir:{mine}",
        direction="download",
        client_directory=str(precious),
    )
    after = {key: what for key, what in tree(precious).items() if ".lab" not in key}
    assert after == {key: what for key, what in before.items() if key != "mark.lab"}
    assert not exchange.setup["emptied"]["is_gone"]
    assert list(root.iterdir()) == []


def test_a_foreign_file_at_a_download_path_is_kept(
    pair: Pair, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.mkdir()

    def put(_: Any) -> None:
        (working,) = working_directories(target)
        (working / "his").write_text("his")

    before_request(monkeypatch, "copy_empty", put)
    exchange = trial(pair, "sftp", root, direction="download", client_directory=str(target))
    metrics_of(exchange)
    assert not exchange.setup["emptied"]["is_gone"]
    assert list(tree(target).values()) == ["directory", "his"]


@pytest.mark.parametrize("mark", ["", "made by lan", "whole"])
def test_a_truncated_mark_allows_removal_of_an_empty_directory(
    pair: Pair, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a").write_text("a")

    def cut(_: Any) -> None:
        (path,) = map(mark_of, working_directories(root))
        path.write_text(path.read_text() + "f name-cut-o" if mark == "whole" else mark)
        if mark != "whole":
            (path.parent / "files/a").unlink()
            (path.parent / "files").rmdir()

    before_request(monkeypatch, "copy_empty", cut)
    exchange = trial(pair, "directory", root, dataset=f"dir:{mine}", verify="none")
    metrics_of(exchange)
    assert list(root.iterdir()) == []
    assert exchange.setup["emptied"]["is_gone"]


#: Runs in a mount namespace: what it came to, of each service.
ON_A_SMALL_DISK = """
import json, os, sys
from pathlib import Path
place, support, way, *services = sys.argv[1:]
sys.path.insert(0, support)
from copying import copy
from file_servers import Served
from lanlab.engine import Engine, engine_path
found = {}
with Engine("host0", [engine_path()]) as client, Engine("host1", [engine_path()]) as host:
    for service in services:
        asked = dict(dataset="3x1MB", parallel_files=1)
        root = Path(place) if way == "server" else Path(place).parent / "roomy"
        root.mkdir(exist_ok=True)
        if way == "client":
            asked |= dict(direction="download", client_directory=place)
        if service == "directory":
            error = copy((client, host), server=root.as_uri(), **asked).error
        else:
            with Served(host, service, root) as (url, trust):
                error = copy((client, host), server=url, trust=trust, **asked).error
        code, hint = (error.code, error.hint) if error else (None, None)
        found[service] = [code, hint, sorted(os.listdir(place)), sorted(os.listdir(root))]
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    ("way", "code"), [("server", "service.no_space"), ("client", "system.no_space")]
)
def test_a_full_disk_fails_the_trial_and_is_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, code: str
) -> None:
    place = tmp_path / "small"
    place.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    services = ("directory", *EMBEDDED)
    options = ["-t", "tmpfs", "-o", "size=1500k", "tmpfs"]
    said = on_mount(options, place, ON_A_SMALL_DISK, SUPPORT, way, *services)
    found = json.loads(said)
    assert set(found) == set(services)
    for service, (was, hint, left, left_at_server) in found.items():
        assert was == code, (service, found[service])
        assert "room" in hint
        assert (left, left_at_server) == ([], []), service


@pytest.mark.parametrize("has_right", [True, False])
def test_cold_caches_are_dropped_and_recorded(tmp_path: Path, has_right: bool) -> None:
    if has_right and os.geteuid() != 0:
        pytest.skip("needs root to forget everything")
    prefix: list[str] = []
    if not has_right and os.geteuid() == 0:
        # As for a user without rights: the file that takes the order cannot be written.
        order = 'mount -o bind,ro /proc/sys /proc/sys && exec "$0"'
        prefix = ["unshare", "--mount", "sh", "-c", order]
        if subprocess.run([*prefix, "true"], check=False).returncode:
            pytest.skip("needs a mount namespace")
    with (
        Engine("host0", [*prefix, engine_path()]) as client,
        Engine("host1", [*prefix, engine_path()]) as host,
    ):
        served = copy((client, host), service="ftp", cache="cold", medium="disk", dataset="2x100kB")
        own = copy((client, host), server=tmp_path.as_uri(), cache="cold", dataset="2x100kB")
    for exchange in (served, own):
        metrics_of(exchange)
        of = {each["of"] for each in exchange.setup["caches"].values()}
        assert of == {"everything" if has_right else "files"}, exchange.setup["caches"]


def test_an_unwritable_directory_is_refused_and_left_empty(pair: Pair, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        assert failure_of(copy(pair.engines, server=tmp_path.as_uri())).code == "service.denied"
    finally:
        tmp_path.chmod(0o700)
