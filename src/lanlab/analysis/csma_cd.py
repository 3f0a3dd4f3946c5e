"""What theory says of a bus with CSMA/CD."""

from __future__ import annotations

#: Slot of Ethernet up to 100 Mbit/s, bits: IEEE 802.3, 4.4.2.
SLOT_BITS = 512


def metcalfe_boggs_efficiency(frame_bytes: int, stations: int) -> float:
    """
    The efficiency of a bus by the formula of Metcalfe and Boggs: an orientation, not a limit.

    Stations that always have a frame are taken to contend in slots, each with the probability that
    is best for all. Real stations back off as each one's own collisions tell; on a short bus they
    do better with small frames.

    Args:
        frame_bytes: Length of a frame without preamble, with the check sequence.
        stations: Stations that always have a frame, from 1.

    Returns:
        Frame bits for each bit that the rate could carry, 0 to 1; without preamble and gap.

    Source:
        R. Metcalfe, D. Boggs, "Ethernet: Distributed Packet Switching for Local Computer Networks",
        Communications of the ACM 19(7), 1976, section 6.

    Examples:
        >>> [round(metcalfe_boggs_efficiency(size, 15), 3) for size in (64, 512, 832, 1518)]
        [0.381, 0.831, 0.889, 0.936]
        >>> metcalfe_boggs_efficiency(64, 1)
        1.0
    """
    # That exactly one of them sends in a slot, each with probability 1 / stations.
    acquires = (1 - 1 / stations) ** (stations - 1)
    waiting_slots = (1 - acquires) / acquires
    frame_bits = 8 * frame_bytes
    return frame_bits / (frame_bits + waiting_slots * SLOT_BITS)
