"""
Live lines: the results of each interval during a measurement.

An engine reports progress four times a second (twice over a network). A line ends with the first
report after the interval, and has the report's exact times.
"""

from __future__ import annotations

import json
import signal
import threading
from typing import Any

from lanlab.cli.live_option import LiveOption
from lanlab.cli.terminal import say, talk
from lanlab.plan import PlannedTrial
from lanlab.units import format_rate, format_size, format_time
from lanlab.workloads import WORKLOADS, Progress

DEFAULT_INTERVAL_S = 1.0
#: Shorter trials have live lines only if requested.
_SHORTEST_S = 2.0
#: How early an engine's report may come, seconds.
_EARLY_S = 0.002


class LiveLines:
    def __init__(self, option: LiveOption) -> None:
        self._option = option
        self._interval_s = DEFAULT_INTERVAL_S if option.interval_s is None else option.interval_s
        self._is_on = False
        self._last = Progress(0.0, 0, 0, 0)
        self._next_s = 0.0
        self.problem: OSError | None = None

    @property
    def is_on(self) -> bool:
        return self._is_on

    @property
    def has_texts(self) -> bool:
        """Whether lines are text, for which a heading names the trial."""
        return self._is_on and not self._option.is_json

    def begin(self, trial: PlannedTrial) -> None:
        is_wanted = self._option.is_json or self._option.interval_s is not None
        is_long = trial.expected_time_s > _SHORTEST_S and talk().is_terminal
        self._is_on = bool(self._interval_s) and (is_wanted or is_long) and self.problem is None
        self._last, self._next_s = Progress(0.0, 0, 0, 0), self._interval_s

    def progress(self, trial: PlannedTrial, now: Progress) -> None:
        if not self._is_on or now.elapsed_s < self._next_s - _EARLY_S:
            return
        found = interval_between(self._last, now)
        found["is_warmup"] = now.elapsed_s <= float(trial.parameters.get("warmup_s") or 0.0)
        self._last = now
        while self._next_s <= now.elapsed_s + _EARLY_S:
            self._next_s += self._interval_s
        if self._option.is_json:
            line = {"type": "interval", "trial": trial.number, **found}
            self._write(json.dumps(line, allow_nan=False))
        else:
            say(live_text(trial.workload, found))

    def _write(self, line: str) -> None:
        """Write a line. Errors must not reach the caller, which reads from the engine."""
        try:
            print(line, flush=True)
        except OSError as error:
            self.problem, self._is_on = error, False
            if isinstance(error, BrokenPipeError):
                say("note: standard output was closed, so the run is ended")
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def interval_between(before: Progress, now: Progress) -> dict[str, Any]:
    """
    The results between two reports of an engine.

    Returns:
        `start_s`, `end_s`, `bytes`, `messages`, `rate_bps`; for UDP `expected_messages`,
            `lost_messages` (negative if delayed messages arrive) and `delay_variation_ns`; for TCP
            `retransmitted_segments`, and at the end of the interval `congestion_window_bytes` and
            `round_trip_ns`; the same for a second direction in `reverse`.
    """
    length_s = now.elapsed_s - before.elapsed_s
    octets, messages = now.bytes - before.bytes, now.messages - before.messages
    found: dict[str, Any] = {
        "start_s": before.elapsed_s,
        "end_s": now.elapsed_s,
        "bytes": octets,
        "messages": messages,
        "rate_bps": 8 * octets / length_s if length_s > 0 else 0.0,
    }
    if now.expected_messages is not None:
        expected = now.expected_messages - (before.expected_messages or 0)
        found |= {"expected_messages": expected, "lost_messages": expected - messages}
    if now.delay_variation_ns is not None:
        found["delay_variation_ns"] = now.delay_variation_ns
    if now.tcp is not None:
        earlier = (before.tcp or {}).get("retransmitted_segments", 0)
        found["retransmitted_segments"] = now.tcp["retransmitted_segments"] - earlier
        for key in ("congestion_window_bytes", "round_trip_ns"):
            found[key] = now.tcp[key]
    if now.reverse is not None:
        found["reverse"] = interval_between(before.reverse or Progress(0.0, 0, 0, 0), now.reverse)
    return found


def live_text(workload: str, found: dict[str, Any]) -> str:
    """
    Format the results of an interval as a line.

    Examples:
        >>> live_text("stream", {"start_s": 0.0, "end_s": 1.0, "rate_bps": 9.57e6, "messages": 831,
        ...     "expected_messages": 840, "lost_messages": 9, "delay_variation_ns": 34_000})
        '    0.00-1.00 s  9.57 Mbit/s, lost 9 of 840 (1.07 %), delay varies by 34.0 µs'
    """
    times = f"{found['start_s']:.2f}-{found['end_s']:.2f}".rjust(13) + " s"
    parts = [format_rate(found["rate_bps"])]
    counted = WORKLOADS[workload].counted
    if "expected_messages" in found:
        expected, lost = found["expected_messages"], max(0, found["lost_messages"])
        share = 100 * lost / expected if expected > 0 else 0.0
        parts.append(f"lost {lost} of {expected} ({share:.3g} %)")
    elif counted:
        parts.append(f"{found['messages']} {counted}")
    if "delay_variation_ns" in found:
        parts.append(f"delay varies by {format_time(found['delay_variation_ns'] / 1e9)}")
    if "retransmitted_segments" in found:
        parts.append(f"{found['retransmitted_segments']} retransmitted")
        parts.append(f"window {format_size(found['congestion_window_bytes'])}")
        parts.append(f"round trip {format_time(found['round_trip_ns'] / 1e9)}")
    if found.get("is_warmup"):
        parts.append("warm-up")
    text = f"{times}  {', '.join(parts)}"
    if "reverse" in found:
        back = live_text(workload, found["reverse"]).partition("s  ")[2]
        text += f" | reverse {back}"
    return text
