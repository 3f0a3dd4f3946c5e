"""Histograms of engines, read."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanlab.analysis.traffic.histogram import Bucket, buckets
from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, perform_between
from lanlab.workloads import WORKLOADS


def encoded(payload: bytes, digits: int = 2, lowest: int = 1) -> str:
    """The V2 encoding as its authors describe it, of counts that were written out by hand."""
    header = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, digits, lowest, 1 << 40, 1.0)
    return (header + payload).hex()


def test_counts_are_read_at_their_values() -> None:
    """Three empty buckets (-3 is 5 in ZigZag), two values of 3 ns (4), 300 of 4 ns (600)."""
    assert buckets(encoded(bytes([5, 4, 0xD8, 0x04]))) == [Bucket(3, 3, 2), Bucket(4, 4, 300)]


def test_larger_values_share_buckets() -> None:
    """Bucket 256 holds 256 and 257 ns, bucket 384 four values from 512 ns on."""
    until_256, until_384 = bytes([0xFF, 0x03]), bytes([0xFD, 0x01])
    found = buckets(encoded(until_256 + bytes([2]) + until_384 + bytes([2])))
    assert found == [Bucket(256, 257, 1), Bucket(512, 515, 1)]


@pytest.mark.parametrize(
    "text",
    ["00", "00" * 48, encoded(bytes([0x80])), encoded(b"\x02")[:-2], encoded(b"\x02", digits=9)],
)
def test_an_invalid_histogram_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="histogram"):
        buckets(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(payload: bytes) -> None:
    try:
        found = buckets(encoded(payload))
    except ValueError:
        return
    assert all(bucket.low <= bucket.high for bucket in found)


def test_engine_histograms_match_the_reported_percentiles() -> None:
    kind = WORKLOADS["echo"]
    parameters = kind.Parameters.model_validate({"requests": 300, "warmup_s": 0})
    with Engine("one", [engine_path()]) as one, Engine("two", [engine_path()]) as two:
        ends = [EngineHost(engine, "127.0.0.1", None) for engine in (one, two)]
        outcome = perform_between(kind, parameters, ends[0], ends[1], 0.05)
    assert outcome.error is None
    told = outcome.results["requester"]["round_trip"]
    found = buckets(told["histogram"])

    assert sum(bucket.count for bucket in found) == told["samples"]
    for name, share in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
        below = 0
        for bucket in found:
            below += bucket.count
            if below >= share * told["samples"]:
                break
        assert bucket.low <= told[name] <= bucket.high
    assert found[0].low <= told["min_ns"] <= found[0].high
