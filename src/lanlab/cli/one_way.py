"""One-way delays in words."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.units import format_time


def one_way_text(metrics: Mapping[str, float | int]) -> str | None:
    """
    The one-way delays of a trial with the bound of the clocks' difference.

    Returns:
        `None` where none was measured. A delay of no more than the bound could as well be none at
        all; that is said.
    """
    if "one_way_delay_p50_ns" not in metrics:
        return None
    error_ns = metrics["clock_error_ns"]
    shown = [
        f"{name} {format_time(metrics[f'one_way_delay_{key}_ns'] / 1e9)}"
        for name, key in (("min", "min"), ("p50", "p50"), ("p99", "p99"))
    ]
    text = ", ".join(shown)
    if error_ns == 0:
        return f"{text} (one clock)"
    text += f", each ± {format_time(error_ns / 1e9)} (clocks of two hosts)"
    if metrics["one_way_delay_p50_ns"] <= error_ns:
        text += "; the clocks are not known well enough to tell such delays"
    return text
