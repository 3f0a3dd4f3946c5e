"""What limited a simulated trial, by the shares of its parts."""

from typing import Any

from planned_runs import planned_run

from lanlab.analysis.limiting import Limiting, limiting
from lanlab.store import TrialRecord

SECOND = 1_000_000_000


def host(program_s: float = 0.0, **changed: Any) -> dict[str, Any]:
    counts = dict.fromkeys(
        ("interrupt_ns", "protocol_ns", "ring_dropped_frames", "queue_dropped_frames",
         "socket_dropped_datagrams", "received_frames"), 0,
    )  # fmt: skip
    return {**counts, "program_ns": int(program_s * SECOND), **changed}


def port(offered_bytes: int, busy_s: float) -> dict[str, int]:
    return {"offered_bytes": offered_bytes, "busy_ns": int(busy_s * SECOND)}


def limited(hosts: list[Any], ports: list[Any], *roles: str, bus_busy_s: float = 0.0) -> Limiting:
    trial = planned_run("manford-kolahi", "tiny").trials[0]
    world = {
        "hosts": hosts,
        "medium": ports,
        "bus_busy_ns": int(bus_busy_s * SECOND),
        "virtual_ns": SECOND,
    }
    request = {"world": {"machines": [{"adapter_rate_ratio": 1.0}]}, "work": {}}
    raw = {
        "setup": {"world": world, "requests": {"simulate": request}},
        **{role: {"elapsed_ns": SECOND} for role in roles},
    }
    found = limiting(TrialRecord(**{**vars(trial), "raw": raw, "parameters": {}}))
    assert found is not None
    return found


def test_a_download_that_saturates_a_switched_link_is_limited_by_the_wire() -> None:
    found = limited(
        [host(0.2), host(0.1)], [port(60_000, 0.03), port(1_200_000, 0.99)], "client", "server"
    )

    assert (found.cause, found.wire_busy_ratio) == ("wire", 0.99)


def test_the_sender_of_a_download_is_the_server() -> None:
    found = limited(
        [host(1.0), host(0.1)], [port(60_000, 0.1), port(1_200_000, 0.3)], "client", "server"
    )

    assert found.cause == "client's processor"
    assert (found.sender_busy_ratio, found.receiver_busy_ratio) == (0.1, 1.0)


def test_the_sender_of_a_stream_is_its_first_host() -> None:
    found = limited(
        [host(0.99), host(0.5)], [port(1_200_000, 0.5), port(60_000, 0.1)], "sender", "receiver"
    )

    assert found.cause == "sender's processor"
    assert (found.sender_busy_ratio, found.receiver_busy_ratio) == (0.99, 0.5)


def test_a_shared_wire_counts_both_directions() -> None:
    ports = [port(600_000, 0.5), port(590_000, 0.46)]

    assert limited([host(), host()], ports, "sender", bus_busy_s=0.96).cause == "wire"
    assert limited([host(), host()], ports, "sender").cause == "window or waiting"
