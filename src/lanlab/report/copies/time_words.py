"""The reason for a time, in words: round trips, data, and the rest."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.units import format_rate, format_size, format_time


def explained_words(metrics: Mapping[str, float | int], count: float, octets: float = 0) -> str:
    """
    The time of each file or operation, explained.

    Args:
        metrics: As of `lanlab.workloads.explained_time`, with `elapsed_s`; several trials' means.
        count: Files or operations of each client, one after the other.
        octets: Bytes that each client copied.

    Examples:
        >>> own = {"waits": 30, "response_mean_s": 1e-3, "waiting_s": 0.03, "moving_s": 0.016,
        ...     "explained_ratio": 0.92, "elapsed_s": 0.05}
        >>> explained_words(own, 10, 160_000)
        '3 \N{MULTIPLICATION SIGN} 1.00 ms + 16.0 kB at 80.0 Mbit/s = 4.60 ms of 5.00 ms (92 %)'
    """
    if "explained_ratio" not in metrics or count <= 0:
        return ""
    waits = metrics["waits"] / count
    text = f"{waits:.3g} \N{MULTIPLICATION SIGN} {format_time(metrics['response_mean_s'])}"
    if octets and metrics["moving_s"] > 0:
        rate = format_rate(8 * octets / metrics["moving_s"])
        text += f" + {format_size(round(octets / count))} at {rate}"
    both_s = metrics["waiting_s"] + metrics["moving_s"]
    measured = f"{format_time(both_s / count)} of {format_time(metrics['elapsed_s'] / count)}"
    return f"{text} = {measured} ({100 * metrics['explained_ratio']:.0f} %)"
