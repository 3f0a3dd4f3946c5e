"""The speed of the adapter that leads to a host."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from pathlib import Path

from lanlab.store import TrialRecord
from lanlab.trial_data import facts_of


def adapter_bps(
    host: str, trials: Sequence[TrialRecord], network: Path = Path("/sys/class/net")
) -> float | None:
    """The speed of the Ethernet adapter that leads to a host; `None` if unknown."""
    with contextlib.suppress(OSError, UnicodeError):
        family, *_, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Connecting a datagram socket sends no packet.
            probe.connect(address)
            own = probe.getsockname()[0]
        for trial in trials:
            for seen in facts_of(trial.raw).get("before", {}).get("hosts", {}).values():
                for name, found in seen["interfaces"].items():
                    if own in found["addresses"] and (network / name / "device").exists():
                        return found["speed_bps"]
    return None
