"""Octets that are wrong, missing or too many: found always, by name, and the trial fails."""

from pathlib import Path
from typing import Any

import pytest
from copying import before_request, copy, failure_of, working_directories
from file_servers import Relay, Served, each_at_three
from trial_running import Pair

pytestmark = pytest.mark.usefixtures("cache")

#: Of the dataset that is copied here.
BYTES = 300_000


def flip(path: Path, octet: int) -> None:
    data = bytearray(path.read_bytes())
    data[octet] ^= 1
    path.write_bytes(data)


def _write(path: Path) -> None:
    path.write_text("2")


def at_the_server(root: Path) -> Path:
    (found,) = (one / "files/f000000.dat" for one in working_directories(root))
    return found


@pytest.mark.parametrize(("octet", "service"), each_at_three((0,), (150_001,), (BYTES - 1,)))
def test_a_bit_changed_after_an_upload_is_located(
    pair: Pair, root: Path, monkeypatch: pytest.MonkeyPatch, service: str, octet: int
) -> None:
    before_request(monkeypatch, "copy_check", lambda _: flip(at_the_server(root), octet))
    with Served(pair.engines[1], service, root) as (url, trust):
        exchange = copy(pair.engines, server=url, trust=trust, dataset=f"1x{BYTES}B")
    error = failure_of(exchange)
    assert error.code == "copy.wrong"
    assert f"`f000000.dat`: the copy differs from octet {octet} on" in error.message
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("direction", ["upload", "download"])
@pytest.mark.parametrize("service", ["ftp", "webdav", "nfs", "smb", "s3"])
def test_a_bit_changed_in_transit_is_detected(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, direction: str
) -> None:
    flipped: list[int] = []

    def alter(octets: bytes, before: int) -> bytes:
        place = 200_000 - before
        if flipped or not 0 <= place < len(octets):
            return octets
        flipped.append(place)
        return octets[:place] + bytes([octets[place] ^ 1]) + octets[place + 1 :]

    with Served(pair.engines[1], service, tmp_path) as (url, trust), Relay(url) as relay:
        way = "there" if direction == "upload" else "back"
        before_request(monkeypatch, "copy", lambda _: setattr(relay, way, alter))
        exchange = copy(
            pair.engines, server=relay.url, trust=trust, dataset="1x1MB", direction=direction
        )
    assert flipped
    error = failure_of(exchange)
    assert error.code == "copy.wrong"
    assert not working_directories(tmp_path)


@pytest.mark.parametrize("change", ["grown", "cut", "overwritten", "gone"])
@pytest.mark.parametrize("when", ["in mid-file", "before it is compared"])
def test_a_source_file_changed_during_the_copy_is_named(
    pair: Pair, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, when: str, change: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    growing = mine / "growing"
    growing.write_bytes(bytes(2_000_000))
    (mine / "steady").write_text("as it was")
    changed: list[bool] = []

    def act(_: Any = None) -> None:
        if not changed:
            changed.append(True)
            if change == "gone":
                growing.unlink()
            else:
                sizes = {"grown": 2_000_001, "cut": 100, "overwritten": 2_000_000}
                growing.write_bytes(b"x" * sizes[change])

    def in_mid_file(octets: bytes, before: int) -> bytes:
        if before > 300_000:
            act()
        return octets

    with Served(pair.engines[1], "webdav", root) as (url, _), Relay(url) as relay:
        if when == "in mid-file":
            relay.there = in_mid_file
        else:
            before_request(monkeypatch, "copy_check", act)
        exchange = copy(pair.engines, server=relay.url, dataset=f"dir:{mine}")
    assert changed
    error = failure_of(exchange)
    if when == "in mid-file":
        gone = {"system.file"} if change == "gone" else set()
        assert error.code in {"copy.changed", "copy.wrong"} | gone, error
        assert "growing" in error.message
    else:
        assert error.code == "copy.changed", error
        assert f"{mine}: files in it changed" in error.message
    assert list(root.iterdir()) == []
    assert (mine / "steady").read_text() == "as it was"


@pytest.mark.parametrize("step", ["copy", "copy_check"])
def test_a_file_that_appears_in_a_directory_during_removal(
    pair: Pair, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "first").write_text("1")
    before_request(monkeypatch, step, lambda _: _write(mine / "new"))
    with Served(pair.engines[1], "sftp", root) as (url, trust):
        exchange = copy(pair.engines, server=url, trust=trust, dataset=f"dir:{mine}")
    assert failure_of(exchange).code == "copy.changed"
    assert list(root.iterdir()) == []


def test_names_that_collide_at_the_server_are_reported(
    pair: Pair, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("Aa", "aA"):
        (source / name).write_bytes(name.encode() * 1000)

    def replace(_: Any) -> None:
        (first,) = root.glob("lanlab-*/files/Aa")
        (first.parent / "aA").rename(first)

    before_request(monkeypatch, "copy_check", replace)
    with Served(pair.engines[1], "webdav", root) as (url, trust):
        exchange = copy(pair.engines, server=url, trust=trust, dataset=f"dir:{source}")
    error = failure_of(exchange)
    assert error.code == "service.exists"
    assert "`Aa` and `aA` are one name to this server" in error.message
    assert list(root.iterdir()) == []
