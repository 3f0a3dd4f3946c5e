"""
Reads and merges the histograms of times that engines keep.

Source: HdrHistogram, the V2 encoding: a header of 40 bytes, big-endian, then the counts of the
buckets in order as ZigZag LEB128 numbers of 1 to 9 bytes. A negative number stands for that many
empty buckets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from lanlab.frozen import dataclass

_HEADER = struct.Struct(">iiiiqqd")
#: The lowest bits hold the word size, which version 2 does not use.
_COOKIE, _COOKIE_MASK = 0x1C849303, ~0xF0
_MOST_DIGITS = 5
#: Maximum bytes of a number: the ninth byte holds 8 bits, the others 7.
_MOST_BYTES = 9
#: Values have 63 bits.
_MOST_POWER = 63


@dataclass(frozen=True)
class Bucket:
    low: int
    high: int
    count: int


def buckets(text: str) -> list[Bucket]:
    """
    The non-empty buckets, ascending.

    Args:
        text: A distribution's histogram from a result, in hexadecimal.

    Raises:
        ValueError: It is not a histogram.
    """
    data = bytes.fromhex(text)
    if len(data) < _HEADER.size:
        raise ValueError(f"histogram: need {_HEADER.size} bytes, got {len(data)}")
    cookie, length, _, digits, lowest, _, _ = _HEADER.unpack_from(data)
    payload = data[_HEADER.size : _HEADER.size + length]
    if cookie & _COOKIE_MASK != _COOKIE or len(payload) < length:
        raise ValueError("histogram: not in the V2 encoding, or cut off")
    if not (0 <= digits <= _MOST_DIGITS and lowest >= 1):
        raise ValueError(f"histogram: {digits} digits from {lowest} on are not allowed")
    unit = lowest.bit_length() - 1
    # Each power of two has enough sub-buckets for the requested digits.
    half = (2 * 10**digits - 1).bit_length() - 1
    found, index = [], 0
    for number in _numbers(payload):
        if number < 0:
            index -= number
            continue
        if number:
            found.append(_bucket(index, half, unit, number))
        index += 1
    return found


def _bucket(index: int, half: int, unit: int, count: int) -> Bucket:
    power, sub = (index >> half) - 1, (index & ((1 << half) - 1)) + (1 << half)
    if power < 0:
        power, sub = 0, sub - (1 << half)
    if power + unit > _MOST_POWER:
        raise ValueError("histogram: counts beyond the largest value")
    low = sub << (power + unit)
    return Bucket(low, low + (1 << (power + unit)) - 1, count)


def _numbers(payload: bytes) -> Iterator[int]:
    place = 0
    while place < len(payload):
        value = 0
        for number in range(_MOST_BYTES):
            if place >= len(payload):
                raise ValueError("histogram: the last count is incomplete")
            byte = payload[place]
            place += 1
            if number == _MOST_BYTES - 1:
                value |= byte << (7 * number)
                break
            value |= (byte & 0x7F) << (7 * number)
            if not byte & 0x80:
                break
        yield (value >> 1) ^ -(value & 1)


def merged(several: Iterable[Iterable[Bucket]]) -> list[Bucket]:
    """
    Merge histograms of the same precision.

    Examples:
        >>> merged([[Bucket(2, 3, 1)], [Bucket(2, 3, 4), Bucket(8, 9, 1)]])
        [Bucket(low=2, high=3, count=5), Bucket(low=8, high=9, count=1)]
    """
    counts: dict[tuple[int, int], int] = {}
    for one in several:
        for bucket in one:
            key = (bucket.low, bucket.high)
            counts[key] = counts.get(key, 0) + bucket.count
    return [Bucket(low, high, count) for (low, high), count in sorted(counts.items())]
