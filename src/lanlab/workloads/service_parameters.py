"""What the workloads that use a file service share: the service, its server, and whom to trust."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from lanlab.errors import UsageError
from lanlab.services import services_of
from lanlab.workloads import copy_server as servers
from lanlab.workloads.drivers.registry import OWN
from lanlab.workloads.parameters import IpParameters, Seconds

#: The server that comes with the engine.
EMBEDDED = "embedded"


class ServiceParameters(IpParameters):
    """Parameters of a condition that has a file service."""

    #: By which service, of those that the workload can use. Of a `server` that is a URL: its own.
    service: str = "directory"
    #: `embedded`; a real server that lanlab starts, by name or as `installed` (the first for the
    #: service that is here); or the URL of one that is there.
    server: str = EMBEDDED
    #: Where files are at a server that lanlab starts.
    server_medium: Literal["tmpfs", "disk"] = "disk"
    #: Of an operation, after faults that may pass.
    retries: int = Field(default=2, ge=0, le=100)
    timeout_s: Seconds = Field(default=30.0, ge=0.001, le=600)
    #: Whom to take for the server of a URL: `sha256:…`, or a file.
    trust: str | None = None

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
