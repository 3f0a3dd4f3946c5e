"""What the workloads that use a file service share: the service, its server, and whom to trust."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import field_validator, model_validator

from lanlab.errors import UsageError
from lanlab.services import EMBEDDED, services_of
from lanlab.workloads import copy_server as servers
from lanlab.workloads.definitions import parameter
from lanlab.workloads.drivers.registry import OWN
from lanlab.workloads.parameters import DriverName, IpParameters, Seconds


class ServiceParameters(IpParameters):
    """Parameters of a condition that has a file service."""

    driver: DriverName = parameter(OWN, "Program that measures: only `lanlab`.", option=None)
    service: str = parameter(
        "directory",
        f"Service of a server that lanlab starts: {', '.join(services_of('copy'))}; for stations "
        "also memory, which shows the cost of measuring itself.",
        metavar="NAME",
    )
    server: str = parameter(
        EMBEDDED,
        "Server that lanlab starts: `embedded`, a real one by its name (`lanlab doctor` lists "
        "them), or `installed` for the first that is installed.",
        metavar="NAME",
    )
    server_medium: Literal["tmpfs", "disk"] = parameter(
        "disk", "Where a server that lanlab starts keeps files.", option=None
    )
    retries: int = parameter(2, "Retries per operation after a transient error.", ge=0, le=100)
    timeout_s: Seconds = parameter(30.0, "Time to wait for each server reply.", ge=0.001, le=600)
    trust: str | None = parameter(
        None,
        "Certificate or host key of the server, or a file of trusted ones. "
        "Default: those that this system trusts.",
        metavar="sha256:HEX|FILE",
    )

    @field_validator("service")
    @classmethod
    def _known_service(cls, service: str) -> str:
        allowed = services_of(cls.workload)
        if service not in allowed:
            raise ValueError(f"service: found `{service}`; allowed: {', '.join(allowed)}")
        return service

    @field_validator("driver")
    @classmethod
    def _own_driver(cls, driver: str) -> str:
        if driver != OWN:
            raise ValueError(f"driver: found `{driver}`; allowed: {OWN}")
        return driver

    @model_validator(mode="after")
    def _service_of_url(self) -> Self:
        if servers.is_url(self.server):
            try:
                url = servers.parse_url(self.server)
                servers.trust_of(url.service, self.trust)
            except UsageError as error:
                raise ValueError(error.message) from None
            # Frozen once it is checked; the service is the URL's to say.
            object.__setattr__(self, "service", url.service)
        elif self.trust is not None:
            raise ValueError("trust: found one for a server that lanlab starts; allowed: none")
        return self

    @property
    def is_users_server(self) -> bool:
        """Whether the server is one that was there before."""
        return servers.is_url(self.server)
