"""A server for other programs' clients, until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lanlab.engine import Engine, engine_path
from lanlab.errors import EngineLost
from lanlab.frozen import dataclass
from lanlab.messages import Line, Result
from lanlab.performers.engine_host import CANCEL_S, EngineHost, cancel
from lanlab.workloads.peers.peer import MOST_STARTED_FLOWS

_SETUP_S = 20.0
_ENDS_WITHIN_S = CANCEL_S + 15.0
_LONGEST_NS = 86_400_000_000_000


@dataclass(frozen=True)
class WantedPeers:
    service: str
    address: str
    #: 0: any free port.
    port: int
    clients: int
    longest_s: float
    #: `None`: unlimited.
    rate_bps: int | None


class PeerServing:
    def __init__(self, ready: Line, over: threading.Event) -> None:
        self.port: int = ready["ports"][0]
        self._over = over
        self.done: Result | None = None

    def wait(self, within_s: float | None) -> bool:
        """Wait until the server has ended by itself; `False` if it has not within that time."""
        return self._over.wait(within_s)


@contextmanager
def serving_peers(wanted: WantedPeers, on_client: Callable[[Line], None]) -> Iterator[PeerServing]:
    """
    Serve within the `with` block; `PeerServing.done` has the totals afterwards.

    Args:
        on_client: Called with each client that has ended, from another thread.

    Raises:
        EngineError: It cannot listen there, or a limit is not allowed.
        EngineLost: The engine ended meanwhile.
    """
    with Engine("here", [engine_path()]) as engine:
        asked = engine.start(
            {
                "type": "peer_serve",
                "service": wanted.service,
                "bind": wanted.address,
                "port": wanted.port,
                "clients": wanted.clients,
                "longest_ns": round(wanted.longest_s * 1e9),
                "rate_bps": wanted.rate_bps,
            }
        )
        over = threading.Event()
        asked.on_data, asked.on_over = on_client, over.set
        served = PeerServing(asked.wait_ready(_SETUP_S), over)
        try:
            yield served
        finally:
            served.done = cancel(engine, asked, within_s=_ENDS_WITHIN_S)
        if engine.is_lost:
            raise EngineLost(engine.lost().message)


@contextmanager
def plain_peer(host: EngineHost, service: str) -> Iterator[int]:
    """
    A plain TCP service on a host within the `with` block; returns its port.

    Raises:
        EngineError: It cannot listen there.
    """
    request = {
        "type": "peer_serve",
        "service": service,
        "bind": host.address,
        "clients": MOST_STARTED_FLOWS,
        "longest_ns": _LONGEST_NS,
    }
    asked = host.engine.start(request)
    try:
        port: int = asked.wait_ready(_SETUP_S)["ports"][0]
        yield port
    finally:
        cancel(host.engine, asked, within_s=_ENDS_WITHIN_S)
