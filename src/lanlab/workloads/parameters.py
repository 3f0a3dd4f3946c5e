"""Parameters that `stream` and `echo` share, with units that a person can write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from lanlab.addresses import AddressFamily, ip_family
from lanlab.errors import UsageError
from lanlab.messages import Request, SocketOptions
from lanlab.units import parse_rate_bps, parse_share, parse_size_bytes, parse_time_s
from lanlab.workloads.definitions import Flag, Unit, parameter
from lanlab.workloads.drivers.registry import DRIVER_NAMES, DRIVERS, OWN
from lanlab.workloads.without_effect import FLOW_NEEDS, refuse_without_effect


def _read(parse: Callable[[str], object]) -> BeforeValidator:
    def read(value: object) -> object:
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


def _ports(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    first, dash, last = (part.strip() for part in value.partition("-"))
    numbers = [
        int(part) if re.fullmatch("[0-9]{1,5}", part) else 0 for part in (first, last or first)
    ]
    if not 1 <= numbers[0] <= numbers[1] <= MAX_PORT or (dash and not last):
        problem = ValueError(
            f"port: found `{value}`; allowed: 1 to {MAX_PORT}, or a range of these"
        )
        problem.add_note("write a range, e.g. `5201-5210`")
        raise problem
    return f"{numbers[0]}-{numbers[1]}" if dash else str(numbers[0])


RateBps = Annotated[int, _read(parse_rate_bps), Unit("RATE", "bit/s")]
SizeBytes = Annotated[int, _read(parse_size_bytes), Unit("SIZE", "B")]
Seconds = Annotated[float, _read(parse_time_s), Unit("TIME", "s")]
Ports = Annotated[str, BeforeValidator(_ports), Unit("PORT[-PORT]", "")]
Share = Annotated[float, _read(parse_share), Unit("SHARE", "")]


def _known_driver(name: str) -> str:
    if name not in DRIVER_NAMES:
        raise ValueError(f"driver: found `{name}`; allowed: {', '.join(DRIVER_NAMES)}")
    return name


DriverName = Annotated[str, AfterValidator(_known_driver)]

#: The largest UDP payload over IPv4: 65,535 bytes less the IP and UDP headers (RFC 768, RFC 791).
MAX_UDP_BYTES = 65_507
MAX_PORT = 65_535
#: Longest step of a trial, seconds.
YEAR_S = 366 * 86_400
MAX_TCP_BYTES = 16 * 2**20


class TrialParameters(BaseModel):
    # Built on first use: most are only parts of others.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    workload: ClassVar[str]

    driver: DriverName = parameter(
        OWN,
        "Measuring tool: `lanlab`, or e.g. `iperf3` (listed by `lanlab doctor`); several are used "
        "in random order.",
        option="--tool",
        metavar="NAME,...",
        simulated=[OWN],
    )

    @property
    def address_family(self) -> AddressFamily:
        # Every workload overrides this.
        raise NotImplementedError

    @property
    def data_direction(self) -> str | None:
        """Direction of a stream; `None` for workloads without a choice."""
        return None

    @property
    def sends_by_segmentation(self) -> bool:
        return False

    @property
    def other_server(self) -> str:
        """A server that is not lanlab's: a URL, a name or a file; empty without one."""
        return ""

    @property
    def is_users_server(self) -> bool:
        return False

    @property
    def simulated_clients(self) -> int:
        """Machines that send requests in a simulation."""
        return 1

    def socket_options(self) -> SocketOptions:
        return {}


def ip_version_parameter() -> Any:
    """The only definition of `ip_version`."""
    return parameter(
        4,
        "IP version.",
        option="--ip",
        flags=(
            Flag(("-4",), "4", "Use IPv4, like --ip 4."),
            Flag(("-6",), "6", "Use IPv6, like --ip 6."),
        ),
    )


