"""What limited a simulated trial, by the shares of its parts."""

from dataclasses import replace
from typing import Any

import pytest
from planned_runs import planned_run

from lanlab.analysis.simulation.limiting import cause_of, limiting
from lanlab.store import TrialRecord

SECOND = 1_000_000_000


def host(program_s: float = 0.0, **changed: Any) -> dict[str, Any]:
    counts = dict.fromkeys(
        ("interrupt_ns", "protocol_ns", "ring_dropped_frames", "queue_dropped_frames",
         "socket_dropped_datagrams", "received_frames"), 0,
    )  # fmt: skip
    return {**counts, "program_ns": int(program_s * SECOND), **changed}


def disk(busy_s: float, cache_misses: int, accesses: int) -> dict[str, int]:
    counts = {"cache_misses": cache_misses, "disk_accesses": accesses}
    return {"disk_busy_ns": int(busy_s * SECOND), **counts}


def port(offered_bytes: int, busy_s: float) -> dict[str, int]:
    return {"offered_bytes": offered_bytes, "busy_ns": int(busy_s * SECOND)}


def trial_of(
    hosts: list[Any],
    ports: list[Any],
    *roles: str,
    bus_busy_s: float = 0.0,
    work: dict[str, Any] | None = None,
    adapter_rate_ratio: float = 1.0,
    warmup_s: float | None = None,
    elapsed_s: float = 1.0,
) -> TrialRecord:
    trial = planned_run("manford-kolahi", "tiny").trials[0]
    world = {
        "hosts": hosts,
        "medium": ports,
        "bus_busy_ns": int(bus_busy_s * SECOND),
        "virtual_ns": SECOND,
    }
    machines = [{"adapter_rate_ratio": adapter_rate_ratio}, {"adapter_rate_ratio": 0.1}]
    request = {"world": {"machines": machines}, "work": work or {}}
    raw = {
        "setup": {"world": world, "requests": {"simulate": request}},
        **{role: {"elapsed_ns": int(elapsed_s * SECOND)} for role in roles},
    }
    parameters = {"warmup_s": warmup_s}
    return TrialRecord(**{**vars(trial), "raw": raw, "parameters": parameters})


def limited(hosts: list[Any], ports: list[Any], *roles: str, **more: Any) -> str:
    found = limiting(trial_of(hosts, ports, *roles, **more))
    assert found is not None
    return found


def test_a_download_that_saturates_a_switched_link_is_limited_by_the_wire() -> None:
    found = limited(
        [host(0.2), host(0.1)], [port(60_000, 0.03), port(1_200_000, 0.99)], "client", "server"
    )

    assert found == "wire"


def test_the_sender_of_a_download_is_the_server() -> None:
    found = limited(
        [host(1.0), host(0.1)], [port(60_000, 0.1), port(1_200_000, 0.3)], "client", "server"
    )

    assert found == "client's processor"


def test_the_sender_of_a_stream_is_its_first_host() -> None:
    found = limited(
        [host(0.99), host(0.5)], [port(1_200_000, 0.5), port(60_000, 0.1)], "sender", "receiver"
    )

    assert found == "sender's processor"


def test_a_shared_wire_counts_both_directions() -> None:
    ports = [port(600_000, 0.5), port(590_000, 0.46)]

    assert limited([host(), host()], ports, "sender", bus_busy_s=0.96) == "wire"
    assert limited([host(), host()], ports, "sender") == "window or waiting"


def lossy(program_s: float, lost: dict[str, int], interrupt_s: float = 0.0) -> dict[str, Any]:
    interrupts = {"interrupt_ns": int(interrupt_s * SECOND)}
    return host(program_s, received_frames=1000, **interrupts, **lost)


RING, QUEUE = {"ring_dropped_frames": 30}, {"queue_dropped_frames": 30}
SOCKET = {"socket_dropped_datagrams": 30, "ring_dropped_frames": 1}


