"""What a simulated Ethernet carries, as the engine computes it."""

from pathlib import Path

import pytest
from captures import fields_of
from raw_engine import Line, RawEngine, medium_load


def loaded(engine: RawEngine, **changes: object) -> Line:
    line = engine.ask(medium_load(**changes))
    assert line["type"] == "result", line
    result: Line = line["result"]
    return result


def test_everything_is_delivered_below_saturation(engine: RawEngine) -> None:
    result = loaded(engine, duration_ns=10_000_000_000)
    assert result["measured_ns"] == 10_000_000_000
    # 12,200 frames: three standard errors of a Poisson count are 2.7 %.
    assert result["offered_ratio"] == pytest.approx(0.5, rel=0.03)
    assert result["utilisation_ratio"] == pytest.approx(result["offered_ratio"], rel=0.002)
    assert result["lost_adapter_queue_frames"] == 0
    assert result["p50_delay_ns"] >= 416_000 + 2_500
    assert result["p50_delay_ns"] <= result["p95_delay_ns"] <= result["p99_delay_ns"]
    assert result["jain_index"] > 0.99


@pytest.mark.parametrize("topology", ["cable", "switch"])
def test_a_saturated_cable_or_switch_carries_its_rate_for_each_station(
    engine: RawEngine, topology: str
) -> None:
    """Each direction carries frames back to back: 512 of every 532 bytes."""
    result = loaded(
        engine, topology=topology, stations=2, offered_ratio=None, switch_queue_bytes=100_000
    )
    assert result["utilisation_ratio"] == pytest.approx(2 * 512 / 532, rel=0.005)
    assert result["collisions"] == 0


def test_equal_seeds_give_equal_results(engine: RawEngine) -> None:
    assert loaded(engine) == loaded(engine)
    assert loaded(engine) != loaded(engine, seed=2)


def test_overload_of_a_bus_is_lost_in_the_adapters(engine: RawEngine) -> None:
    result = loaded(engine, offered_ratio=2.0, duration_ns=5_000_000_000)
    assert 0.9 < result["utilisation_ratio"] < 0.963
    assert result["lost_adapter_queue_frames"] > result["delivered_frames"] / 2


def test_the_frames_of_a_bus_can_be_read_by_tshark(engine: RawEngine, tmp_path: Path) -> None:
    path = tmp_path / "frames.pcap"
    lengths = [{"frame_bytes": size, "weight": 1.0} for size in (64, 1518)]
    plan = {"frames": lengths, "warmup_ns": 0, "duration_ns": 2_000_000_000, "pcap": str(path)}
    result = loaded(engine, **plan)
    fields = ("frame.time_epoch", "frame.len", "eth.src", "eth.dst", "eth.type")
    frames = fields_of(path, fields)
    assert len(frames) == result["delivered_frames"] > 500
    assert {size for _, size, *_ in frames} == {"60", "1514"}
    assert {kind for *_, kind in frames} == {"0x88b5"}
    times_s = [float(time) for time, *_ in frames]
    assert times_s == sorted(times_s)
    assert times_s[0] > 0 and times_s[-1] <= 2
    octets = sum(int(size) + 4 for _, size, *_ in frames)
    assert result["utilisation_ratio"] == pytest.approx(octets * 8 / 20e6, abs=1e-6)
    line = engine.ask(medium_load(**plan))
    assert line["type"] == "error" and "frames.pcap" in line["message"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stations": 1}, "a bus has 2 to 256 ports, not 1"),
        (
            {"topology": "cable"},
            "a cable has 2 ports, not 3: more hosts need a hub or switch, as in 100M:switch",
        ),
        ({"rate_bps": 999}, "rate 999 bit/s is not within 1000 to 100000000000 bit/s"),
        (
            {"propagation_ns": 25_601},
            "propagation time 25601 ns is above 25600 ns, half a slot at this rate",
        ),
        (
            {"frames": [{"frame_bytes": 1519, "weight": 1.0}]},
            "frame of 1519 bytes is not within 64 to 1518 bytes",
        ),
        ({"offered_ratio": 0.0}, "offered load 0 is not a number above 0 and up to 100"),
        ({"duration_ns": 0}, "`duration_ns`: found 0; allowed: 1 or more"),
        (
            {"duration_ns": 40_000_000_000_000, "warmup_ns": 0},
            "`duration_ns`: found 40000 s of virtual time; "
            "allowed: 33333.333333 s with this rate, load and number of stations",
        ),
    ],
)
def test_invalid_loads_are_refused(
    engine: RawEngine, changes: dict[str, object], says: str
) -> None:
    refusal = engine.refusal(medium_load(**changes))
    assert (refusal["code"], refusal["message"]) == ("request.value", says)


def test_a_long_computation_ends_when_it_is_cancelled(engine: RawEngine) -> None:
    request = engine.send(medium_load(duration_ns=30_000_000_000_000, offered_ratio=None))
    engine.ask({"type": "cancel", "target": request})
    line = engine.wait(request)
    assert (line["type"], line["code"]) == ("error", "cancelled")
