"""Peers of streams that speak iperf3's protocol, for `counterparts.py`."""

from __future__ import annotations

from collections.abc import Callable

from counterpart_base import HOST, Launch, Place, Row, crate, debian_version, installed


def _server(program: str) -> Callable[[Place], Launch]:
    def launch(place: Place) -> Launch:
        argv = [place.program(program), "-s", "-B", HOST, "-p", str(place.port)]
        return Launch(argv, place.url(user=None))

    return launch


_ONE = ("iperf3",)

ROWS = (
    Row("iperf3", debian_version("iperf3"), installed("iperf3", "iperf3"), _ONE, _server("iperf3")),
    Row("riperf3", "0.8.0", crate("riperf3-cli", "0.8.0"), _ONE, _server("riperf3")),
)
