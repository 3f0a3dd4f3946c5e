"""Notes before a run on paths that carry less than their interfaces."""

from typing import Any

from lanlab.analysis.disturbances.path_cautions import path_cautions

SILENT: dict[str, Any] = {"interface_mtu_bytes": 1500, "was_told": False}


def said_of(there: dict[str, int] | None, back: dict[str, int] | None, **other: Any) -> list[str]:
    return path_cautions({"pc1 to nas": {**SILENT, "there": there, "back": back, **other}})


def bounds(least: int, most: int | None = None) -> dict[str, int]:
    return {"least_bytes": least, "most_bytes": least if most is None else most}


def test_a_path_that_carries_full_packets_gives_no_caution() -> None:
    assert said_of(bounds(1500), bounds(1500)) == []
    assert said_of(None, None) == []
    assert path_cautions({}) == []


def test_an_imprecise_path_mtu_is_reported() -> None:
    (said,) = said_of(bounds(1280, 1400), bounds(1280, 1500))
    assert "packets of up to 1280 B, or 1400 B at most, pass" in said
    # It may carry all.
    assert said_of(bounds(1280, 1500), bounds(1280, 1500)) == []


def test_an_end_with_a_smaller_mtu_is_named() -> None:
    ends = {"interface_mtu_bytes": 1280, "sender_mtu_bytes": 1500}
    (said,) = said_of(bounds(1280), bounds(1280, 1500), **ends)
    assert said.startswith("between pc1 and nas packets of up to 1280 B pass, though the interface")
    assert "the interface of pc1 takes 1500 B: longer ones are lost" in said
    ends = {"interface_mtu_bytes": 1280, "sender_mtu_bytes": 1280}
    assert said_of(bounds(1280), bounds(1280), **ends) == []


def test_a_path_mtu_black_hole_is_reported() -> None:
    (said,) = said_of(bounds(1500), bounds(1400))
    assert said.startswith("from pc1 to nas packets of up to 1500 B pass, and of up to 1400 B back")
    assert said.endswith("no router reports it; to TCP the host may seem dead")
    (said,) = said_of(bounds(1500), bounds(1400), was_told=True)
    assert said.endswith("a router on the path reports it, as at the start of a tunnel")
