"""The parameters of `stream`."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import model_validator

from lanlab.roles import BOTH, REVERSE
from lanlab.workloads.definitions import Flag, parameter
from lanlab.workloads.parameters import (
    MAX_TCP_BYTES,
    FlowParameters,
    RateBps,
    Seconds,
    Share,
    SizeBytes,
)
from lanlab.workloads.peers.peer import (
    MOST_FLOWS,
    MOST_STARTED_FLOWS,
    PROTOCOLS,
    check_ip_version,
    check_unused,
    parse_peer,
)
from lanlab.workloads.services.small_stack import (
    ADDRESS_HELP,
    MEMORY_HELP,
    PROFILE_HELP,
    check_small_stack,
    without_address,
)
from lanlab.workloads.without_effect import STREAM_NEEDS, refuse_without_effect

#: Parameters that have no effect on a stream with a peer, and so must keep their default. Of the
#: parameters for one end, only this end's have an effect.
_OF_LANLAB_AT_BOTH_ENDS = (
    *("port", "timestamps", "receiver_quota_ratio", "receiver_work_s", "receiver_rivals"),
)
_RATES = ("rate_bps", "rate_messages_per_s")
_OF_THE_SENDER = ("sender_processor", "io", "when_late")
_OF_THE_RECEIVER = ("receiver_processor", "receive", "read_bytes")


_OF_THE_SYSTEM = ("congestion_control", "dscp", "io", "receive", "read_bytes", "threads")


class StreamParameters(FlowParameters):
    """Parameters of one `stream` condition. Exactly one of time, bytes and messages is given; at
    most one of the two rates (neither: as fast as possible).
    """

    workload = "stream"

    time_s: Seconds | None = parameter(
        None, "Stop after this time, e.g. 3 or 250ms.", short="-t", ge=0.001, le=86_400
    )
    bytes: SizeBytes | None = parameter(
        None, "Stop after this much payload, e.g. 10MB.", short="-n", ge=1, le=2**50
    )
    messages: int | None = parameter(None, "Stop after this many messages.", ge=1, le=2**40)
    rate_bps: RateBps | None = parameter(
        None,
        "Total sending rate, e.g. 5M or 500kB/s. Default: as fast as possible.",
        ge=1,
        le=400_000_000_000,
    )
    rate_messages_per_s: float | None = parameter(
        None, "Sending rate, messages/s.", option="--message-rate", gt=0, le=100_000_000
    )
    flows: int = parameter(1, "Parallel flows.", short="-P", simulated=[1], ge=1, le=1000)
    traffic_direction: Literal["forward", "reverse", "both"] = parameter(
        "forward",
        "Direction: to the second host, to the first, or both at once.",
        option="--direction",
        simulated=["forward"],
        flags=(
            Flag(("-R", "--reverse"), "reverse", "Send from the second host to the first."),
            Flag(
                ("--bidirectional",),
                "both",
                "Send both ways at once; each direction has its own results.",
            ),
        ),
    )
    peer: str | None = parameter(
        None,
        "Host without lanlab: an iperf3 server (iperf3://nas), or a TCP service that reads, or "
        "writes with --reverse (tcp://old-pc:5001). `tcp` starts one on the second host.",
        metavar="URL",
    )
    stack: Literal["system", "small"] = parameter(
        "system",
        "TCP of this end: the system's, or lanlab's own (`small`), with its own address on "
        "--interface or the virtual LAN.",
        simulated=["system"],
    )
    stack_address: str | None = parameter(None, ADDRESS_HELP, metavar="ADDRESS")
    stack_profile: str | None = parameter(None, PROFILE_HELP, metavar="NAME")
    stack_memory_bytes: SizeBytes = parameter(200_000, MEMORY_HELP, ge=1_000, le=2**24)
    threads: int | None = parameter(
        None,
        "Threads at each end. Default: one per flow, at most one per CPU.",
        simulated=[None, 1],
        ge=1,
        le=64,
    )
    read_bytes: SizeBytes = parameter(
        1_048_576,
        "Buffer size of each read call (TCP), e.g. 64KiB.",
        option="--read-size",
        ge=1,
        le=MAX_TCP_BYTES,
    )
    when_late: Literal["catch_up", "skip"] = parameter(
        "catch_up",
        "What a sender behind schedule does: `catch_up` without a burst, or `skip` late messages.",
        option="--on-late",
    )
    drain_s: Seconds = parameter(
        0.5,
        "Time to wait for late messages at the end (UDP); later ones count as lost.",
        ge=0,
        le=60,
    )
    receiver_quota_ratio: Share | None = parameter(
        None,
        "Slow the receiver: CPU share per receiving thread, e.g. 50%.",
        hidden=True,
        simulated=[None],
        ge=0.01,
        le=1,
    )
    receiver_work_s: Seconds = parameter(
        0,
        "Slow the receiver: processing time added per message, e.g. 5us.",
        hidden=True,
        simulated=[0],
        ge=0,
        le=1,
    )
    receiver_rivals: int = parameter(
        0,
        "Slow the receiver: competing busy threads per receiving thread.",
        hidden=True,
        simulated=[0],
        ge=0,
        le=16,
    )
    io: Literal["single", "batch", "segment", "auto"] = parameter(
        "auto",
        "I/O mode: one message per call (`single`), many (`batch`), UDP segmentation offload "
        "(`segment`), or by transport and rate (`auto`).",
        simulated=["auto", "single"],
    )
    interval_s: Seconds = parameter(
        0.1, "Interval of the goodput series.", option=None, ge=0.01, le=60
    )

    @model_validator(mode="after")
    def _amount_and_rate(self) -> StreamParameters:
        given = [k for k in ("time_s", "bytes", "messages") if getattr(self, k) is not None]
        if len(given) != 1:
            raise ValueError(
                f"need exactly one of time_s, bytes, messages; got {', '.join(given) or 'none'}"
            )
        if self.rate_bps is not None and self.rate_messages_per_s is not None:
            raise ValueError("give either rate_bps or rate_messages_per_s")
        per_s = self.rate_messages_per_s or (self.rate_bps or 0) / (8 * self.message_size_bytes)
        if per_s and (self.time_s or math.inf) * per_s < 1:
            raise ValueError(
                f"time_s: found {self.time_s:g} s; allowed at "
                f"{8 * self.message_size_bytes * per_s:g} bit/s: the time of a message, "
                f"{1 / per_s:.3g} s, or longer"
            )
        if self.io == "segment" and self.transport == "tcp":
            raise ValueError("io `segment` applies to udp; tcp takes single, batch or auto")
        refuse_without_effect(self, STREAM_NEEDS)
        if self.peer is not None:
            check_peer(self)
        self.ports_for(self.listeners)
        return self

    @property
    def listeners(self) -> int:
        """Ports that both directions need together, because both may listen on one host; 1 if there
        is one direction, whose other flows use the ports that follow.
        """
        each = self.flows if self.transport == "udp" else 1
        return 2 * each if self.traffic_direction == BOTH else 1

    @property
    def data_direction(self) -> str:
        return self.traffic_direction

    @property
    def sends_by_segmentation(self) -> bool:
        return self.io == "segment"

    @property
    def has_rate(self) -> bool:
        """Whether the sender keeps a schedule; otherwise it sends as fast as possible."""
        return self.rate_bps is not None or self.rate_messages_per_s is not None


def _check_small_stack(parameters: StreamParameters) -> None:
    """
    Raises:
        ValueError: The small stack has no address, or cannot run the condition.
    """
    assert parameters.peer is not None
    if parameters.stack_address is None and not parse_peer(parameters.peer).is_started:
        raise without_address()
    profile, address = parameters.stack_profile, parameters.stack_address
    check_small_stack(profile, address, parameters.ip_version, parameters.socket_options())
    check_unused(parameters, _OF_THE_SYSTEM, "stack `small`")


def check_peer(parameters: StreamParameters) -> None:
    """
    Refuse conditions that a stream with this peer cannot have.

    Raises:
        ValueError: The peer does not support the direction or transport, or ignores a parameter.
    """
    assert parameters.peer is not None
    peer = parse_peer(parameters.peer)
    known = PROTOCOLS[peer.protocol]
    for key, allowed in (("transport", known.transports), ("traffic_direction", known.directions)):
        found = getattr(parameters, key)
        if found not in allowed:
            raise ValueError(
                f"a peer `{peer.protocol}://` needs {key} {' or '.join(allowed)}; found {found}"
            )
    check_ip_version(peer, parameters)
    most_flows = MOST_STARTED_FLOWS if peer.is_started else MOST_FLOWS
    if parameters.flows > most_flows:
        raise ValueError(f"flows: found {parameters.flows}; allowed with a peer: 1 to {most_flows}")
    unused: tuple[str, ...] = ("receiver_processor",)
    if parameters.traffic_direction == REVERSE:
        # An iperf3 server obeys the rate in the client's request.
        unused = (*_OF_THE_SENDER, *(() if peer.protocol == "iperf3" else _RATES))
    elif parameters.traffic_direction != BOTH:
        unused = _OF_THE_RECEIVER
    check_unused(parameters, (*_OF_LANLAB_AT_BOTH_ENDS, *unused))
    if parameters.stack == "small":
        _check_small_stack(parameters)
