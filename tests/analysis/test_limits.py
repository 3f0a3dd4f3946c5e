"""The limits against values that were worked out apart from the code."""

import pytest

from lanlab.analysis.links.limits import (
    tcp_limit_bps,
    udp_limit_bps,
    udp_wire_bytes,
    wire_bytes,
)

#: Message size, bytes; octets on the wire of UDP over IPv4 and IPv6; at 10 Mbit/s the goodput in
#: Mbit/s of UDP over IPv4 and IPv6 and of TCP over IPv4 and IPv6 with a message in each segment;
#: the same four at 100 Mbit/s; messages/s of UDP over IPv4 at 10 Mbit/s.
TABLE = [
    (2, 84, 88, 0.238, 0.227, 0.238, 0.200, 2.38, 2.27, 2.38, 2.00, 14881.0),
    (128, 194, 214, 6.598, 5.981, 6.214, 5.664, 65.98, 59.81, 62.14, 56.64, 6443.3),
    (256, 322, 342, 7.950, 7.485, 7.665, 7.232, 79.50, 74.85, 76.65, 72.32, 3882.0),
    (384, 450, 470, 8.533, 8.170, 8.312, 7.967, 85.33, 81.70, 83.12, 79.67, 2777.8),
    (500, 566, 586, 8.834, 8.532, 8.651, 8.361, 88.34, 85.32, 86.51, 83.61, 2208.5),
    (512, 578, 598, 8.858, 8.562, 8.678, 8.393, 88.58, 85.62, 86.78, 83.93, 2162.6),
    (640, 706, 726, 9.065, 8.815, 8.914, 8.672, 90.65, 88.15, 89.14, 86.72, 1770.5),
    (768, 834, 854, 9.209, 8.993, 9.078, 8.868, 92.09, 89.93, 90.78, 88.68, 1498.8),
    (896, 962, 982, 9.314, 9.124, 9.199, 9.014, 93.14, 91.24, 91.99, 90.14, 1299.4),
    (1024, 1090, 1110, 9.394, 9.225, 9.292, 9.127, 93.94, 92.25, 92.92, 91.27, 1146.8),
    (1152, 1218, 1238, 9.458, 9.305, 9.366, 9.216, 94.58, 93.05, 93.66, 92.16, 1026.3),
    (1280, 1346, 1366, 9.510, 9.370, 9.426, 9.289, 95.10, 93.70, 94.26, 92.89, 928.7),
    (1408, 1474, 1494, 9.552, 9.424, 9.475, 9.349, 95.52, 94.24, 94.75, 93.49, 848.0),
    (1472, 1538, 1652, 9.571, 8.910, 9.075, 8.846, 95.71, 89.10, 90.75, 88.46, 812.7),
]
#: Half of the last digit, and no more than what rounding leaves.
MBIT_AT_10, MBIT_AT_100, PER_SECOND = 5.01e-4, 5.01e-3, 0.0501


def of_size(row: tuple[float, ...]) -> str:
    return f"{row[0]} bytes"


@pytest.mark.parametrize("row", TABLE, ids=of_size)
def test_udp_limits_match_the_published_table(row: tuple[float, ...]) -> None:
    size, wire4, wire6, slow4, slow6, _, _, fast4, fast6, _, _, messages_per_s = row
    size = int(size)

    assert (udp_wire_bytes(size, 4), udp_wire_bytes(size, 6)) == (wire4, wire6)
    for version, slow, fast in ((4, slow4, fast4), (6, slow6, fast6)):
        assert udp_limit_bps(10e6, size, version) / 1e6 == pytest.approx(slow, abs=MBIT_AT_10)
        assert udp_limit_bps(100e6, size, version) / 1e6 == pytest.approx(fast, abs=MBIT_AT_100)
    assert udp_limit_bps(10e6, size, 4) / (8 * size) == pytest.approx(
        messages_per_s, abs=PER_SECOND
    )


@pytest.mark.parametrize(("version", "mbit_per_s"), [(4, 9.493), (6, 9.363)])
def test_bulk_tcp_fills_frames(version: int, mbit_per_s: float) -> None:
    """Segments of 1460 and 1440 bytes in 1538 octets, ten times as much on ten times the speed."""
    at_10 = tcp_limit_bps(10e6, version, timestamps=False)

    assert at_10 / 1e6 == pytest.approx(mbit_per_s, abs=MBIT_AT_10)
    assert tcp_limit_bps(100e6, version, timestamps=False) == pytest.approx(10 * at_10)


def test_timestamps_take_twelve_bytes_of_every_segment() -> None:
    """1448 and 1428 bytes of data in 1538 octets on the wire."""
    assert tcp_limit_bps(1538, 4) == 1448
    assert tcp_limit_bps(1538, 6) == 1428


@pytest.mark.parametrize("packet_bytes", [1, 30, 46])
def test_a_short_frame_costs_84_bytes(packet_bytes: int) -> None:
    """It is padded to 64, with 8 before and 12 after it."""
    assert wire_bytes(packet_bytes) == 84
    assert wire_bytes(47) == 85


def test_the_largest_udp_message_goes_in_fragments() -> None:
    """65,507 bytes: 44 fragments of 1480 octets and one of 395 over IPv4; over IPv6 fragments of
    1448, each with a header of 8 more."""
    assert udp_wire_bytes(65_507, 4) == 44 * 1538 + (20 + 395 + 38)
    assert udp_wire_bytes(65_507, 6) == 45 * (40 + 8 + 1448 + 38) + (40 + 8 + 355 + 38)


def test_full_fragments_are_not_followed_by_an_empty_one() -> None:
    assert udp_wire_bytes(2952, 4) == 2 * 1538
