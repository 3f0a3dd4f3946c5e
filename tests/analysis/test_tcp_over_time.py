"""What is said to have limited a sender, from samples as kernels gave them."""

from lanlab.analysis.traffic.tcp_over_time import (
    NOTHING_TO_SEND,
    RECEIVE_WINDOW,
    SEND_BUFFER,
    TcpSample,
    limited_parts,
)

MSS = 1_448
STEP_MS = 15


def a_second(
    *, cwnd: int, peer: int, unacknowledged: int, unsent: int, window: float, buffer: float
) -> list[TcpSample]:
    """Samples of a second with something under way all the time.

    Args:
        window, buffer: Share of the time that the kernel counts as limited by each.
    """
    return [
        TcpSample(
            at_ns=1_000_000 * ms,
            congestion_window_bytes=cwnd,
            peer_window_bytes=peer,
            round_trip_ns=45_000_000,
            retransmitted_segments=0,
            pacing_rate_bps=0,
            delivery_rate_bps=0,
            busy_ns=1_000_000 * ms,
            receive_window_limited_ns=round(1e6 * ms * window),
            send_buffer_limited_ns=round(1e6 * ms * buffer),
            unacknowledged_segments=unacknowledged,
            unsent_bytes=unsent,
        )
        for ms in range(0, 1_001, STEP_MS)
    ]


def limits(samples: list[TcpSample]) -> list[str]:
    parts = limited_parts(samples, MSS)
    assert all(part.end_ns - part.start_ns > 900_000_000 for part in parts)
    return [part.by for part in parts]


def test_a_small_window_of_the_receiver_limits_all_the_time() -> None:
    """Of Linux 6.18 with --receive-buffer 16k over 100M,delay=20ms: its kernel counts two fifths of
    the time, as it counts from an attempt to send on."""
    for unacknowledged in (11, 12, 13):
        found = a_second(
            cwnd=57_920,
            peer=18_824,
            unacknowledged=unacknowledged,
            unsent=150_592,
            window=0.4,
            buffer=0,
        )
        assert limits(found) == [RECEIVE_WINDOW]


def test_a_sender_with_a_rate_has_nothing_to_send() -> None:
    found = a_second(cwnd=98_464, peer=176_128, unacknowledged=19, unsent=1_128, window=0, buffer=0)
    assert limits(found) == [NOTHING_TO_SEND]


def test_a_full_send_buffer_is_found_without_unsent_data() -> None:
    found = a_second(cwnd=57_920, peer=94_208, unacknowledged=15, unsent=0, window=0, buffer=0.76)
    assert limits(found) == [SEND_BUFFER]


def test_the_network_and_its_window_are_not_named() -> None:
    """Samples of the link 10M,delay=10ms,loss=1%, of a receive window that is smaller but not full,
    and of a full congestion window just below the receive window."""
    for cwnd, peer, sent in ((72_400, 89_088, 26), (98_464, 89_088, 26), (72_400, 73_848, 50)):
        samples = a_second(
            cwnd=cwnd, peer=peer, unacknowledged=sent, unsent=215_752, window=0, buffer=0
        )
        assert limits(samples) == []
