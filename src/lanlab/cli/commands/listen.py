"""`lanlab listen`: the protocols and stations on a segment."""

from __future__ import annotations

from pathlib import Path

from lanlab.cli.options.shared import JsonOption, flag, option
from lanlab.cli.terminal.remarks import deliver
from lanlab.units import time_of


def listen(
    interface: str = option(
        "--interface", "NAME", "Ethernet interface to listen on.", ..., show_default=False
    ),
    time: str = option("--time", "TIME", "Stop after this time.", "60s"),
    frames: int = option(
        "--frames", "NUMBER", "Stop after this many frames.", 10_000_000, min=1, max=1_000_000_000
    ),
    pcap: str | None = option(
        "--pcap", "FILE", "Write every frame to a new pcap file (Wireshark)."
    ),
    allow_default_route: bool = flag(
        "--allow-default-route", "Allow an interface that has the default route."
    ),
    as_json: JsonOption = False,
) -> None:
    """List the protocols and stations on a network segment; sends nothing.

    Lists protocols with their framing (Ethernet II, raw 802.3, 802.2, SNAP, 3Com), stations,
    NetBIOS names, servers, and unanswered queries. Stops after --time or --frames, or at Ctrl-C,
    and then prints the list.

    Needs root on Linux to open the socket; an unprivileged process reads the frames.

    Examples: sudo lanlab listen --interface eth1;
    sudo lanlab listen --interface eth1 --time 5min --pcap heard.pcap --json
    """
    from lanlab.performers.listening import listen as heard_on
    from lanlab.report.traffic.listen_text import heard_document
    from lanlab.testbeds.pcap import check_pcap
    from lanlab.testbeds.raw_links import check_interface

    longest_s = time_of("--time", time)
    check_interface(interface, allow_default_route=allow_default_route, sends=False)
    file = None if pcap is None else check_pcap(Path(pcap))
    deliver(heard_document(heard_on(interface, longest_s, frames, file)), as_json)
