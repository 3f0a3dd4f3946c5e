"""`lanlab peer`: the other end for clients of other programs."""

from __future__ import annotations

from lanlab.cli.options.shared import argument, flag, option
from lanlab.errors import of_name
from lanlab.units import of_option, parse_rate_bps, time_of


def peer(
    protocol: str = argument(
        "PROTOCOL", "iperf3 (TCP and UDP), or discard, echo or chargen (TCP).", ...
    ),
    address: str = option("--address", "ADDRESS", "Address to listen on.", "127.0.0.1"),
    port: int | None = option(
        "--port",
        "NUMBER",
        "Port; 0: any free port. Default: 5201 for iperf3, else 0.",
        min=0,
        max=65_535,
    ),
    clients: int = option("--clients", "NUMBER", "Concurrent clients.", 64, min=1, max=100),
    longest: str = option("--longest", "TIME", "Time limit per client.", "1h"),
    rate_limit: str | None = option(
        "--rate-limit", "RATE", "Rate limit per client and direction. Default: none."
    ),
    time: str | None = option("--time", "TIME", "Stop after this time. Default: run until Ctrl-C."),
    as_json: bool = flag("--json -J", "Print a JSON object for each client and a final one."),
) -> None:
    """Serve clients of iperf3, nc and other programs, until Ctrl-C.

    By default it listens on 127.0.0.1. When a client ends, it prints what the client sent and
    received, and at the end how evenly simultaneous clients were served.

    Examples: lanlab peer iperf3 --address 192.168.7.2 --clients 8 --rate-limit 100M;
    lanlab peer discard --address 192.168.7.2 --port 5001
    """
    from lanlab.cli.serving.peers import SERVED, serve_peers
    from lanlab.performers.peer_serving import WantedPeers

    within_s = None if time is None else time_of("--time", time, most="8760 h")
    # The peer of `stream --peer tcp://`, which only receives, is a discard server.
    name = "discard" if protocol == "tcp" else protocol
    served = of_name("protocol", name, SERVED)
    wanted = WantedPeers(
        name,
        address,
        served.port if port is None else port,
        clients,
        time_of("--longest", longest, "1 s"),
        None if rate_limit is None else of_option("--rate-limit", parse_rate_bps, rate_limit),
    )
    serve_peers(wanted, within_s, as_json=as_json)
