"""What seeds are made of: recorded frames, and numbers and parts as `Feed` reads them."""

from __future__ import annotations

from pathlib import Path

FRAMES = Path(__file__).parents[1] / "crates" / "wire" / "tests" / "frames"


def number(value: int) -> bytes:
    """As `Feed::number` reads it."""
    if value < 200:
        return bytes([value])
    if value > 2**64 - 21:
        return bytes([200 + 2**64 - 1 - value])
    return b"\xff" + value.to_bytes(8, "big")


def part(octets: bytes) -> bytes:
    """As `Feed::part` reads it."""
    return len(octets).to_bytes(2, "big") + octets