@pytest.mark.parametrize(
    ("sender_s", "receiver", "wire_s", "work", "cause"),
    [
        (0.949, host(0.949), 0.949, {}, "window or waiting"),
        (0.2, host(0.2), 0.2, {"rate": 8000}, "sending rate"),
        (0.2, host(0.2), 0.2, {"rate_requests_per_s": 5}, "sending rate"),
        (0.95, host(0.2), 0.94, {"rate": 8000}, "sender's processor"),
        (0.2, host(0.95), 0.94, {}, "receiver's processor"),
        (0.96, host(0.99), 0.2, {}, "sender's processor"),
        # The busier of wire and sender, and the wire if they are equal.
        (0.95, host(0.99), 0.95, {}, "wire"),
        (0.97, host(0.2), 0.96, {}, "sender's processor"),
        # Up to one frame in a hundred lost is no cause.
        (0.96, lossy(0.2, {"ring_dropped_frames": 10}), 0.2, {}, "sender's processor"),
        (0.96, lossy(0.2, {"ring_dropped_frames": 11}), 0.2, {}, "receiver's ring"),
        (0.96, lossy(0.949, RING | {"queue_dropped_frames": 29}), 0.99, {}, "receiver's ring"),
        (0.96, lossy(0.2, RING | {"queue_dropped_frames": 31}), 0.2, {}, "receiver's queue"),
        (0.96, lossy(0.2, SOCKET), 0.2, {}, "receiver's socket buffer"),
        (0.96, lossy(0.95, QUEUE), 0.2, {}, "receiver's processor"),
        (0.96, lossy(0.475, QUEUE, 0.475), 0.2, {}, "receiver's processor"),
        (0.96, lossy(0.46, QUEUE, 0.49), 0.2, {}, "receiver's interrupts"),
    ],
)  # fmt: skip
def test_the_cause_of_a_stream_is_its_busiest_part_or_its_losses(
    sender_s: float, receiver: Any, wire_s: float, work: dict[str, Any], cause: str
) -> None:
    ports = [port(1_200_000, wire_s), port(60_000, 0.1)]

    assert limited([host(sender_s), receiver], ports, "sender", work=work) == cause


@pytest.mark.parametrize(
    ("clients", "server", "wire_s", "cause"),
    [
        ([host(0.1)], host(0.95), 0.2, "server's processor"),
        ([host(0.1)], host(0.949), 0.2, "mostly server's processor"),
        ([host(0.1), host(0.97)], host(0.3), 0.2, "client's processor"),
        ([host(0.1)], host(0.2, store=disk(0.4, 2, 4)), 0.3, "mostly server's disk"),
        ([host(0.1)], host(0.2, store=disk(0.96, 3, 4)), 0.3, "cache misses"),
        ([host(0.1)], host(0.2, store=disk(0.4, 3, 4)), 0.5, "mostly wire"),
        ([host(0.1, store=disk(0.1, 0, 1)), host(store=disk(0.5, 9, 9))], host(0.2), 0.3,
         "mostly client's disk"),
        ([host(0.1)], host(0.2, frozen_ns=SECOND // 2), 0.3, "mostly server that stood still"),
    ],
)  # fmt: skip
def test_the_cause_of_a_file_service_is_its_busiest_part(
    clients: list[Any], server: Any, wire_s: float, cause: str
) -> None:
    ports = [port(1_200_000, wire_s / 2), port(1_200_000, wire_s), port(100, 0.0)]

    assert limited([*clients, server], ports, "client", "server") == cause


def test_an_adapter_below_the_rate_of_its_link_fills_the_wire_earlier() -> None:
    hosts, ports = [host(0.2), host(0.3)], [port(10, 0.48), port(5, 0.1)]

    assert limited(hosts, ports, "client", "server") == "mostly wire"
    assert limited(hosts, ports, "client", adapter_rate_ratio=0.5) == "wire"


@pytest.mark.parametrize(
    ("wire_s", "receiver_s", "arrived", "cause"),
    [
        (0.2, 0.99, 0.99, "sending rate"),
        (0.2, 0.99, 0.98, "receiver's processor"),
        (0.99, 0.2, 1.0, "sending rate"),
        (0.99, 0.2, 0.98, "wire"),
    ],
)
def test_nothing_limits_a_paced_stream_of_which_all_arrives(
    wire_s: float, receiver_s: float, arrived: float, cause: str
) -> None:
    ports = [port(1_200_000, wire_s), port(60_000, 0.1)]
    trial = trial_of([host(0.2), host(receiver_s)], ports, "sender", work={"rate": 8000})
    assert limiting(replace(trial, metrics={"goodput_ratio": arrived})) == cause


def test_shares_are_of_the_time_in_which_data_was_sent() -> None:
    """Of a warm-up of 1 s and of 3 s that count."""
    hosts, ports = [host(3.7), host(0.1)], [port(10, 0.4), port(10, 0.1)]

    for role in ("sender", "requester"):
        for warmup_s, cause in ((0.0, "sender's processor"), (1.0, "window or waiting")):
            assert limited(hosts, ports, role, warmup_s=warmup_s, elapsed_s=3.0) == cause


def test_the_most_common_cause_of_simulated_trials_counts() -> None:
    ports = [port(1_200_000, 0.5), port(60_000, 0.1)]
    busy, idle = (trial_of([host(share), host()], ports, "sender") for share in (0.99, 0.1))
    real = replace(idle, raw={"setup": None})
    failed = replace(idle, status="failed")

    assert limiting(real) is limiting(failed) is None
    assert cause_of([real, idle, failed, busy, failed, busy]) == "sender's processor"
    assert cause_of([real, failed]) is None
