"""Statistics and limits: tables in, tables out."""

from typing import TYPE_CHECKING

from lanlab.lazily import names_of

if TYPE_CHECKING:
    from lanlab.analysis.limits import idle_round_trip_ns, tcp_limit_bps, udp_limit_bps, wire_bytes
    from lanlab.analysis.summary import Summary, summarise
else:
    __getattr__ = names_of(
        __name__,
        {
            "limits": ("idle_round_trip_ns", "tcp_limit_bps", "udp_limit_bps", "wire_bytes"),
            "summary": ("Summary", "summarise"),
        },
    )

__all__ = [
    "Summary",
    "idle_round_trip_ns",
    "summarise",
    "tcp_limit_bps",
    "udp_limit_bps",
    "wire_bytes",
]
