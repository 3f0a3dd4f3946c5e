"""How far round trips and data explain the time of a copy, or of operations."""

from __future__ import annotations

from lanlab.messages import Exchanges


def explained_time(exchanges: Exchanges | None, clients: int, elapsed_s: float) -> dict[str, float]:
    """
    The time that clients waited for answers and moved data, as metrics; empty if unknown.

    A round trip counts with the mean response time of small requests. The data counts with the
    time in which requests moved it, less a response time for each round trip among them.

    Args:
        exchanges: Exchanges of all clients, from the engine.
        clients: Clients that worked in parallel.
        elapsed_s: The measured time.
    """
    if exchanges is None or exchanges["response_mean_ns"] is None or elapsed_s <= 0:
        return {}
    response_s = exchanges["response_mean_ns"] / 1e9
    waiting_s = exchanges["waits"] * response_s / clients
    in_data_s = exchanges["moving_waits"] * response_s
    moving_s = max(0.0, exchanges["moving_ns"] / 1e9 - in_data_s) / clients
    rest_s = elapsed_s - waiting_s - moving_s
    return {
        "waits": exchanges["waits"] / clients,
        "response_mean_s": response_s,
        "waiting_s": waiting_s,
        "moving_s": moving_s,
        "explained_ratio": max(0.0, 1 - abs(rest_s) / elapsed_s),
    }
