"""Counters of a station on Ethernet, in words."""

from __future__ import annotations

from collections.abc import Mapping

DISCARDED: Mapping[str, str] = {
    "malformed_frames": "malformed",
    "unknown_sap_frames": "for an unknown SAP",
    "unknown_frames": "not NetBIOS",
    "unknown_session_frames": "for no open session",
    "information_discarded": "out of order",
    "ignored": "out of place in LLC",
    "unreadable_packets": "unreadable",
    "wrong_checksums": "with a wrong checksum",
    "hops_exceeded": "past 16 routers",
    "other_address_packets": "for another network",
}
TROUBLES: Mapping[str, str] = {
    "information_sent_again": "sent again",
    "unsent_frames": "not taken by the interface",
    "kernel_drops": "dropped by the kernel",
    "dropped_answers": "answers dropped",
    "name_disputes": "claims of this station's name by another",
    "name_conflicts": "losses of this station's name to another",
    "crowded_out": "unfinished links and calls ended for others",
    "calls_refused": "calls refused for want of sessions",
    "errors_sent": "errors sent",
    "errors_received": "errors received",
    "rejects_sent": "REJ sent",
    "rejects_received": "REJ received",
    "not_ready_received": "RNR received",
    "t1_expiries": "expiries of T1",
    "acknowledged_unsent": "acknowledgements of unsent frames",
    "frame_rejects_sent": "FRMR sent",
    "frame_rejects_received": "FRMR received",
    "answered_again": "answers sent again",
    "working_received": "answers that the server works still",
    "network_disputes": "packets with another network number",
    "unrecorded_frames": "left out of the pcap file",
}
#: Metrics, each a sum of counters; those that a carrier does not count are omitted.
_METRICS: Mapping[str, tuple[str, ...]] = {
    "frames_sent": ("sent_frames",),
    "frames_received": ("received_frames",),
    "frames_sent_again": ("information_sent_again",),
    "frames_discarded": tuple(DISCARDED),
    "frames_lost_here": ("unsent_frames", "kernel_drops"),
    "rejects": ("rejects_sent", "rejects_received"),
    "t1_expiries": ("t1_expiries",),
}


def carrier_words(counted: Mapping[str, int]) -> str:
    """Frames of a station in one line; zeros are omitted."""
    received = counted["received_frames"] - counted["foreign_frames"]
    return "; ".join(
        [f"{counted['sent_frames']} frames sent, {received} received", *trouble_words(counted)]
    )


def trouble_words(counted: Mapping[str, int]) -> list[str]:
    """Lost, resent and discarded frames of a station; zeros are omitted."""
    # Records of earlier versions lack some counters.
    words = [f"{counted[key]} {what}" for key, what in TROUBLES.items() if counted.get(key)]
    return words + [
        f"{counted[key]} discarded ({what})" for key, what in DISCARDED.items() if counted.get(key)
    ]


def carrier_metrics(counted: Mapping[str, int] | None) -> dict[str, float | int]:
    """Frames of a station as numbers, with losses and retransmissions; empty without such a
    carrier.
    """
    if not counted:
        return {}
    found: dict[str, float | int] = {
        metric: sum(counted.get(key, 0) for key in keys)
        for metric, keys in _METRICS.items()
        if any(key in counted for key in keys)
    }
    # Frames for other stations do not count.
    found["frames_received"] -= counted["foreign_frames"]
    return found
