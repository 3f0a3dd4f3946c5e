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
#: Keys of the places on a link that lanlab's own medium carries, in the same order: counted by the
#: medium for each sending host. Trials on other links do not have them.
LOST_IN_THE_MEDIUM = (
    "lost_adapter_queue_messages",
    "lost_chance_messages",
    "lost_collisions_messages",
    "lost_switch_queue_messages",
)
#: What counts each of them, of the sending host: before the adapter its interface, or the medium.
_MEDIUM_COUNTERS = (
    ("tx_drops", "medium_lost_adapter_queue_frames"),
    ("medium_lost_chance",),
    ("medium_lost_excessive_collisions",),
    ("medium_lost_switch_queue",),
)
#: Keys of everything that makes received fewer than offered; with those of the medium, they add up
#: to the difference.
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
        Messages by the keys of `LOST_ON_THE_WAY`, and of a link with a medium by those of
        `LOST_IN_THE_MEDIUM`; they add up to sent - received. What arrived too late is known to the
        message. The kernel's counts are of drops since the measured part began (socket buffer) or
        of the whole trial (backlog, sender's queue), as those of the medium are, and can hold some
        of the warm-up's and of the session's own messages: each is taken for no more than what is
        still unexplained, the most certain first. Where the medium has counted more than that, its
        places have shares of the rest as they have of its count. What is in no count was lost on
        the link.
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
    medium = lost_in_the_medium(changes, left)
    left -= sum(medium.values())
    # With the kernel's report each drop of the queue is a refusal, which was not counted as sent.
    queue = explained(changes.of("sender").get("qdisc_drops", 0) - sent["total_refused"])
    backlog = explained(_backlog_drops(received, changes))
    return {
        "lost_sender_queue_messages": queue,
        "lost_link_messages": left,
        "lost_backlog_messages": backlog,
        "lost_socket_buffer_messages": socket_buffer,
        "lost_late_messages": late,
        **medium,
    }


def has_medium(changes: CounterChanges) -> bool:
    """Whether the link between the hosts is one that lanlab's own medium carries."""
    return "medium_frames" in changes.of("sender")


def lost_in_the_medium(changes: CounterChanges, left: int) -> dict[str, int]:
    """What the medium lost of `left` messages, by the keys of `LOST_IN_THE_MEDIUM`; nothing of a
    link without a medium."""
    if not has_medium(changes):
        return {}
    sender = changes.of("sender")
    counted = [max(0, sum(sender.get(name, 0) for name in names)) for names in _MEDIUM_COUNTERS]
    return dict(zip(LOST_IN_THE_MEDIUM, _at_most(counted, left), strict=True))


def _at_most(counts: list[int], most: int) -> list[int]:
    """Counts as they are, or shares of `most` in their proportion where they are more than it:
    whole numbers that add up to it, the greatest remainders rounded up.

    Examples:
        >>> _at_most([3, 0, 4], 9), _at_most([5, 3, 2], 4), _at_most([1, 1, 1], 2)
        ([3, 0, 4], [2, 1, 1], [1, 1, 0])
    """
    total = sum(counts)
    if total <= most:
        return counts
    shares = [count * most // total for count in counts]
    by_remainder = sorted(range(len(counts)), key=lambda place: -(counts[place] * most % total))
    for place in by_remainder[: most - sum(shares)]:
        shares[place] += 1
    return shares


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
