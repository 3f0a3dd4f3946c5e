"""Systems of the time: what a condition of one has, and what is refused of it."""

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from schema_names import names_of

import lanlab
from lanlab.services import PROFILES
from lanlab.workloads import WORKLOADS
from lanlab.workloads.stations.parameters import StationsParameters


def stations(**given: Any) -> StationsParameters:
    parameters = WORKLOADS["stations"].Parameters.model_validate(given)
    assert isinstance(parameters, StationsParameters)
    return parameters


@pytest.mark.parametrize(
    ("service", "profile"), [("smb1+nbf", "pc-lan-program"), ("smb1+spp", "three-plus")]
)
def test_only_a_named_period_system_limits_dialect_and_sessions(service: str, profile: str) -> None:
    one = stations(service=service, profile=profile, stations=32)
    assert (one.dialect, one.system_profile) == ("core", PROFILES[profile])
    other = stations(service=service, stations=200)
    assert (other.dialect, other.system_profile) == (None, None)


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
            {"service": "smb1+spp", "profile": "three-plus", "stations": 33},
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
    assert names_of(schema["$defs"]["SystemProfile"]) == list(PROFILES)


#: A package with one row more: all else of it is lanlab's own.
_ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from lanlab.cli.serving import options
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions
model = WORKLOADS["stations"].Parameters
print(definitions(model)["profile"].help)
print(options._PROFILES)
chosen = model.model_validate({"service": "smb1+nbipx", "profile": "toy-system", "stations": 7})
print(chosen.dialect, chosen.system_profile.message_bytes)
try:
    model.model_validate({"service": "smb1+nbipx", "profile": "toy-system", "stations": 8})
except ValueError as error:
    print(error)
"""


def test_a_new_system_is_one_row(tmp_path: Path) -> None:
    """Its Rust side: `a_row_is_all_that_a_system_needs` of `crates/stack/src/systems.rs`."""
    package = tmp_path / "lanlab"
    package.mkdir()
    own = Path(lanlab.__file__).parent
    for each in own.iterdir():
        if each.name != "systems.json":
            (package / each.name).symlink_to(each)
    toy = {
        "title": "a toy",
        "years": [1984, 1989],
        "carrier": "nbipx",
        "dialect": "lanman1",
        "message_bytes": 1024,
        "sessions": 7,
    }
    rows = json.loads((own / "systems.json").read_text()) | {"toy-system": toy}
    (package / "systems.json").write_text(json.dumps(rows))
    done = subprocess.run(
        [sys.executable, "-c", _ASK, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    help_text, served, chosen, *refused = done.stdout.splitlines()
    assert "toy-system (a toy, 1984 to 1989, carrier nbipx)" in help_text
    assert "toy-system over nbipx" in served
    assert chosen == "lanman1 1024"
    assert "allowed: 1 to 7, the sessions of a toy" in "".join(refused)
