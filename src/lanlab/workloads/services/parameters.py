"""
Parameters of all workloads that use a file service: the service, its server, and whom to trust.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

from pydantic import create_model, field_validator, model_validator

from lanlab.addresses import AddressFamily, ip_family
from lanlab.errors import UsageError
from lanlab.ipx import FRAMING_HELP, NETWORK_HELP, Framing, network_text
from lanlab.messages import Target
from lanlab.service_options import OPTIONS, ServiceOption
from lanlab.services import (
    CARRIERS,
    EMBEDDED,
    PROFILES,
    SERVICES,
    USUAL_CARRIER,
    SystemProfile,
    carried_by,
    frame_carriers_of,
    services_with_files,
)
from lanlab.workloads.definitions import parameter
from lanlab.workloads.drivers.registry import OWN
from lanlab.workloads.parameters import (
    MAX_PORT,
    DriverName,
    Seconds,
    TrialParameters,
    ip_version_parameter,
)
from lanlab.workloads.services import server_url
from lanlab.workloads.without_effect import SERVICE_NEEDS, refuse_without_effect

#: What the workload uses if no server is given.
_WITHOUT_SERVER = ("directory", "memory")


def _carriers() -> str:
    framed = (
        f"{name} ({one.title}: {one.about})" for name, one in frame_carriers_of("smb1").items()
    )
    return ", ".join([USUAL_CARRIER, *framed])


class _ServedParameters(TrialParameters):
    ip_version: Literal[4, 6] | None = ip_version_parameter()
    driver: DriverName = parameter(
        OWN, "Measuring tool: only `lanlab`.", option=None, simulated=[OWN]
    )
    service: str = parameter(
        "directory",
        f"Service of the server to start: {', '.join(services_with_files())}; for stations also "
        "memory.",
        metavar="NAME",
    )
    server: str = parameter(
        EMBEDDED,
        "Server to start: `embedded`, `installed`, a name from `lanlab doctor`, or a TOML file.",
        metavar="NAME",
    )
    carrier: str | None = parameter(
        None,
        f"Carrier of SMB 1: {_carriers()}. Default: the one in the service's name, e.g. nbf in "
        "`smb1+nbf`.",
        metavar="NAME",
    )
    ipx_framing: Framing = parameter("auto", FRAMING_HELP)
    ipx_network: str | None = parameter(None, NETWORK_HELP, metavar="NUMBER")


def option_fields(rows: Iterable[ServiceOption]) -> dict[str, object]:
    """Fields of a model for options of services."""
    return {
        row.key: (
            str | None if row.default is None else type(row.default),
            parameter(
                row.default,
                row.help,
                metavar=row.metavar,
                choices=() if callable(row.values) else row.values,
                simulated=row.simulated,
            ),
        )
        for row in rows
    }


if TYPE_CHECKING:

    class _WithOptions(_ServedParameters):
        """The options that Python itself reads."""

        dialect: str | None = None
        profile: str | None = None
        raw: bool = False
        signing: str | None = None
        wins: str | None = None
else:
    _WithOptions = create_model(
        "_WithOptions", __base__=_ServedParameters, **option_fields(OPTIONS.values())
    )


class ServiceParameters(_WithOptions):
    #: Whether the service must be able to store files.
    needs_files: ClassVar[bool] = True

    port: int | None = parameter(
        None,
        "Port of the built-in server; for FTP, the control port. Default: any free port.",
        simulated=[None],
        ge=1,
        le=MAX_PORT,
    )
    server_medium: Literal["tmpfs", "disk"] = parameter(
        "disk", "Where the built-in server keeps files.", option=None
    )
    retries: int = parameter(2, "Retries per operation after a transient error.", ge=0, le=100)
    timeout_s: Seconds = parameter(30.0, "Reply time-out.", ge=0.001, le=600)
    trust: str | None = parameter(
        None,
        "Certificate or host key of the server (also `SHA256:…` of ssh-keygen), or a file of "
        "trusted ones. Default: the system's trust store.",
        metavar="sha256:HEX|FILE",
    )

    @field_validator("service")
    @classmethod
    def _known_service(cls, service: str) -> str:
        allowed = services_with_files() if cls.needs_files else list(SERVICES)
        if service not in allowed:
            raise ValueError(f"service: found `{service}`; allowed: {', '.join(allowed)}")
        return service

    @field_validator("server")
    @classmethod
    def _whole_path(cls, server: str) -> str:
        return str(Path(server).absolute()) if server_url.is_server_file(server) else server

    @field_validator("driver")
    @classmethod
    def _own_driver(cls, driver: str) -> str:
        if driver != OWN:
            raise ValueError(f"driver: found `{driver}`; allowed: {OWN}")
        return driver

    @model_validator(mode="after")
    def _service_of_url(self) -> Self:
        if server_url.is_url(self.server):
            try:
                url = server_url.parse_url(self.server)
                if not SERVICES[url.service].has_identity:
                    # `trust` applies to other servers of the run; a study without one is refused.
                    object.__setattr__(self, "trust", None)
                server_url.trust_of(self.trust)
            except UsageError as error:
                raise ValueError(error.message) from None
            # Frozen after the check; the URL determines the service.
            object.__setattr__(self, "service", url.service)
            for key, value in url.options.items():
                given = getattr(self, key)
                if given not in (None, value):
                    raise ValueError(f"{key}: found `{given}`, but the URL has `{value}`")
                object.__setattr__(self, key, value)
        elif self.trust is not None:
            raise ValueError("trust has no effect here; it needs a URL")
        return self

    @model_validator(mode="after")
    def _known_server(self) -> Self:
        if self.server == EMBEDDED and not SERVICES[self.service].is_embedded:
            raise ValueError(
                f"service: lanlab cannot serve `{self.service}` itself; allowed: a URL, or server "
                "`installed`"
            )
        return self

    @model_validator(mode="after")
    def _known_carrier(self) -> Self:
        named = SERVICES[self.service]
        if self.carrier is not None and self.carrier not in CARRIERS:
            allowed = ", ".join(CARRIERS)
            raise ValueError(f"carrier: found `{self.carrier}`; allowed: {allowed}")
        carrier = self.carrier or named.carrier
        # A service name with a carrier determines the carrier.
        is_fixed = named.carrier != USUAL_CARRIER or self.is_users_server
        one = named if carrier == named.carrier else carried_by(self.service, carrier)
        if one is None or (is_fixed and one is not named):
            raise ValueError(
                f"carrier: service `{self.service}` does not run over `{carrier}`; allowed: "
                f"{named.carrier}"
            )
        if carrier != USUAL_CARRIER and not self.is_users_server and self.server != EMBEDDED:
            raise ValueError(
                f"carrier: only server `{EMBEDDED}` runs over `{carrier}`; found server "
                f"`{self.server}`"
            )
        # Frozen after the check; each determines the other.
        object.__setattr__(self, "service", one.name)
        if one.carrier != USUAL_CARRIER:
            object.__setattr__(self, "carrier", one.carrier)
        return self

    @model_validator(mode="after")
    def _known_options(self) -> Self:
        service = SERVICES[self.service]
        for row in OPTIONS.values():
            row.check(getattr(self, row.key), service)
        return self

    @model_validator(mode="after")
    def _dialect_fits(self) -> Self:
        dialects = SERVICES[self.service].dialects
        if self.profile is not None:
            dialect = PROFILES[self.profile].dialect
            if self.dialect not in (None, dialect):
                raise ValueError(
                    f"dialect: profile `{self.profile}` uses `{dialect}`; found `{self.dialect}`"
                )
            if self.requires_signatures or self.raw:
                key = "raw" if self.raw else "signing"
                raise ValueError(
                    f"{key} cannot be used with profile `{self.profile}`, which does not support it"
                )
            # Frozen after the check.
            object.__setattr__(self, "dialect", dialect)
        elif self.requires_signatures:
            if self.dialect not in (None, dialects[-1]):
                raise ValueError(
                    f"signing: `required` needs dialect `{dialects[-1]}`; found `{self.dialect}`"
                )
            if self.raw:
                raise ValueError(
                    "signing: `required` cannot be used with raw: raw transfers are unsigned"
                )
        return self

    @field_validator("ipx_network")
    @classmethod
    def _known_network(cls, network: str | None) -> str | None:
        try:
            return None if network is None else network_text(network)
        except ValueError as error:
            raise ValueError(f"ipx_network: {error}") from None

    @model_validator(mode="after")
    def _profile_has_effect(self) -> Self:
        refuse_without_effect(self, SERVICE_NEEDS)
        if not self.is_over_ip:
            # Frozen after the check; without IP there is no version.
            object.__setattr__(self, "ip_version", None)
        return self

    @property
    def address_family(self) -> AddressFamily:
        """The family of the hosts' addresses; without IP, IPv4 addresses that are not used."""
        return ip_family(self.ip_version or 4)

    @property
    def requires_signatures(self) -> bool:
        return self.signing == "required"

    @property
    def system_profile(self) -> SystemProfile | None:
        """The period system that both ends emulate."""
        return None if self.profile is None else PROFILES[self.profile]

    @property
    def is_over_ip(self) -> bool:
        return SERVICES[self.service].is_over_ip

    @property
    def has_port(self) -> bool:
        is_own = self.server == EMBEDDED and self.service not in _WITHOUT_SERVER
        return is_own and self.is_over_ip

    @property
    def has_netbios_name(self) -> bool:
        """Whether a server is found by a name that may be a NetBIOS name over TCP."""
        if not self.is_users_server:
            return False
        host = server_url.parse_url(self.server).host
        return self.ip_version == 4 and not server_url.is_address(host)

    @property
    def other_server(self) -> str:
        return "" if self.server == EMBEDDED else self.server

    @property
    def is_users_server(self) -> bool:
        return server_url.is_url(self.server)

    @property
    def uses_link(self) -> bool:
        """Whether a trial moves anything over the testbed's link."""
        return not (self.is_users_server or SERVICES[self.service].is_local)


def set_parts(target: Target) -> Target:
    """A server without the parts that are not set."""
    return cast("Target", {key: one for key, one in target.items() if one is not None})


def working_name(parameters: ServiceParameters) -> str:
    """A new name for a trial's directory that its server allows."""
    if SERVICES[parameters.service].has_short_names:
        return f"{secrets.token_hex(4)}.lab"
    return f"lanlab-{secrets.token_hex(6)}"
