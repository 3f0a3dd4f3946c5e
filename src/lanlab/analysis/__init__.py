"""Statistics and limits: tables in, tables out."""

from lanlab.analysis.limits import idle_round_trip_ns, tcp_limit_bps, udp_limit_bps, wire_bytes
from lanlab.analysis.summary import Summary, summarise

__all__ = [
    "Summary",
    "idle_round_trip_ns",
    "summarise",
    "tcp_limit_bps",
    "udp_limit_bps",
    "wire_bytes",
]
