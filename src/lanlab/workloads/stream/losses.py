"""The place at which messages of a UDP stream were lost, from the counters along their path."""

from __future__ import annotations

from lanlab.messages import StreamReceived, StreamSent
from lanlab.workloads.outcome import CounterChanges

#: Keys of the places at which a message accepted by the system can be lost, in order of the path.
LOST_ON_THE_WAY = (
    "lost_sender_queue_messages",
    "lost_link_messages",
    "lost_backlog_messages",
    "lost_socket_buffer_messages",
    "lost_late_messages",
)
#: Keys of losses on a link that lanlab's own medium carries, as counted by the medium for each
#: sending host. Trials on other links lack these keys.
LOST_IN_THE_MEDIUM = (
    "lost_adapter_queue_messages",
    "lost_chance_messages",
    "lost_collisions_messages",
    "lost_switch_queue_messages",
)
#: Counter of each place on the sending host: its interface's before the adapter, else the medium's.
_MEDIUM_COUNTERS = (
    ("tx_drops", "medium_lost_adapter_queue_frames"),
    ("medium_lost_chance",),
    ("medium_lost_excessive_collisions",),
    ("medium_lost_switch_queue",),
)
#: Keys of all differences between offered and received; with those of the medium, they add up to
#: the difference.
NOT_RECEIVED = ("skipped_messages", "unsent_messages", "refused_messages", *LOST_ON_THE_WAY)


def lost_by_place(
    sent: StreamSent, received: StreamReceived, changes: CounterChanges
) -> dict[str, int]:
    """
    Messages of the measured part that were sent but not received, by the place of loss.

    Args:
        sent, received: The counts of both ends.
        changes: Changes of the interface counters along the path.

    Returns:
        Messages by the keys of `LOST_ON_THE_WAY`, and on a link with a medium by those of
            `LOST_IN_THE_MEDIUM`; they add up to sent - received. Late arrivals are known exactly.
            The kernel's counts are of drops since the measured part began (socket buffer) or of the
            whole trial (backlog, sender's queue), like those of the medium, and may include some of
            the warm-up and of the session's own messages: each is capped at the remaining
            unexplained number, the most certain first. If the medium counted more than the rest,
            its places share the rest in proportion to its counts. Losses that no counter explains
            are attributed to the link.
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
    # If the kernel reports drops of the queue, each is a refusal, which was not counted as sent.
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
    """Whether lanlab's own medium carries the link between the hosts."""
    return "medium_frames" in changes.of("sender")


def lost_in_the_medium(changes: CounterChanges, left: int) -> dict[str, int]:
    """The medium's losses among `left` messages, by the keys of `LOST_IN_THE_MEDIUM`; empty for a
    link without a medium.
    """
    if not has_medium(changes):
        return {}
    sender = changes.of("sender")
    counted = [max(0, sum(sender.get(name, 0) for name in names)) for names in _MEDIUM_COUNTERS]
    return dict(zip(LOST_IN_THE_MEDIUM, _at_most(counted, left), strict=True))


def _at_most(counts: list[int], most: int) -> list[int]:
    """The counts, or, if their sum exceeds `most`, whole numbers in the same proportion that add up
    to it (largest remainder method).

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


def _backlog_drops(received: StreamReceived, changes: CounterChanges) -> int:
    """Packets dropped between the receiving interface and the protocols.

    The interface includes them in its own count (`rx_dropped`), with packets that no protocol
    wanted; the kernel counts them as dropped from backlogs (softnet), with those of all other
    interfaces. Both include them, so the smaller count is the better bound.
    """
    counts = []
    if (host := received.get("host")) is not None:
        counts.append(int(host["softnet_dropped"]))
    if "rx_drops" in changes.of("receiver"):
        counts.append(changes.of("receiver")["rx_drops"])
    return min(counts, default=0)
