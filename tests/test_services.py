"""The table of file services: one row for each, and nothing else to be told of a new one."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import cast

import pytest
from pydantic import ValidationError, create_model
from schema_names import names_of

from lanlab.cli.help.groups import grouped
from lanlab.cli.places.copy_places import Endpoints, endpoints
from lanlab.errors import UsageError
from lanlab.figures.wording import level_text
from lanlab.performers.simulated import check_simulated
from lanlab.plan.conditions import expand
from lanlab.service_options import OPTIONS, ServiceOption, engine_options
from lanlab.services import CARRIERS, SERVICES, Carrier, Service, schemes, services_with_files
from lanlab.studies.load import load_study, parse_study
from lanlab.testbeds.servers import SERVERS
from lanlab.workloads import WORKLOADS
from lanlab.workloads.definitions import definitions
from lanlab.workloads.services.parameters import ServiceParameters, option_fields, working_name
from lanlab.workloads.services.server_url import parse_url


def test_the_table_has_the_services_of_the_engine() -> None:
    schema = json.loads(files("lanlab.engine").joinpath("schema.json").read_text())
    known = names_of(schema["$defs"]["ServiceKind"])
    assert set(known) == {one.engine_name for one in SERVICES.values()}


def test_every_served_service_is_in_the_table() -> None:
    assert {name for server in SERVERS.values() for name in server.services} <= set(SERVICES)


def test_each_scheme_belongs_to_one_service() -> None:
    given = [scheme for one in SERVICES.values() for scheme in (one.name, *one.schemes)]
    assert len(given) == len(set(given))


def test_a_new_service_needs_only_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no such file service"):
        parse_url("gopher://nas/files")
    # Their help is made when they are imported.
    kinds = [WORKLOADS[name] for name in ("copy", "stations")]
    row = Service("gopher", "Gopher", 70, schemes=("goph",), has_users=False)
    monkeypatch.setitem(SERVICES, "gopher", row)  # type: ignore[misc]

    assert schemes()["goph"] is row
    url = parse_url("goph://guest@nas/files")
    assert (url.service, url.usual_port, url.directory) == ("gopher", 70, "files")
    assert not url.needs_password
    assert "gopher" in services_with_files()
    for kind in kinds:
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


def test_an_unsupported_service_is_refused_with_the_supported_ones() -> None:
    WORKLOADS["stations"].Parameters.model_validate({"service": "memory"})
    with pytest.raises(ValidationError, match="found `memory`; allowed: directory, ftp, "):
        WORKLOADS["copy"].Parameters.model_validate({"service": "memory"})


def test_new_passwords_differ_and_fit_lan_manager() -> None:
    for service in SERVICES.values():
        one, other = service.new_password(), service.new_password()
        assert one != other
        assert one.isalnum(), "one that begins with `-` would be taken for an option"
        if service.most_password_characters is not None:
            assert len(one) == service.most_password_characters and one == one.lower()
    assert SERVICES["smb1+nbf"].most_password_characters == 14


def test_a_new_carrier_needs_only_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    carriers, services = cast(dict[str, Carrier], CARRIERS), cast(dict[str, Service], SERVICES)
    monkeypatch.setitem(carriers, "toy", Carrier("Toy", "frames of its own", "mac"))
    smb1 = SERVICES["smb1+nbf"]
    row = replace(smb1, name="smb1+toy", title="SMB 1 over the toy", carrier="toy")
    monkeypatch.setitem(services, "smb1+toy", row)

    url = parse_url("smb1+toy://SERVER/DATA?dialect=core")
    assert (url.service, url.share, url.usual_port) == ("smb1+toy", "DATA", 0)
    parameters = WORKLOADS["copy"].Parameters
    by_url = parameters.model_validate({"server": url.text, "raw": True})
    by_name = parameters.model_validate({"service": "smb1", "carrier": "toy"})
    for one in (by_url, by_name):
        assert isinstance(one, ServiceParameters)
        assert (one.service, one.carrier, one.is_over_ip) == ("smb1+toy", "toy", False)
        assert "ip_version" not in one.model_dump(exclude_none=True)
    with pytest.raises(ValidationError, match="ip_version has no effect"):
        parameters.model_validate({"server": url.text, "ip_version": 6})
    with pytest.raises(ValidationError, match="tcp_profile has no effect"):
        parameters.model_validate({"server": url.text, "tcp_profile": "nt4"})
    assert len(working_name(by_name)) == 12
    found = endpoints("mixed", (), "smb1+toy", None, download=False)
    assert found.parameters["service"] == "smb1+toy"


def test_a_new_option_needs_only_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    options = cast(dict[str, ServiceOption], OPTIONS)
    fast = ServiceOption("fast", "ncp", "Be fast.", default=False, simulated=(False,), topic="ipx")
    slow = ServiceOption("slow", "ncp", "Be slow.", values=("a", "b"), in_url=True)
    for row in (fast, slow):
        monkeypatch.setitem(options, row.key, row)
    base, fields = WORKLOADS["copy"].Parameters, option_fields([fast, slow])
    model = create_model("WithOptions", __base__=base, **fields)

    given = model.model_validate({"server": "ncp://FS1/SYS?slow=b", "fast": True})
    sent = engine_options(SERVICES["ncp"], given)
    assert sent == {"options": {"ncp": {"fast": True, "slow": "b"}}}
    assert engine_options(SERVICES["ncp"], model.model_validate({"service": "ncp"})) == {}
    with pytest.raises(ValidationError, match="fast has no effect here; it needs service `ncp`"):
        model.model_validate({"service": "smb1", "fast": True})
    with pytest.raises(ValidationError, match="slow: found `c`; allowed: a, b"):
        model.model_validate({"service": "ncp", "slow": "c"})
    with pytest.raises(UsageError, match="fast: found `True`; allowed on testbed `simulated`"):
        check_simulated(given)
    made = definitions(model)["fast"]
    assert (made.option, made.kind, made.help) == ("--fast", bool, "Be fast.")
    assert "fast" in grouped(definitions(model))["ipx"]


@pytest.mark.parametrize(("service", "name"), [("smb1", "Smb1Options"), ("ncp", "NcpOptions")])
def test_the_options_are_those_of_the_engine(service: str, name: str) -> None:
    schema = json.loads(files("lanlab.engine").joinpath("schema.json").read_text())
    rows = [row for row in OPTIONS.values() if row.service == service and row.in_engine]
    # `waits_on` is a number of a simulated machine.
    known = set(schema["$defs"][name]["properties"]) - {"waits_on"}
    assert {row.key for row in rows} == known


def test_the_table_lists_the_carriers_of_the_engine() -> None:
    schema = json.loads(files("lanlab.engine").joinpath("schema.json").read_text())
    assert [each["const"] for each in schema["$defs"]["Carrier"]["oneOf"]] == list(CARRIERS)


def test_an_ip_level_is_kept_if_another_service_has_no_ip() -> None:
    experiment = {
        "id": "copies",
        "title": "",
        "workload": "copy",
        "metrics": ["goodput_bps"],
        "parameters": {"dataset": "1x1kB"},
        "factors": {"ip_version": [4], "service": ["smb1", "smb1+nbf"]},
    }
    data = {"schema": 1, "id": "s", "title": "S", "experiment": [experiment], "scale": {"full": {}}}
    over_ip, without = expand(parse_study(data, "study.toml"), "full")
    assert [one.factors["ip_version"] for one in (over_ip, without)] == [4, 4]
    assert over_ip.parameters["ip_version"] == 4
    assert "ip_version" not in without.parameters
