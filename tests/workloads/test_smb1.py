"""SMB 1: its URLs, dialects and names."""

import pytest
from pydantic import ValidationError

from lanlab.errors import UsageError
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.services.parameters import working_name
from lanlab.workloads.services.server_url import parse_url
from lanlab.workloads.stations.parameters import StationsParameters


def test_a_dialect_is_part_of_a_url() -> None:
    url = parse_url("smb1://me@nas:1139/share/below?dialect=lanman1")
    assert (url.service, url.port, url.share, url.directory) == ("smb1", 1139, "share", "below")
    assert url.options == {"dialect": "lanman1"}
    assert parse_url("smb1://nas/share").options == {}
    parameters = CopyParameters.model_validate({"server": url.text})
    assert (parameters.service, parameters.dialect) == ("smb1", "lanman1")


def test_signing_is_part_of_a_url_and_of_the_condition() -> None:
    server = "smb1://nas/share?signing=required&dialect=nt1"
    parameters = CopyParameters.model_validate({"server": server})
    assert (parameters.signing, parameters.dialect) == ("required", "nt1")
    assert parameters.requires_signatures
    assert not CopyParameters(service="smb1", signing="auto").requires_signatures
    assert not CopyParameters(service="smb1").requires_signatures


def test_a_name_server_is_part_of_a_url() -> None:
    parameters = CopyParameters.model_validate({"server": "smb1://old-box/share?wins=192.0.2.7"})
    assert parameters.wins == "192.0.2.7"
    with pytest.raises(UsageError, match="found `wins=192"):
        parse_url("smb1+nbf://OLD-BOX/share?wins=192.0.2.7")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "smb1://nas/share?version=1",
            "found `version=1` after `\\?`; allowed: `dialect=`, `signing=`, `wins=`",
        ),
        ("smb1://nas/share?dialect", "found `dialect` after `\\?`; allowed: `dialect=`"),
        ("smb1://nas/share?dialect=nt1&dialect=nt1", "found `dialect=` twice"),
        ("smb1://nas/share?dialect=nt1#nt1", "found `\\?` or `#`"),
        ("smb://nas/share?dialect=nt1", "found `\\?` or `#`"),
        ("smb1://nas", "no share; write it as smb1://HOST/SHARE"),
    ],
)
def test_invalid_smb1_urls_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_url(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"service": "smb", "dialect": "nt1"},
            "dialect has no effect here; it needs",
        ),
        ({"service": "smb1", "server": "samba", "dialect": "nt2"}, "found `nt2`; allowed: core"),
        ({"server": "smb1://nas/a?dialect=core", "dialect": "nt1"}, "the URL has `core`"),
        (
            {"server": "smb1://nas/a?dialect=nt2"},
            "dialect: found `nt2`; allowed: core, lanman1, lm12x002, nt1",
        ),
        ({"server": "smb1://nas/a?signing=on"}, "signing: found `on`; allowed: auto, required"),
        (
            {"server": "smb1://nas/a?signing=required", "signing": "auto"},
            "signing: found `auto`, but the URL has `required`",
        ),
        (
            {"server": "smb1://old-box/a?wins=nas"},
            "wins: found `nas`; allowed: the IPv4 address of a WINS server",
        ),
        ({"server": "smb1://old-box/a", "wins": "::1"}, "wins: found `::1`; allowed: the IPv4"),
        ({"server": "smb1://old-box/a", "wins": "224.0.0.1"}, "the address of one server"),
        (
            {"service": "smb1", "signing": "required", "dialect": "lanman1"},
            "`required` needs dialect `nt1`; found `lanman1`",
        ),
        (
            {"server": "smb1://nas/a?signing=required", "raw": True},
            "`required` cannot be used with raw",
        ),
    ],
)
def test_invalid_smb1_options_are_refused(given: dict[str, object], said: str) -> None:
    for kind in (CopyParameters, StationsParameters):
        with pytest.raises(ValidationError, match=said):
            kind.model_validate(given)


def test_smb1_working_names_are_8_3() -> None:
    short = working_name(CopyParameters(service="smb1", server="samba"))
    base, _, extension = short.partition(".")
    assert (len(base), extension) == (8, "lab")
    assert working_name(CopyParameters(service="nfs")).startswith("lanlab-")
