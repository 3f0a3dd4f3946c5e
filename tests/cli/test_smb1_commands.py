"""`copy` and `stations` with SMB 1, and Samba as its server."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
from missing import missing

if TYPE_CHECKING:
    from conftest import Lanlab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="real servers are run on Linux")


def result(lanlab: Lanlab, *args: str) -> dict[str, Any]:
    """What a command with Samba as the server of SMB 1 says."""
    if shutil.which("smbd") is None:
        missing("`smbd` is not installed")
    said = lanlab(*args, "--service", "smb1", "--server", "samba", "--trials", "1", "--json")
    assert said.code == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    return found


@pytest.mark.parametrize(
    ("dialect", "agreed"),
    [
        ("nt1", "SMB 1, NT LM 0.12, NTLMSSP login"),
        ("lm12x002", "SMB 1, LM1.2X002, LM login"),
        ("lanman1", "SMB 1, LANMAN1.0, LM login"),
    ],
)
@pytest.mark.parametrize("way", [(), ("--download",)], ids=["upload", "download"])
def test_files_are_copied_in_each_dialect(
    lanlab: Lanlab, dialect: str, agreed: str, way: tuple[str, ...]
) -> None:
    found = result(lanlab, "copy", "30x6kB", "--dialect", dialect, *way)
    assert agreed in json.dumps(found)
    assert (found["copied_files"], found["copied_bytes"]) == (30, 180_000)
    assert (found["faults"], found["retries"]) == (0, 0)


def test_stations_read_blocks(lanlab: Lanlab) -> None:
    found = result(lanlab, "stations", "--stations", "1,3", "--size", "750", "--time", "0.5s")
    assert [each["factors"]["stations"] for each in found["conditions"]][:2] == [1, 3]
    assert found["failed_trials"] == 0


def test_a_dialect_that_the_server_lacks_is_said(lanlab: Lanlab) -> None:
    if shutil.which("smbd") is None:
        missing("`smbd` is not installed")
    args = ("--service", "smb1", "--server", "samba", "--dialect", "core", "--trials", "1")
    said = lanlab("copy", "3x6kB", *args)
    assert said.code != 0
    assert "the server speaks none of the dialects `PC NETWORK PROGRAM 1.0`" in said.err
