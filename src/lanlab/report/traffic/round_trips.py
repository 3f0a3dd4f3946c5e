"""What round trips mean over a link that is a token bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.analysis.run_data import RunData
from lanlab.analysis.wires import wire_of
from lanlab.figures.rtt_against_size import refill_ns
from lanlab.figures.wording import quantity
from lanlab.store import Level, TrialRecord


def round_trip_remark(data: RunData, trials: Sequence[TrialRecord]) -> str | None:
    """Caveats about the round trips of an echo; `None` if there are none."""
    link = wire_of(data.run)
    if link is None or not link.has_token_bucket or not trials:
        return None
    text = (
        "The link of this testbed is a token bucket. A lone frame passes it at once, without the "
        "transmission time of a wire, so round trips on an idle link show the hosts' software only."
    )
    closed = [t.parameters for t in trials if "rate_requests_per_s" not in t.parameters]
    if closed and all(p.get("transport") == "udp" for p in closed):
        largest: Mapping[str, Level] = max(closed, key=lambda p: int(p["message_size_bytes"]))
        size, ip_version = int(largest["message_size_bytes"]), int(largest["ip_version"])
        shown = quantity(data.study, "rtt_mean_ns")
        tokens = shown.text(refill_ns(link.rate_bps, size, ip_version), 3)
        wire = shown.text(link.idle_round_trip_ns(size, ip_version), 3)
        text += (
            " Here each request leaves as soon as the reply arrives, which empties the bucket. A "
            "round trip then lasts at least until there are tokens for one frame: "
            f"{tokens} for {size} bytes over IPv{ip_version}. On a wire, both frames would take "
            f"{wire}."
        )
    return text
