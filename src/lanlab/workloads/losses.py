"""Where the messages of a UDP stream were lost, from the counts of everyone on their way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanlab.workloads.outcome import CounterChanges

#: Keys of the places at which a message that the system took can be lost, in the order of the way.
LOST_ON_THE_WAY = (
    "lost_sender_queue_messages",
    "lost_link_messages",
    "lost_backlog_messages",
    "lost_socket_buffer_messages",
    "lost_late_messages",
)
#: Keys of everything that makes received fewer than offered; they add up to the difference.
NOT_RECEIVED = ("skipped_messages", "unsent_messages", "refused_messages", *LOST_ON_THE_WAY)


def lost_by_place(
    sent: Mapping[str, Any], received: Mapping[str, Any], changes: CounterChanges
) -> dict[str, int]:
    """
    The messages of the measured part that were sent and not received, by where they were lost.

    Args:
        sent, received: What both ends counted.
        changes: What the interfaces on their way counted meanwhile.

    Returns:
        Messages by the keys of `LOST_ON_THE_WAY`; they add up to sent - received. What arrived too
        late is known to the message. The kernel's counts are of drops since the measured part
        began (socket buffer) or of the whole trial (backlog, sender's queue), and can hold a few
        of the warm-up's and of the session's own messages: each is taken for no more than what is
        still unexplained, the most certain first. What nobody counted was lost on the link.
    """
    lost: int = sent["sent_messages"] - received["measured_messages"]
    left = lost

    def explained(count: int) -> int:
        nonlocal left
        taken = max(0, min(count, left))
        left -= taken
        return taken

    # A buffer of joined messages is dropped whole, and counted once.
    joined = sent["burst_messages"] if received["io"] == "segment" else 1
    late = explained(received["overdue_messages"])
    socket_buffer = explained((received["socket_dropped_datagrams"] or 0) * joined)
    # With the kernel's report each drop of the queue is a refusal, which was not counted as sent.
    queue = explained(changes.of("sender").get("qdisc_drops", 0) - sent["total_refused"])
    backlog = explained(_backlog_drops(received, changes))
    return {
        "lost_sender_queue_messages": queue,
        "lost_link_messages": left,
        "lost_backlog_messages": backlog,
        "lost_socket_buffer_messages": socket_buffer,
        "lost_late_messages": late,
    }


def _backlog_drops(received: Mapping[str, Any], changes: CounterChanges) -> int:
    """Packets dropped between the receiving interface and the protocols.

    The interface counts them as its own (`rx_dropped`), with what no protocol wanted; the kernel
    counts them as dropped from backlogs (softnet), with those of all other interfaces. Both know
    them, so the lesser count is the nearer.
    """
    counts = []
    if (host := received.get("host")) is not None:
        counts.append(int(host["softnet_dropped"]))
    if "rx_drops" in changes.of("receiver"):
        counts.append(changes.of("receiver")["rx_drops"])
    return min(counts, default=0)
