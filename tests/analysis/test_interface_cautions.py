"""Notes on the interfaces of real hosts before a run."""

from typing import Any

from lanlab.analysis.disturbances.interface_cautions import cautions

GOOD: dict[str, Any] = {
    "name": "eth0",
    "mtu_bytes": 1500,
    "speed_bps": 1_000_000_000,
    "full_duplex": True,
    "driver": "igc",
    "wireless": False,
}


def test_equal_interfaces_give_no_caution() -> None:
    unknown = dict.fromkeys(GOOD) | {"name": "veth0"}
    assert cautions({"here": GOOD, "nas": GOOD}) == []
    assert cautions({"here": GOOD, "nas": unknown}) == []
    assert cautions({}) == []


def test_different_speeds_and_packet_sizes_are_reported() -> None:
    slow = GOOD | {"speed_bps": 100_000_000, "mtu_bytes": 9000}
    assert cautions({"here": GOOD, "nas": slow}) == [
        "the interfaces differ in speed: here 1.00 Gbit/s, nas 100 Mbit/s",
        "the interfaces differ in MTU: here 1500 B, nas 9000 B",
    ]


def test_half_duplex_and_wireless_are_reported() -> None:
    said = cautions({"pc1": GOOD | {"full_duplex": False}, "nas": GOOD | {"wireless": True}})
    assert [text.partition(":")[0] for text in said] == ["pc1", "nas"]
    assert "half duplex" in said[0]
    assert "wireless" in said[1]


def test_a_link_below_what_the_adapter_supports_is_reported() -> None:
    slow = GOOD | {"speed_bps": 100_000_000, "supported_speed_bps": 1_000_000_000}
    good = GOOD | {"supported_speed_bps": 1_000_000_000}
    assert cautions({"nas": slow}) == [
        "nas: eth0 goes at 100 Mbit/s and supports 1.00 Gbit/s: see cable and switch"
    ]
    assert cautions({"nas": good}) == []


def test_power_saving_is_reported() -> None:
    saving = GOOD | {"power_saving": True}
    (said,) = cautions({"nas": saving})
    assert said.startswith("nas: eth0 saves power between packets (Energy-Efficient Ethernet)")
    said, *_ = reversed(cautions({"nas": saving | {"wireless": True}}))
    assert "(power save)" in said
