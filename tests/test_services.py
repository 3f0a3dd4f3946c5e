"""The table of file services: one row for each, and nothing else to be told of a new one."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from pydantic import ValidationError

from lanlab.cli.copy_places import Endpoints, endpoints
from lanlab.errors import UsageError
from lanlab.figures.wording import level_text
from lanlab.services import SERVICES, Service, schemes, services_of
from lanlab.studies import load_study
from lanlab.testbeds.servers import SERVERS
from lanlab.workloads import WORKLOADS
from lanlab.workloads.copy_server import parse_url


def test_the_table_has_the_services_of_the_engine() -> None:
    """Where it lacks one, or has one too many, a request would be refused in mid-run."""
    schema = json.loads(files("lanlab.engine").joinpath("schema.json").read_text())
    known = schema["$defs"]["ServiceKind"]["oneOf"]
    assert {each["const"] for each in known} == {one.engine_name for one in SERVICES.values()}


def test_what_servers_serve_is_in_the_table() -> None:
    assert {name for server in SERVERS.values() for name in server.services} <= set(SERVICES)


def test_no_scheme_is_of_two_services() -> None:
    given = [scheme for one in SERVICES.values() for scheme in (one.name, *one.schemes)]
    assert len(given) == len(set(given))


def test_a_row_is_all_that_a_new_service_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside its client and server in the engine: URLs, parameters, the command line and texts
    have it from there."""
    with pytest.raises(UsageError, match="no such file service"):
        parse_url("gopher://nas/files")
    # Their help is made when they are imported.
    kinds = {name: WORKLOADS[name] for name in ("copy", "stations")}
    row = Service("gopher", "Gopher", 70, schemes=("goph",), has_users=False)
    monkeypatch.setitem(SERVICES, "gopher", row)  # type: ignore[misc]

    assert schemes()["goph"] is row
    url = parse_url("goph://guest@nas/files")
    assert (url.service, url.usual_port, url.directory) == ("gopher", 70, "files")
    assert not url.needs_password
    for name, kind in kinds.items():
        assert "gopher" in services_of(name)
        parameters = kind.Parameters.model_validate({"service": "gopher"})
        assert kind.carried_bits(parameters) > 0
        by_url = kind.Parameters.model_validate({"server": "gopher://nas/"})
        assert by_url.model_dump()["service"] == "gopher"
    found = endpoints("mixed", (), "gopher", None, download=False)
    found.check_link("100M")
    assert found.parameters["service"] == "gopher"
    assert level_text(load_study("schomer-claason").study, "service", "gopher") == "Gopher"


def test_a_service_that_no_link_carries_is_refused_with_one() -> None:
    with pytest.raises(UsageError, match="`memory` uses no link"):
        Endpoints({"service": "memory"}).check_link("1G")


def test_a_service_that_a_workload_does_not_have_is_refused_with_those_that_it_has() -> None:
    """`memory` measures lanlab's stations; there is nothing to copy to."""
    WORKLOADS["stations"].Parameters.model_validate({"service": "memory"})
    with pytest.raises(ValidationError, match="found `memory`; allowed: directory, ftp, "):
        WORKLOADS["copy"].Parameters.model_validate({"service": "memory"})


def test_a_new_password_is_another_each_time_and_fits_what_lm_can_hold() -> None:
    """LM has 14 characters, in one case."""
    for service in SERVICES.values():
        one, other = service.new_password(), service.new_password()
        assert one != other
        if service.dialects:
            assert len(one) == 14 and one == one.lower()
