"""The results of a copy's trial, as numbers."""

from __future__ import annotations

from typing import cast

from lanlab.messages import Exchanges
from lanlab.workloads.carrier_counts import carrier_metrics
from lanlab.workloads.metrics import FILE_CALLS, FILE_STATISTICS, time_metrics
from lanlab.workloads.outcome import TrialOutcome
from lanlab.workloads.processor_time import cpu_metrics, interrupt_metrics


def copy_metrics(outcome: TrialOutcome) -> dict[str, float | int]:
    """
    A trial's results.

    Args:
        outcome: The client's result is its engine's report of `copy`; the server's contains its
            `cpu_s`, `None` if unknown.
    """
    copied, server = outcome.results["client"], outcome.results.get("server") or {}
    elapsed_s, octets = copied["elapsed_ns"] / 1e9, copied["copied_bytes"]
    metrics: dict[str, float | int] = {
        "elapsed_s": elapsed_s,
        "elapsed_ns": copied["elapsed_ns"],
        "copied_files": copied["copied_files"],
        "copied_bytes": octets,
        "retries": copied["retries"],
        "faults": sum(copied["faults"].values()),
        "start_skew_ns": copied["start_skew_ns"],
        "connect_s": sum(copied["connect_ns"]) / len(copied["connect_ns"]) / 1e9,
        "stall_ratio": max((stall["time_ratio"] for stall in copied["stalls"]), default=0.0),
    }
    if elapsed_s > 0:
        metrics["goodput_bps"] = 8 * octets / elapsed_s
        metrics["files_per_s"] = copied["copied_files"] / elapsed_s
    exchanges = copied.get("exchanges")
    if exchanges is not None and copied["copied_files"] > 0:
        metrics["exchanges_per_file"] = exchanges["answered"] / copied["copied_files"]
    metrics |= explained_time(exchanges, len(copied["connect_ns"]), elapsed_s)
    metrics |= carrier_metrics(copied.get("carrier"))
    metrics |= _on_the_medium(outcome, octets)
    if (stack := copied.get("stack")) is not None:
        metrics["stack_held_bytes"] = stack["held_bytes"]
    metrics |= time_metrics("first_byte", copied["first_byte"], ("p50", "max"), "s")
    metrics |= time_metrics("file_time", copied["file_time"], FILE_STATISTICS, "s")
    operations = cast("dict[str, dict[str, object]]", copied["operations"])
    for operation in FILE_CALLS:
        metrics |= time_metrics(operation, operations[operation], ("p50", "p99"), "s")
    metrics |= cpu_metrics("client", copied["cpu"], outcome.capabilities("client"))
    if (cpu_s := server.get("cpu_s")) is not None:
        metrics["server_cpu_s"] = cpu_s
    if octets > 0:
        for end in ("client", "server"):
            if f"{end}_cpu_s" in metrics:
                metrics[f"{end}_cpu_s_per_gb"] = 1e9 * metrics[f"{end}_cpu_s"] / octets
    return metrics | interrupt_metrics(outcome, ("client",))


def _on_the_medium(outcome: TrialOutcome, octets: int) -> dict[str, float | int]:
    sent = (outcome.setup.get("medium") or {}).get("sent")
    if not sent:
        return {}
    frames, sent_bytes = (sum(own[key] for own in sent.values()) for key in ("frames", "bytes"))
    found: dict[str, float | int] = {"wire_frames": frames, "wire_bytes": sent_bytes}
    if octets > 0:
        found["wire_frames_per_kb"] = 1000 * frames / octets
        found["wire_bytes_per_byte"] = sent_bytes / octets
    return found


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
    return {
        "waits": exchanges["waits"] / clients,
        "response_mean_s": response_s,
        "waiting_s": waiting_s,
        "moving_s": moving_s,
        "explained_ratio": (waiting_s + moving_s) / elapsed_s,
    }
