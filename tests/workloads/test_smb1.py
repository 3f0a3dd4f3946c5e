"""SMB 1: URLs and dialects, and what is measured with Samba as its server."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from missing import missing
from pydantic import ValidationError

from lanlab.errors import UsageError
from lanlab.workloads.copy import CopyParameters
from lanlab.workloads.copy_server import parse_url
from lanlab.workloads.service_parameters import working_name
from lanlab.workloads.stations import StationsParameters


def test_a_dialect_is_part_of_a_url() -> None:
    url = parse_url("smb1://me@nas:1139/share/below?dialect=lanman1")
    assert (url.service, url.port, url.share, url.directory) == ("smb1", 1139, "share", "below")
    assert url.dialect == "lanman1"
    assert parse_url("smb1://nas/share").dialect is None
    parameters = CopyParameters.model_validate({"server": url.text})
    assert (parameters.service, parameters.dialect) == ("smb1", "lanman1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smb1://nas/share?dialect=nt2", "found dialect `nt2`; allowed: core, lanman1, lm12x002, nt1"),
        ("smb1://nas/share?version=1", "found `\\?` or `#`"),
        ("smb://nas/share?dialect=nt1", "found `\\?` or `#`"),
        ("smb1://nas", "no share; write it as smb1://HOST/SHARE"),
    ],
)
def test_what_is_no_such_url_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_url(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"service": "smb1"}, "no embedded server yet"),
        ({"service": "smb", "dialect": "nt1"}, "found `nt1` for service `smb`; allowed: none"),
        ({"service": "smb1", "server": "samba", "dialect": "nt2"}, "found `nt2`; allowed: core"),
        ({"server": "smb1://nas/a?dialect=core", "dialect": "nt1"}, "`core` in the URL"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, str], said: str) -> None:
    for kind in (CopyParameters, StationsParameters):
        with pytest.raises(ValidationError, match=said):
            kind.model_validate(given)


def test_its_working_names_are_8_3() -> None:
    short = working_name(CopyParameters(service="smb1", server="samba"))
    base, _, extension = short.partition(".")
    assert (len(base), extension) == (8, "lab")
    assert working_name(CopyParameters(service="nfs")).startswith("lanlab-")


def samba_result(lanlab: Any, *args: str) -> dict[str, Any]:
    """What a command with Samba as the server of SMB 1 says."""
    if shutil.which("smbd") is None:
        missing("`smbd` is not installed")
    done = lanlab(*args, "--server", "samba", "--json", timeout_s=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


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
    lanlab: Any, dialect: str, agreed: str, way: tuple[str, ...]
) -> None:
    said = samba_result(lanlab, "copy", "30x6kB", "--service", "smb1", "--dialect", dialect, *way)
    assert agreed in json.dumps(said)
    assert said["faults"] == {} if "faults" in said else True


def test_stations_read_blocks(lanlab: Any) -> None:
    args = ("--service", "smb1", "--stations", "1,3", "--size", "750", "--time", "0.5s", "--trials", "1")
    said = samba_result(lanlab, "stations", *args)
    assert "SMB 1, NT LM 0.12" in json.dumps(said)
