"""A server that brings an octet now and then is ended; a slow one that does its work is not."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Lanlab
from file_servers import Relay, Served

from lanlab.engine import Engine

pytestmark = pytest.mark.usefixtures("password_and_cache")

#: One of each kind of client: files on connections of their own, HTTP, and numbered requests. S3
#: goes by HTTP too, SMB and SFTP number their requests: theirs are for the long run.
_KINDS = ["ftp", "webdav", "nfs"]
_ALIKE = ["sftp", "s3", "smb"]
SERVICES = [*_KINDS, *(pytest.param(name, marks=pytest.mark.long) for name in _ALIKE)]


def drip(relay: Relay, after: int) -> None:
    """From so many octets of a connection on, one of each piece comes, twenty times a second."""

    def back(octets: bytes, before: int) -> bytes:
        if before < after:
            return octets
        time.sleep(0.05)
        return octets[:1]

    relay.back = back


@contextmanager
def dripping(engine: Engine, service: str, served: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A server that drips while the block lasts: its URL, and options to trust it."""
    with Served(engine, service, served) as (url, trust), Relay(url) as relay:
        drip(relay, 300_000)
        yield relay.url, () if trust is None else ("--trust", trust)
        relay.back = lambda octets, _: octets


@pytest.mark.parametrize("service", SERVICES)
def test_a_server_that_sends_single_bytes_times_out(
    lanlab: Lanlab, engine: Engine, served: Path, service: str
) -> None:
    with dripping(engine, service, served) as (url, trusted):
        said = lanlab(
            *("copy", "1x20MB", url, "--download", *trusted),
            *("--trials", "1", "--retries", "1", "--timeout", "1"),
        )
    assert said.code == 1, said
    assert "error: " in said.err
    assert "bytes came within" in said.err or "no answer within 1 s" in said.err
    assert "f000000.dat" in said.err


@pytest.mark.parametrize("service", ["sftp", "nfs", "webdav"])
def test_stations_that_take_too_long_are_given_up(
    lanlab: Lanlab, engine: Engine, served: Path, service: str
) -> None:
    over = threading.Event()
    with Served(engine, service, served) as (url, trust), Relay(url) as relay:

        def back(octets: bytes, before: int) -> bytes:
            # Files are there, and stations work.
            if before > 200_000:
                over.wait(60)
            return octets

        relay.back = back
        trusted = () if trust is None else ("--trust", trust)
        said = lanlab(
            *("stations", relay.url, "--stations", "2", "--time", "1", "--size", "64k", *trusted),
            *("--trials", "1", "--timeout", "60", "--longest", "2"),
        )
        over.set()
    assert said.code == 1, said
    assert "not done within 3 s" in said.err
    assert "`--longest`" in said.err
    left = [path.name for path in served.iterdir()]
    assert not left or f"`{left[0]}`" in said.err


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("way", ["upload", "download"])
def test_a_slow_link_does_not_time_out(
    lanlab: Lanlab, engine: Engine, served: Path, service: str, way: str
) -> None:

    def slow(octets: bytes, before: int) -> bytes:
        time.sleep(len(octets) / 100_000)
        return octets

    with Served(engine, service, served) as (url, trust), Relay(url) as relay:
        relay.there = relay.back = slow
        trusted = () if trust is None else ("--trust", trust)
        ways = ("--download",) if way == "download" else ()
        said = lanlab(
            *("copy", "1x100kB", relay.url, *trusted, *ways),
            *("--trials", "1", "--retries", "0", "--timeout", "3", "--verify", "size"),
        )
    assert said.code == 0, said.err


@pytest.mark.parametrize("way", ["upload", "download"])
def test_a_copy_that_takes_too_long_is_given_up(
    lanlab: Lanlab, engine: Engine, root: Path, way: str
) -> None:
    with Served(engine, "webdav", root) as (url, _), Relay(url) as relay:

        def slow(octets: bytes, before: int) -> bytes:
            time.sleep(len(octets) / 1_000_000)
            return octets

        if way == "upload":
            relay.there = slow
        else:
            relay.back = slow
        # Until a file is begun within the limit; both take a minute.
        for longest_s in ("2", "8", "32"):
            said = lanlab(
                *("copy", "2x30MB", relay.url, "--trials", "1", "--longest", longest_s),
                *(("--download",) if way == "download" else ()),
            )
            if "127.0.0.1: `f00000" in said.err:
                break
    assert said.code == 1, said
    assert "127.0.0.1: `f00000" in said.err
    assert "of 2 files (60000000 bytes) were done" in said.err
    assert f"not done within {longest_s} s" in said.err
    assert "`--longest`" in said.err
    assert [path.name for path in root.iterdir()] == ["letter"]
