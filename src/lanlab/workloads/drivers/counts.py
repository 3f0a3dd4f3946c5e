"""Converts a program's counts to lanlab's keys."""

from __future__ import annotations

import re

from lanlab.errors import RunError
from lanlab.frozen import dataclass
from lanlab.workloads.drivers.base import Metrics, Output


@dataclass(frozen=True)
class StreamCounts:
    """A program's report of a stream. Values that it does not report are `None`."""

    goodput_bps: float
    sent_messages: int | None = None
    received_messages: int | None = None
    lost_messages: int | None = None
    sent_bps: float | None = None
    #: Including the warm-up, if any: the interval that CPU time covers.
    all_sent_messages: int | None = None
    all_received_messages: int | None = None

    def metrics(self, size_bytes: int, client: Output, server: Output) -> Metrics:
        metrics: Metrics = {
            "goodput_bps": self.goodput_bps,
            "received_messages_per_s": self.goodput_bps / 8 / size_bytes,
        }
        sent, received, lost = self.sent_messages, self.received_messages, self.lost_messages
        if sent is not None:
            # No program counts messages that it failed to send.
            metrics |= {"offered_messages": sent, "sent_messages": sent}
            metrics |= {"offered_bytes": sent * size_bytes, "sent_bytes": sent * size_bytes}
        if self.sent_bps is not None:
            metrics |= {"offered_bps": self.sent_bps, "sent_bps": self.sent_bps}
        if received is not None:
            metrics |= {"received_messages": received, "received_bytes": received * size_bytes}
            if lost is not None and received + lost > 0:
                metrics["lost_messages"] = lost
                metrics["loss_ratio"] = lost / (received + lost)
                metrics["received_ratio"] = received / (received + lost)
        all_sent = sent if self.all_sent_messages is None else self.all_sent_messages
        all_received = (
            received if self.all_received_messages is None else self.all_received_messages
        )
        metrics |= _cpu("sender", client.cpu_s, sent, all_sent, size_bytes)
        metrics |= _cpu("receiver", server.cpu_s, received, all_received, size_bytes)
        return metrics


def _cpu(
    end: str, cpu_s: float | None, messages: int | None, all_messages: int | None, size_bytes: int
) -> Metrics:
    if cpu_s is None:
        return {}
    if not messages or not all_messages:
        return {f"{end}_cpu_s": cpu_s}
    return {
        f"{end}_cpu_s": cpu_s * messages / all_messages,
        f"{end}_cpu_ns_per_message": 1e9 * cpu_s / all_messages,
        f"{end}_cpu_s_per_gb": 1e9 * cpu_s / (all_messages * size_bytes),
    }


def echo_cpu(client: Output, server: Output, share: float = 1.0) -> Metrics:
    """CPU time of an echo; `share`: measured round trips divided by all."""
    ends = {"requester_cpu_s": client.cpu_s, "responder_cpu_s": server.cpu_s}
    return {key: cpu_s * share for key, cpu_s in ends.items() if cpu_s is not None}


def required(pattern: str, text: str, program: str) -> re.Match[str]:
    """The last match of a pattern, line by line.

    Raises:
        RunError: Nothing matches.
    """
    found = None
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match
    if found is None:
        raise RunError(f"`{program}` printed no `{pattern}`; its last output: {last_line(text)}")
    return found


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing"


def assignments(text: str) -> dict[str, str]:
    """`key=value` lines; the last of equal keys wins."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def number(values: dict[str, str], key: str, program: str) -> float:
    """A number of `assignments`.

    Raises:
        RunError: It is missing, or not a number.
    """
    try:
        return float(values[key])
    except (KeyError, ValueError):
        found = values.get(key, "nothing")
        raise RunError(f"`{program}`: found {found} for `{key}`; allowed: a number") from None


def rate_bps(parameters: object) -> float | None:
    """The requested sending rate in bit/s of payload, from either rate parameter."""
    by_bits: float | None = getattr(parameters, "rate_bps", None)
    by_messages: float | None = getattr(parameters, "rate_messages_per_s", None)
    if by_messages is not None:
        size: int = parameters.message_size_bytes  # type: ignore[attr-defined]
        return 8 * size * by_messages
    return by_bits
