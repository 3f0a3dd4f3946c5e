"""What the parameters of `stream` and `echo` have in common, with units a person can write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from lanlab.addresses import AddressFamily
from lanlab.errors import UsageError
from lanlab.units import parse_rate_bps, parse_share, parse_size_bytes, parse_time_s
from lanlab.workloads.drivers.registry import DRIVER_NAMES, DRIVERS, OWN
from lanlab.workloads.without_effect import FLOW_NEEDS, refuse_without_effect


def _unit(parse: Callable[[str], Any]) -> BeforeValidator:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except UsageError as error:
            problem = ValueError(error.message)
            if error.hint:
                problem.add_note(error.hint)
            raise problem from None

    return BeforeValidator(read)


RateBps = Annotated[int, _unit(parse_rate_bps)]
SizeBytes = Annotated[int, _unit(parse_size_bytes)]
Seconds = Annotated[float, _unit(parse_time_s)]
Share = Annotated[float, _unit(parse_share)]


def _known_driver(name: str) -> str:
    if name not in DRIVER_NAMES:
        raise ValueError(f"driver: found `{name}`; allowed: {', '.join(DRIVER_NAMES)}")
    return name


DriverName = Annotated[str, AfterValidator(_known_driver)]

#: The largest UDP payload over IPv4: 65,535 octets less the IP and UDP headers (RFC 768, RFC 791).
MAX_UDP_BYTES = 65_507
MAX_TCP_BYTES = 16 * 2**20


class TrialParameters(BaseModel):
    """Parameters of any workload."""

    # Built when it is used: most are only what others are made of.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    #: The workload that these are parameters of.
    workload: ClassVar[str]

    #: The program that measures: lanlab itself, or one of `lanlab.workloads.drivers`.
    driver: DriverName = OWN

    @property
    def address_family(self) -> AddressFamily:
        """Of the addresses by which the hosts reach each other."""
        raise NotImplementedError


class IpParameters(TrialParameters):
    """Parameters of any workload between hosts that have IP addresses."""

    ip_version: Literal[4, 6] = 4

    @property
    def address_family(self) -> AddressFamily:
        """That of the version of IP."""
        return "ipv4" if self.ip_version == 4 else "ipv6"


class FlowParameters(IpParameters):
    """Parameters of any workload that exchanges messages over UDP or TCP."""

    transport: Literal["udp", "tcp"] = "udp"
    message_size_bytes: SizeBytes = Field(default=1408, ge=1, le=MAX_TCP_BYTES)
    warmup_s: Seconds = Field(default=0.2, ge=0, le=600)
    nodelay: bool = False
    #: Of TCP; several, with commas between, are given to the flows in turn.
    congestion_control: str | None = Field(
        default=None, pattern=r"^[a-z0-9_]{1,15}(,[a-z0-9_]{1,15}){0,15}$"
    )
    #: How receivers wait for what comes next.
    receive: Literal["block", "poll", "spin", "auto"] = "auto"
    #: Which clock readings times are made of.
    timestamps: Literal["program", "kernel"] = "program"
    #: Processors that the threads of either end are bound to; absent: any.
    sender_processor: int | None = Field(default=None, ge=0, le=1023)
    receiver_processor: int | None = Field(default=None, ge=0, le=1023)
    send_buffer_bytes: SizeBytes | None = Field(default=None, ge=1024, le=2**30)
    receive_buffer_bytes: SizeBytes | None = Field(default=None, ge=1024, le=2**30)
    dscp: int = Field(default=0, ge=0, le=63)
    silence_s: Seconds = Field(default=3.0, ge=0.1, le=600)

    @model_validator(mode="before")
    @classmethod
    def _warmup_of_driver(cls, given: Any) -> Any:
        """A condition that names no warm-up gets one that its driver can leave out."""
        if not isinstance(given, dict) or given.get("warmup_s") is not None:
            return given
        found = DRIVERS.get(str(given.get("driver", OWN)))
        abilities = None if found is None else found.abilities().get(cls.workload)
        return given if abilities is None else {**given, "warmup_s": abilities.default_warmup_s}

    @model_validator(mode="after")
    def _transport_fits(self) -> FlowParameters:
        if self.transport == "udp":
            if self.message_size_bytes > MAX_UDP_BYTES:
                raise ValueError(
                    f"message_size_bytes {self.message_size_bytes} is above the largest UDP "
                    f"message ({MAX_UDP_BYTES})"
                )
            if self.congestion_control is not None:
                raise ValueError("congestion_control applies to tcp, not to udp")
        refuse_without_effect(self, FLOW_NEEDS)
        return self

    @property
    def congestion_controls(self) -> list[str]:
        """Those that flows take in turn; none: the system's."""
        return self.congestion_control.split(",") if self.congestion_control else []

    @model_validator(mode="after")
    def _driver_is_able(self) -> FlowParameters:
        if self.driver != OWN:
            problem = DRIVERS[self.driver].problem(self.workload, self)
            if problem is not None:
                raise ValueError(problem)
        return self

    def socket_options(self) -> dict[str, object]:
        """The socket options of a request to an engine."""
        return {
            "nodelay": self.nodelay,
            "congestion_controls": self.congestion_controls,
            "send_buffer_bytes": self.send_buffer_bytes,
            "receive_buffer_bytes": self.receive_buffer_bytes,
            "dscp": self.dscp,
        }


def nanoseconds(time_s: float) -> int:
    """Whole nanoseconds of a time in seconds."""
    return round(time_s * 1e9)
