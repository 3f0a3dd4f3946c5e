"""
Simulated worlds, through the engine: what Wireshark makes of their frames.

What the worlds come to is held against theory in `crates/engine/tests/simulate.rs`.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from peer_finding import missing
from programs import ran
from raw_engine import Line, RawEngine, simulate

SECOND_NS = 1_000_000_000
_STREAM = {
    "message_size_bytes": 1000,
    "amount": {"time_ns": SECOND_NS},
    "flows": 1,
    "io": "single",
    "warmup_ns": 0,
    "interval_ns": SECOND_NS,
    "silence_ns": SECOND_NS,
}
_ECHO = {
    "message_size_bytes": 64,
    "amount": {"requests": 50},
    "timeout_ns": SECOND_NS,
    "warmup_ns": 0,
    "silence_ns": SECOND_NS,
}
#: Checksums are not looked at by default, as adapters often compute them.
_CHECKED = [
    word for protocol in ("ip", "udp", "tcp") for word in ("-o", f"{protocol}.check_checksum:TRUE")
]
_MALFORMED = (
    "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 "
    "|| tcp.checksum.status == 0 || _ws.expert.severity == error"
)


def _result(engine: RawEngine, request: Line) -> dict[str, Any]:
    line = engine.ask(request)
    assert line["type"] == "result", line
    result: dict[str, Any] = line["result"]
    return result


def _seen(tshark: str, path: Path, shown: str) -> tuple[int, int]:
    """How many frames of a file a filter shows, and how many are malformed, in one look."""
    command = [tshark, "-r", str(path), *_CHECKED, "-q", "-z", f"io,stat,0,{shown},{_MALFORMED}"]
    done = ran(command, check=True)
    # Frames and bytes of each filter: | 0.000 <> 1.077 |   1264 | 1317088 |      0 |     0 |
    (row,) = (line for line in done.stdout.splitlines() if " <> " in line)
    shown_frames, _, malformed, _ = map(int, row.split("|")[2:6])
    return shown_frames, malformed


@pytest.mark.parametrize(("workload", "spec"), [("stream", _STREAM), ("echo", _ECHO)])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("ip_version", [4, 6])
@pytest.mark.parametrize("topology", ["cable", "bus"])
def test_tshark_finds_no_malformed_frame(
    engine: RawEngine,
    tmp_path: Path,
    workload: str,
    spec: Line,
    transport: str,
    ip_version: int,
    topology: str,
) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        missing("need `tshark` to read frames independently; apt install tshark")
    path = tmp_path / "frames.pcap"
    spec = spec | {"transport": transport}
    asked = {"workload": workload, "ip_version": ip_version, "spec": spec}
    medium = {"topology": topology, "loss_ratio": 0.01}
    result: dict[str, Any] = _result(engine, simulate(asked, medium=medium) | {"pcap": str(path)})
    ports = result["world"]["medium"]
    sent = sum(port["offered_frames"] - port["lost_excessive_collisions_frames"] for port in ports)
    family = "ip" if ip_version == 4 else "ipv6"
    seen, malformed = _seen(tshark, path, f"{family} && {transport}")
    # A frame is seen when it has arrived: some may be under way at the end.
    assert sent - 8 <= seen <= sent
    assert seen >= 100
    assert malformed == 0


def test_tshark_would_find_a_changed_byte(engine: RawEngine, tmp_path: Path) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        missing("need `tshark` to read frames independently; apt install tshark")
    path = tmp_path / "frames.pcap"
    spec = _STREAM | {"transport": "udp"}
    asked = {"workload": "stream", "ip_version": 4, "spec": spec}
    _result(engine, simulate(asked) | {"pcap": str(path)})
    octets = bytearray(path.read_bytes())
    # The payload of the first frame: after the headers of file and record, Ethernet, IP and UDP.
    octets[24 + 16 + 14 + 28 + 100] ^= 1
    path.write_bytes(octets)
    _, malformed = _seen(tshark, path, "udp")
    assert malformed == 1