class FlowParameters(TrialParameters):
    ip_version: Literal[4, 6] = ip_version_parameter()
    transport: Literal["udp", "tcp"] = parameter(
        "udp",
        "Transport protocol.",
        flags=(Flag(("-u",), "udp", "Use UDP, like --transport udp."),),
    )
    message_size_bytes: SizeBytes = parameter(
        1408,
        "Payload per message, e.g. 500 or 64KiB.",
        option="--size",
        short="-l",
        ge=1,
        le=MAX_TCP_BYTES,
    )
    warmup_s: Seconds = parameter(
        0.2,
        "Uncounted time before the measurement, e.g. 500ms. Default: 0.2 s, or what the tool "
        "allows.",
        ge=0,
        le=600,
    )
    nodelay: bool = parameter(False, "Set TCP_NODELAY.")
    congestion_control: str | None = parameter(
        None,
        "TCP congestion control, e.g. cubic; several, e.g. cubic,bbr, alternate between flows.",
        metavar="NAME,...",
        simulated=[None],
        pattern=r"^[a-z0-9_]{1,15}(,[a-z0-9_]{1,15}){0,15}$",
    )
    receive: Literal["block", "poll", "spin", "auto"] = parameter(
        "auto",
        "How to wait for messages: `block` (in the system call), `poll` (every 200 µs), `spin` "
        "(busy loop) or `auto` (by rate).",
    )
    timestamps: Literal["program", "kernel"] = parameter(
        "program", "Timestamp source.", simulated=["program"]
    )
    sender_processor: int | None = parameter(
        None, "CPU for the sending threads.", simulated=[None], ge=0, le=1023
    )
    receiver_processor: int | None = parameter(
        None, "CPU for the receiving threads.", simulated=[None], ge=0, le=1023
    )
    send_buffer_bytes: SizeBytes | None = parameter(
        None, "SO_SNDBUF at both ends.", ge=1024, le=2**30
    )
    receive_buffer_bytes: SizeBytes | None = parameter(
        None, "SO_RCVBUF at both ends.", ge=1024, le=2**30
    )
    dscp: int = parameter(0, "Differentiated Services code point.", simulated=[0], ge=0, le=63)
    port: Ports | None = parameter(
        None,
        "Receiving port, or a range to try, e.g. 5201-5210. UDP flows, a second direction and the "
        "echo of `load` use the next ports. Default: any free port.",
        simulated=[None],
    )
    silence_s: Seconds = parameter(
        3.0,
        "Give up on a peer that is silent for this time; over TCP, for twice this time plus 1 s.",
        option="--idle-timeout",
        ge=0.1,
        le=600,
    )

    @property
    def address_family(self) -> AddressFamily:
        return ip_family(self.ip_version)

    @property
    def longest_silence_s(self) -> float:
        """How long an engine waits for a silent peer: over TCP until the next retry after an outage
        of `silence_s` (`crates/workloads/src/path.rs`).
        """
        return 2 * self.silence_s + 1 if self.transport == "tcp" else self.silence_s

    @model_validator(mode="before")
    @classmethod
    def _warmup_of_driver(cls, given: object) -> object:
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
        return self.congestion_control.split(",") if self.congestion_control else []

    @model_validator(mode="after")
    def _driver_is_able(self) -> FlowParameters:
        if self.driver != OWN:
            problem = DRIVERS[self.driver].problem(self.workload, self)
            if problem is not None:
                raise ValueError(problem)
        return self

    def ports_for(self, listeners: int) -> str | None:
        """
        The ports of several ends that listen in turn, perhaps on one host.

        Args:
            listeners: Number of ports that they need together.

        Raises:
            ValueError: Too few ports follow the given one.
        """
        if self.port is None or "-" in self.port or listeners == 1:
            return self.port
        last = int(self.port) + listeners - 1
        if last > MAX_PORT:
            raise ValueError(
                f"port: found {self.port}; allowed with {listeners} ports in a row: up to "
                f"{MAX_PORT + 1 - listeners}"
            )
        return f"{self.port}-{last}"

    def listening_ports(self, listeners: int = 1) -> Request:
        """The ports of a request to listen; `listeners` as in `ports_for`."""
        ports = self.ports_for(listeners)
        if ports is None:
            return {"port": 0}
        first, _, last = ports.partition("-")
        return {"port": int(first), "last_port": int(last or 0)}

    def socket_options(self) -> SocketOptions:
        return {
            "nodelay": self.nodelay,
            "congestion_controls": self.congestion_controls,
            "send_buffer_bytes": self.send_buffer_bytes,
            "receive_buffer_bytes": self.receive_buffer_bytes,
            "dscp": self.dscp,
        }


def nanoseconds(time_s: float) -> int:
    """A time in seconds as whole nanoseconds."""
    return round(time_s * 1e9)
