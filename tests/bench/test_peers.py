"""`bench/peers.py`: its statistics, what it sees on the wire, and that it runs."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import peer_tables as tables_of
import peer_wire as wire
import pytest
from missing import missing
from peer_tables import Measured

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.long


def test_the_interval_of_a_median_covers_it_in_95_of_100_samples() -> None:
    draw = random.Random(7)
    for runs in (6, 7, 9, 15):
        held = 0
        for _ in range(2000):
            interval = tables_of.median_interval([draw.expovariate(1) for _ in range(runs)])
            assert interval is not None
            held += interval[0] <= 0.6931 <= interval[1]
        assert held >= 0.94 * 2000
    assert tables_of.median_interval([1, 2, 3, 4, 5]) is None


def trials_of(cell: str, **figures: list[dict[str, float]]) -> list[Measured]:
    return [
        Measured(block, "veth", 4, cell, label.replace("_", " "), metrics)
        for label, values in figures.items()
        for block, metrics in enumerate(values)
    ]


def rates(*values: float) -> list[dict[str, float]]:
    return [{"messages_per_s": value, "cpu_ns_per_message": 1e9 / value} for value in values]


def rows(trials: list[Measured], start: str) -> list[str]:
    lines = "\n".join(tables_of.tables(trials)).splitlines()
    return [line for line in lines if line.startswith(start)]


def test_ratios_are_of_each_block_and_to_the_best_peer() -> None:
    speeds = [1e5 / 2**block for block in range(7)]
    trials = trials_of(
        "udp-64",
        lanlab_single=rates(*(1.5 * speed for speed in speeds)),
        iperf3=rates(*speeds),
        nuttcp=rates(*(0.5 * speed for speed in speeds)),
    )

    row = rows(trials, "| udp-64 | received")[0]
    assert row == "| udp-64 | received | single | iperf3 | 1.5 (1.5 … 1.5) | tie |"


def test_a_tie_is_reported_only_if_intervals_overlap() -> None:
    near = [100.0 + block for block in range(7)]

    def verdict(own: list[float], peer: list[float]) -> str:
        trials = trials_of("udp-64", lanlab_single=rates(*own), iperf3=rates(*peer))
        return rows(trials, "| udp-64 | received")[0].split("|")[-2].strip()

    assert verdict(near, [value + 3 for value in near]) == "tie"
    assert verdict(near, [value + 50 for value in near]) == ""
    assert verdict(near[:3], near[:3]) == "too few runs"


def frame(payload: int, ip_version: int) -> bytes:
    """A UDP datagram in an Ethernet frame; by RFC 768, 791 and 8200."""
    udp = bytes(4) + (payload + 8).to_bytes(2, "big") + bytes(2 + payload)
    if ip_version == 4:
        return bytes(12) + b"\x08\x00" + b"\x45" + bytes(8) + b"\x11" + bytes(10) + udp
    return bytes(12) + b"\x86\xdd" + b"\x60" + bytes(5) + b"\x11" + bytes(33) + udp


@pytest.mark.parametrize("ip_version", [4, 6])
@pytest.mark.parametrize("payload", [0, 64, 500])
def test_the_payload_follows_from_the_frame(payload: int, ip_version: int) -> None:
    assert wire.payload_bytes(frame(payload, ip_version)[:96]) == payload


def test_gaps_are_summed_up_without_the_ends_of_the_stream() -> None:
    """999 gaps of 1 ms in the middle; one datagram in a hundred comes just before the next."""
    stamps = [block * 1_000_000 for block in range(1400)]
    paired = [stamp + (950_000 if at % 100 == 50 else 0) for at, stamp in enumerate(stamps)]

    seen = wire.gaps_summary(paired, 1e6)

    assert seen["seen"] == 1400
    percentiles = [seen[f"gap_{name}_ns"] for name in ("p1", "p50", "p99")]
    assert percentiles == [50_000, 1_000_000, 1_950_000]
    assert seen["back_to_back_ratio"] == 10 / 999


# Who watches the wire misses frames when it has no processor in time.
@pytest.mark.alone
def test_the_bench_runs_and_names_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "peers.json"
    asked = ["--quick", "--only", "pace-64,queue-64", "--ip", "4", "--json", str(file)]
    for name in ("cat", "env", "ip", "iperf3", "nsenter", "setpriv", "sh", "taskset", "unshare"):
        if (found := shutil.which(name)) is not None:
            (tmp_path / name).symlink_to(found)
    done = subprocess.run(
        [sys.executable, str(BENCH / "peers.py"), *asked],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode and "network namespaces" in done.stderr:
        missing(done.stderr.splitlines()[-1])

    assert done.returncode == 0, done.stderr
    assert "| neper | missing: build it from https://github.com/google/neper |" in done.stdout
    log: dict[str, Any] = json.loads(file.read_text())
    ours = [trial for trial in log["trials"] if trial["label"].startswith("lanlab ")]
    assert {(trial["site"], trial["cell"]) for trial in ours} == {
        ("veth", "pace-64"),
        ("veth", "queue-64"),
        ("loopback", "pace-64"),
    }
    paced = [trial["metrics"] for trial in ours if trial["cell"] == "pace-64"]
    for metrics in paced:
        # Whatever the machine did to the gaps: every datagram was seen on its way, once.
        assert metrics["seen"] == pytest.approx(1.2 * 9766, rel=0.2)
