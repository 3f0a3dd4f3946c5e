"""
What the counted frames of a copy over NetBEUI allow at the link's rate, beside what was measured.

`lanlab copy … --pcap FILE --json` gives both: the goodput, and every frame on the medium. A frame
takes its bytes, preamble and check sequence (12) and the gap (12) at the rate of the link. On a
full-duplex cable each direction has the whole rate, so the busier one is the limit.

    python bench/counted_frames.py 1x6230kB 198x1kB..400kB=4720kB
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

RATE_BPS = 10_000_000
#: Preamble with start delimiter, check sequence and gap; the shortest frame without them.
BEYOND_BYTES, SHORTEST_BYTES = 8 + 4 + 12, 60


def frames(path: Path) -> list[tuple[int, bytes]]:
    """Time in ns and octets of each frame with a length, not a type."""
    content, at, found = path.read_bytes(), 24, []
    while at < len(content):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", content, at)
        frame = content[at + 16 : at + 16 + length]
        at += 16 + length
        if struct.unpack_from("!H", frame, 12)[0] <= 1500:
            found.append((seconds * 10**9 + nanoseconds, frame))
    return found


def write_phase(found: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The frames between the first and the last long frame of the client, which sends the files."""
    client = found[-1][1][6:12]
    for _, frame in found:
        if len(frame) > 1000:
            client = frame[6:12]
            break
    long = [number for number, (_, frame) in enumerate(found)
            if len(frame) > 1000 and frame[6:12] == client]  # fmt: skip
    return found[long[0] : long[-1] + 1]


def measured(dataset: str) -> None:
    """Copy once, and print the goodput, what the frames allow, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        pcap = Path(folder, "frames.pcap")
        store = str(Path(folder, "store.sqlite"))
        argv = ["copy", dataset, "--service", "smb1+nbf", "--link", "10M", "--trials", "1"]
        argv += ["--pcap", str(pcap), "--store", store, "--json"]
        program = [sys.executable, "-c", "from lanlab.cli.app import run; run()"]
        run = subprocess.run([*program, *argv], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise SystemExit(run.stderr)
        told = json.loads(run.stdout)
        # The first half is the upload; after it the files are read back and compared.
        phase = write_phase(frames(pcap))
    sent: dict[bytes, int] = {}
    for _, frame in phase:
        wire_bytes = max(len(frame), SHORTEST_BYTES) + BEYOND_BYTES
        sent[frame[6:12]] = sent.get(frame[6:12], 0) + wire_bytes
    busy_s = max(sent.values()) * 8 / RATE_BPS
    elapsed_s = (phase[-1][0] - phase[0][0]) / 1e9
    payload_bits = told["goodput_bps"] * told["elapsed_ns"] / 1e9
    allowed_bps = payload_bits / busy_s
    pollution = told["trials"][0]["pollution"]
    late = (pollution or {}).get("medium_late_ratio")
    print(
        f"{dataset}: goodput {told['goodput_bps'] / 1e6:.3f} Mbit/s; its {len(phase)} frames allow "
        f"{allowed_bps / 1e6:.3f} Mbit/s ({told['goodput_bps'] / allowed_bps:.1%}); between the "
        f"first and the last frame the wire was busy for {busy_s / elapsed_s:.1%}; late: {late}"
    )


def main() -> None:
    """Measure each dataset."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("datasets", nargs="+", metavar="DATASET")
    for dataset in asked.parse_args().datasets:
        measured(dataset)


if __name__ == "__main__":
    main()
