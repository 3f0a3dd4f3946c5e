"""Round-trip time against message size."""

from __future__ import annotations

from functools import partial

from lanlab.analysis.limits import udp_wire_bytes
from lanlab.analysis.wires import wire_of
from lanlab.figures.against_size import size_chart
from lanlab.figures.chart import Chart
from lanlab.figures.gather import FigureData


def rtt_against_size(data: FigureData) -> Chart:
    """Round-trip time against message size, a series for each level of the other factors."""
    link = wire_of(data.run)
    metric = data.metric("rtt_", "rtt_mean_ns")
    draw = partial(size_chart, data, metric)
    if link is None:
        return draw(None, "")
    if link.has_token_bucket:
        # A single frame passes a token bucket at once, so no wire limits these round trips.
        return draw(partial(refill_ns, link.rate_bps), "one frame's tokens", "guide")
    return draw(link.idle_round_trip_ns, "shortest on the wire")


def refill_ns(link_rate_bps: float, message_size_bytes: int, ip_version: int) -> float:
    """
    The time in which a token bucket gains the tokens for one message. A closed loop of requests
    soon empties the bucket, and then needs at least this time for each round trip. Both directions
    refill simultaneously, so it is about half of the time of both frames on a wire.

    Returns:
        Nanoseconds.

    Examples:
        >>> round(refill_ns(100e6, 1408, 4))
        117920
    """
    return 8e9 * udp_wire_bytes(message_size_bytes, ip_version) / link_rate_bps
