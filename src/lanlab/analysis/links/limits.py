"""
The capacity of an Ethernet: the cost of a frame on the wire, and the goodput that remains.

Sources: IEEE 802.3 (preamble and start 8 bytes, header 14, check sequence 4, shortest frame 64,
gap 12), RFC 791, RFC 8200, RFC 768, RFC 9293, RFC 7323.
"""

from __future__ import annotations

from collections.abc import Sequence

MTU_BYTES = 1500
_MIN_FRAME_BYTES = 64
_ETHERNET_HEADER_BYTES = 14
_CHECK_SEQUENCE_BYTES = 4
_PREAMBLE_BYTES = 8
GAP_BYTES = 12
_IP_HEADER_BYTES = {4: 20, 6: 40}
_UDP_HEADER_BYTES = 8
_TCP_HEADER_BYTES = 20
#: The timestamps option with its padding (RFC 7323, appendix A).
_TCP_TIMESTAMP_BYTES = 12
_IPV6_FRAGMENT_HEADER_BYTES = 8
#: An acknowledgement for every second full segment (RFC 5681, section 4.2).
_SEGMENTS_ACKNOWLEDGED = 2
#: If the network is the limit, the mean and the slowest trial reach these shares of it.
_MEAN_AT_LIMIT_RATIO, _LEAST_AT_LIMIT_RATIO = 0.98, 0.95


def reaches_limit(goodputs_bps: Sequence[float], limit_bps: float) -> bool:
    """Whether trials, at least one, are as fast as the network allows."""
    mean, least = sum(goodputs_bps) / len(goodputs_bps), min(goodputs_bps)
    return mean >= _MEAN_AT_LIMIT_RATIO * limit_bps and least >= _LEAST_AT_LIMIT_RATIO * limit_bps


def wire_bytes(packet_bytes: int) -> int:
    """
    Bytes that a frame with an IP packet of `packet_bytes` occupies on the wire.

    Examples:
        >>> wire_bytes(1500), wire_bytes(30)
        (1538, 84)
    """
    frame = _ETHERNET_HEADER_BYTES + packet_bytes + _CHECK_SEQUENCE_BYTES
    return max(_MIN_FRAME_BYTES, frame) + _PREAMBLE_BYTES + GAP_BYTES


def udp_wire_bytes(message_size_bytes: int, ip_version: int, *, mtu_bytes: int = MTU_BYTES) -> int:
    """Bytes that one UDP message occupies on the wire, in as many fragments as it needs.

    Each fragment except the last carries a multiple of 8 bytes (RFC 791, section 3.2; RFC 8200,
    section 4.5); over IPv6 each also carries a fragment header.

    Examples:
        >>> udp_wire_bytes(500, 4), udp_wire_bytes(1472, 4), udp_wire_bytes(1472, 6)
        (566, 1538, 1652)
    """
    header = _IP_HEADER_BYTES[ip_version]
    payload = message_size_bytes + _UDP_HEADER_BYTES
    if header + payload <= mtu_bytes:
        return wire_bytes(header + payload)
    if ip_version == 6:
        header += _IPV6_FRAGMENT_HEADER_BYTES
    most = (mtu_bytes - header) // 8 * 8
    full, rest = divmod(payload, most)
    return full * wire_bytes(header + most) + (wire_bytes(header + rest) if rest else 0)


def udp_limit_bps(
    link_rate_bps: float, message_size_bytes: int, ip_version: int, *, mtu_bytes: int = MTU_BYTES
) -> float:
    """
    The maximum goodput of UDP messages of one size: frames back to back.

    Args:
        link_rate_bps: Bits on the wire per second, preamble and gap included: 10e6 for 10 Mbit/s.
        message_size_bytes: Payload of a message, from 1.
        ip_version: 4 or 6.
        mtu_bytes: The largest IP packet that fits a frame.

    Returns:
        Payload, bit/s.

    Examples:
        >>> round(udp_limit_bps(10e6, 500, 4)), round(udp_limit_bps(100e6, 1408, 6))
        (8833922, 94243641)
        >>> round(udp_limit_bps(1e9, 8972, 4, mtu_bytes=9000))
        992697499
    """
    wire = udp_wire_bytes(message_size_bytes, ip_version, mtu_bytes=mtu_bytes)
    return link_rate_bps * message_size_bytes / wire


def tcp_limit_bps(
    link_rate_bps: float,
    ip_version: int,
    *,
    timestamps: bool = True,
    mtu_bytes: int = MTU_BYTES,
    is_shared: bool = False,
) -> float:
    """
    The maximum goodput of TCP in one direction of an Ethernet, without collisions.

    Args:
        link_rate_bps: As for `udp_limit_bps`.
        ip_version: 4 or 6.
        timestamps: Whether segments carry the timestamps option, as in today's systems.
        mtu_bytes: As for `udp_limit_bps`.
        is_shared: Whether both ends share a wire, such as a hub or a bus, so that acknowledgements
            take time from data.

    Returns:
        Payload, bit/s.

    Examples:
        >>> round(tcp_limit_bps(10e6, 4, timestamps=False)), round(tcp_limit_bps(10e6, 4))
        (9492848, 9414824)
        >>> round(tcp_limit_bps(10e6, 4, timestamps=False, is_shared=True))
        9240506
    """
    header = _IP_HEADER_BYTES[ip_version] + _TCP_HEADER_BYTES
    header += _TCP_TIMESTAMP_BYTES if timestamps else 0
    payload = _SEGMENTS_ACKNOWLEDGED * (mtu_bytes - header)
    wire = _SEGMENTS_ACKNOWLEDGED * wire_bytes(mtu_bytes) + is_shared * wire_bytes(header)
    return link_rate_bps * payload / wire
