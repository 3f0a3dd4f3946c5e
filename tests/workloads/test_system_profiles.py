"""Systems of the time: what a condition of one has, and what is refused of it."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from schema_names import names_of

from lanlab.services import PROFILES
from lanlab.workloads import WORKLOADS
from lanlab.workloads.stations import StationsParameters

_OF_ENGINE = Path(__file__).parents[2] / "crates/stack/src/smb/profile.rs"


def stations(**given: Any) -> StationsParameters:
    parameters = WORKLOADS["stations"].Parameters.model_validate(given)
    assert isinstance(parameters, StationsParameters)
    return parameters


def test_each_period_system_has_one_dialect_and_xns_has_one_system() -> None:
    one = stations(service="smb1+nbf", profile="pc-lan-program", stations=32)
    assert (one.dialect, one.system_profile) == ("core", PROFILES["pc-lan-program"])
    assert stations(service="smb1+spp", stations=32).system_profile is PROFILES["three-plus"]
    assert stations(service="smb1+nbf", stations=200).system_profile is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"service": "smb1", "profile": "pc-lan-program"},
            "profile has no effect here; it needs carrier `nbf` or `spp`",
        ),
        (
            {"service": "smb1+nbf", "profile": "os2"},
            "found `os2`; allowed: pc-lan-program",
        ),
        (
            {"service": "smb1+nbf", "profile": "pc-lan-program", "dialect": "nt1"},
            "dialect: profile `pc-lan-program` uses `core`; found `nt1`",
        ),
        (
            {"service": "smb1+nbf", "profile": "pc-lan-program", "raw": True},
            "raw cannot be used with profile `pc-lan-program`",
        ),
        (
            {"service": "smb1+nbf", "profile": "pc-lan-program", "signing": "required"},
            "signing cannot be used with profile `pc-lan-program`",
        ),
        (
            {"service": "smb1+nbf", "profile": "pc-lan-program", "stations": 33},
            "stations: found 33; allowed: 1 to 32, the sessions of IBM's PC LAN Program",
        ),
        (
            {"service": "smb1+spp", "stations": 33},
            "stations: found 33; allowed: 1 to 32, the sessions of 3Com's 3+",
        ),
    ],
)
def test_options_the_system_lacks_are_refused(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(expected)):
        stations(**given)


def test_a_users_server_has_the_sessions_that_it_has() -> None:
    assert stations(server="smb1+spp://SERVER/SHARE", stations=33).stations == 33


def test_the_table_lists_the_systems_of_the_engine() -> None:
    schema = json.loads(files("lanlab.engine").joinpath("schema.json").read_text())
    assert sorted(names_of(schema["$defs"]["SystemProfile"])) == sorted(PROFILES)
    found = re.findall(r"name: \"(.+)\",\s+buffer_bytes: assumed\((.+)\)", _OF_ENGINE.read_text())
    known = {name: int(octets.replace("_", "")) for name, octets in found}
    assert known == {name: one.message_bytes for name, one in PROFILES.items()}
