"""Each number of an echo and of a copy under its own name, in its own unit, of its own end."""

from typing import Any

import pytest
from made_up_ends import CAPABLE, cpu, exchange_of, host_window

from lanlab.workloads import CounterChanges, TrialOutcome, workload
from lanlab.workloads.copy.results import copy_metrics
from lanlab.workloads.echo.workload import EchoParameters

_STATISTICS = ("mean", "sd", "min", "p1", "p50", "p90", "p99", "p999", "max")
_OPERATIONS = ("open", "read", "write", "sync", "close")


def times(first_ns: int) -> dict[str, Any]:
    told = {f"{name}_ns": first_ns + place for place, name in enumerate(_STATISTICS)}
    return {"samples": 1000, "histogram": "", **told}


def test_each_number_of_an_echo_has_its_own_name() -> None:
    counts = (
        "offered_requests", "requests", "replies", "timeouts", "late_replies",
        "duplicate_replies", "refused_requests", "foreign_datagrams", "start_skew_ns",
    )  # fmt: skip
    requested: dict[str, Any] = {name: 101 + place for place, name in enumerate(counts)}
    requested |= {"elapsed_ns": 3 * 10**9, "cpu": cpu(1_000, 2_000), "host": host_window()}
    requested |= {"sending_ns": 2 * 10**9, "sending_replies": 90}
    requested |= {"round_trip": times(1_000_000), "kernel_round_trip": times(500_000)}
    responded = {"cpu": cpu(5_000, 7_000), "host": host_window()}
    parameters = EchoParameters.model_validate({"message_size_bytes": 64, "time_s": 2})

    found = workload("echo").summarise(
        parameters, exchange_of(requested, responded), CounterChanges()
    )

    assert {name: found[name] for name in counts} == {name: requested[name] for name in counts}
    assert found["replies_per_s"] == 45
    assert (found["requester_cpu_s"], found["responder_cpu_s"]) == pytest.approx((3e-6, 12e-6))
    for place, name in enumerate(_STATISTICS):
        assert found[f"rtt_{name}_ns"] == 1_000_000 + place
        assert found[f"kernel_rtt_{name}_ns"] == 500_000 + place


def test_each_number_of_a_copy_has_its_own_name_in_seconds() -> None:
    copied = {
        "elapsed_ns": 4 * 10**9, "copied_bytes": 2 * 10**9, "copied_files": 8, "retries": 3,
        "faults": {"reset": 5, "stall": 6}, "start_skew_ns": 7, "connect_ns": [10**9, 3 * 10**9],
        "stalls": [{"time_ratio": 0.25}, {"time_ratio": 0.5}],
        "first_byte": times(10**6), "file_time": times(2 * 10**6),
        "operations": {name: times((3 + at) * 10**6) for at, name in enumerate(_OPERATIONS)},
        "cpu": cpu(10**9, 3 * 10**9), "host": host_window(),
    }  # fmt: skip
    results: dict[str, Any] = {"client": copied, "server": {"cpu_s": 6.0}}
    found = copy_metrics(TrialOutcome(results, {"capabilities": {"client": CAPABLE}}))

    expected = {
        "elapsed_s": 4.0, "elapsed_ns": 4 * 10**9, "copied_bytes": 2 * 10**9, "copied_files": 8,
        "goodput_bps": 4e9, "files_per_s": 2.0, "retries": 3, "faults": 11, "start_skew_ns": 7,
        "connect_s": 2.0, "stall_ratio": 0.5, "client_cpu_s": 4.0, "client_cpu_user_s": 1.0,
        "client_cpu_system_s": 3.0, "server_cpu_s": 6.0,
        "client_cpu_s_per_gb": 2.0, "server_cpu_s_per_gb": 3.0,
        "first_byte_p50_s": 0.001000004, "first_byte_max_s": 0.001000008,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    for name in ("mean", "p50", "p90", "p99", "max"):
        place = _STATISTICS.index(name)
        assert found[f"file_time_{name}_s"] == pytest.approx((2 * 10**6 + place) / 1e9, rel=1e-12)
    for at, operation in enumerate(_OPERATIONS):
        p50, p99 = (found[f"{operation}_{name}_s"] for name in ("p50", "p99"))
        base = (3 + at) * 10**6
        assert (p50, p99) == pytest.approx(((base + 4) / 1e9, (base + 6) / 1e9), rel=1e-12)
