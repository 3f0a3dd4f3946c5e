"""
The speed of a real Ethernet on a virtual link.

A token bucket (TBF) at every sending interface. `stab` sets the size of a frame on the wire: the
kernel counts the 14-byte header and the payload; check sequence (4), preamble (8) and gap (12) are
added, and the minimum is 84 (IEEE 802.3-2022, clause 4A.4.2, with 3.1.1 and 3.2.8).
"""

from __future__ import annotations

from collections.abc import Sequence

HEADER_BYTES = 14
BEYOND_HEADER_BYTES = 4 + 8 + 12
MINIMUM_WIRE_BYTES = 84
MTU_BYTES = 1500
FULL_FRAME_WIRE_BYTES = MTU_BYTES + HEADER_BYTES + BEYOND_HEADER_BYTES

#: One full frame: at 10 Mbit/s the kernel's timers are precise enough for frames to leave one by
#: one, as on a wire.
_SMALL_BURST_BYTES = 1_600
_SMALL_BURST_UP_TO_BPS = 10_000_000
#: At higher speeds, late timers must be compensated: the traffic of this time may leave at once.
_BURST_S = 0.002

#: One entry per frame length. The usual 512 entries round lengths up to a multiple of 4, which
#: slowed messages of 500 bytes by 0.35 %.
_SIZE_TABLE = 2048

#: A thousand full frames, Linux's usual txqueuelen. A socket's default send buffer (212,992 bytes
#: of kernel memory, about 92 full or 277 minimum frames) fills long before: the sender blocks, as
#: with a real network card, and nothing is dropped before the wire.
HOST_QUEUE_BYTES = 1_000 * FULL_FRAME_WIRE_BYTES
#: An output port of a small switch; nothing blocks its senders, so it drops frames.
SWITCH_QUEUE_BYTES = 256 * 1024


def burst_bytes(rate_bps: int) -> int:
    """Bytes that may leave at once on a link of that speed.

    Examples:
        >>> burst_bytes(10_000_000), burst_bytes(100_000_000), burst_bytes(1_000_000_000)
        (1600, 25000, 250000)
    """
    if rate_bps <= _SMALL_BURST_UP_TO_BPS:
        return _SMALL_BURST_BYTES
    return max(_SMALL_BURST_BYTES, int(rate_bps * _BURST_S / 8))


def shaping_batch(devices: Sequence[str], rate_bps: int, queue_bytes: int) -> str:
    """Lines for `tc -batch` that shape interfaces to a speed."""
    return "".join(
        f"qdisc replace dev {device} root handle 1: "
        f"stab mtu {_SIZE_TABLE - 1} tsize {_SIZE_TABLE} "
        f"overhead {BEYOND_HEADER_BYTES} mpu {MINIMUM_WIRE_BYTES} "
        f"tbf rate {rate_bps}bit burst {burst_bytes(rate_bps)} limit {queue_bytes}\n"
        for device in devices
    )
