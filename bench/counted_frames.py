"""
What the counted frames of a copy over NetBEUI allow at the link's rate, beside what was measured.

`lanlab copy … --pcap FILE --json` gives both: the goodput, and every frame on the medium. A frame
takes its bytes, preamble and check sequence (12) and the gap (12) at the rate of the link. Two
limits are printed:

- **One direction**: on a full-duplex cable each direction has the whole rate. No station is faster
  than the frames of the busier direction, one behind the other. Nothing is taken off for waiting.
- **Exchange**: the redirector sends a request only after the reply to what it follows from, and
  NBF sends a message only after the message before was acknowledged. So these frames cannot
  overlap. The limit is the time in which a frame was on the wire in either direction: what stations
  would take that answer in no time. The rest is time in which the wire was idle.

The idle time is listed by what ended it: who sent next, and what.

    python bench/counted_frames.py 1x6230kB 198x1kB..400kB=4720kB
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

RATE_BPS = 10_000_000
NS_PER_BYTE = 8 * 10**9 // RATE_BPS
#: Preamble with start delimiter, check sequence; the gap; the shortest frame without them.
AROUND_BYTES, GAP_BYTES, SHORTEST_BYTES = 12, 12, 60
#: Kinds of NBF frames in I frames.
NBF = {
    0x14: "DATA ACK",
    0x15: "first or middle part",
    0x16: "last part",
    0x1A: "NO RECEIVE",
    0x1B: "RECEIVE OUTSTANDING",
    0x1C: "RECEIVE CONTINUE",
}


@dataclass(frozen=True)
class Carried:
    """A frame on the wire: from its first bit to the end of its gap, ns."""

    from_ns: int
    until_ns: int
    source: bytes
    kind: str

    @property
    def took_ns(self) -> int:
        return self.until_ns - self.from_ns


def kind_of(frame: bytes) -> str:
    """What an LLC frame is, in a word or two."""
    control = frame[16]
    if control & 1 == 0:
        return NBF.get(frame[22], "other I frame")
    return {1: "RR", 5: "RNR", 9: "REJ"}.get(control, "other") if control & 2 == 0 else "unnumbered"


def frames(path: Path) -> list[tuple[Carried, bytes]]:
    """Each frame with a length, not a type. The medium writes when the last bit has arrived."""
    content, at, found = path.read_bytes(), 24, []
    while at < len(content):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", content, at)
        frame = content[at + 16 : at + 16 + length]
        at += 16 + length
        if struct.unpack_from("!H", frame, 12)[0] > 1500:
            continue
        end_ns = seconds * 10**9 + nanoseconds
        took_ns = (max(len(frame), SHORTEST_BYTES) + AROUND_BYTES) * NS_PER_BYTE
        until_ns = end_ns + GAP_BYTES * NS_PER_BYTE
        found.append((Carried(end_ns - took_ns, until_ns, frame[6:12], kind_of(frame)), frame))
    return found


def write_phase(found: list[tuple[Carried, bytes]]) -> tuple[list[Carried], bytes]:
    """The frames between the first and the last long frame of the client, which sends the files."""
    client = next(frame[6:12] for _, frame in found if len(frame) > 1000)
    long = [number for number, (_, frame) in enumerate(found)
            if len(frame) > 1000 and frame[6:12] == client]  # fmt: skip
    return [carried for carried, _ in found[long[0] : long[-1] + 1]], client


@dataclass
class Idle:
    """Times without a frame in either direction, by what ended them."""

    total_ns: int
    by_next: dict[tuple[str, str], list[int]]


def idle_times(phase: list[Carried], client: bytes) -> Idle:
    """The gaps between the frames of both directions together."""
    by_next: dict[tuple[str, str], list[int]] = defaultdict(list)
    busy_until_ns = phase[0].until_ns
    for carried in sorted(phase, key=lambda carried: carried.from_ns):
        gap_ns = carried.from_ns - busy_until_ns
        if gap_ns > 0:
            who = "client" if carried.source == client else "server"
            by_next[who, carried.kind].append(gap_ns)
        busy_until_ns = max(busy_until_ns, carried.until_ns)
    return Idle(sum(sum(gaps) for gaps in by_next.values()), by_next)


def copied(dataset: str, arguments: list[str]) -> tuple[dict, list[tuple[Carried, bytes]]]:
    """Copy once; the result and the frames."""
    with tempfile.TemporaryDirectory() as folder:
        pcap = Path(folder, "frames.pcap")
        store = str(Path(folder, "store.sqlite"))
        argv = ["copy", dataset, "--service", "smb1+nbf", "--link", "10M", "--trials", "1"]
        argv += ["--pcap", str(pcap), "--store", store, "--json", *arguments]
        program = [sys.executable, "-c", "from lanlab.cli.app import run; run()"]
        run = subprocess.run([*program, *argv], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise SystemExit(run.stderr)
        return json.loads(run.stdout), frames(pcap)


def measured(dataset: str, arguments: list[str]) -> None:
    """Copy once, and print the goodput, what the frames allow, and where the rest went."""
    told, found = copied(dataset, arguments)
    # The first half is the upload; after it the files are read back and compared.
    phase, client = write_phase(found)
    sent_ns: dict[bytes, int] = defaultdict(int)
    for carried in phase:
        sent_ns[carried.source] += carried.took_ns
    elapsed_ns = phase[-1].until_ns - phase[0].from_ns
    idle = idle_times(phase, client)
    one_way_ns = max(sent_ns.values())
    exchange_ns = elapsed_ns - idle.total_ns
    found_late = (told["trials"][0]["pollution"] or {}).get("findings", [])
    late = [one["found"] for one in found_late if one["code"] == "medium_shift"]
    medium = f"late, which moved the result by {late[0]:.1%}" if late else "in time"
    whole_ns = told["elapsed_ns"]
    print(
        f"{dataset}: goodput {told['goodput_bps'] / 1e6:.3f} Mbit/s, {len(phase)} frames in writing"
    )
    print(f"  one direction: {one_way_ns / 1e9:.3f} s of frames, {one_way_ns / elapsed_ns:.1%} of "
          f"{elapsed_ns / 1e9:.3f} s on the wire, {one_way_ns / whole_ns:.1%} of "
          f"{whole_ns / 1e9:.3f} s that were timed")  # fmt: skip
    print(f"  exchange: {exchange_ns / 1e9:.3f} s, {exchange_ns / elapsed_ns:.1%} on the wire, "
          f"{exchange_ns / whole_ns:.1%} of what was timed")  # fmt: skip
    print(f"  idle: {idle.total_ns / 1e6:.1f} ms; the medium was {medium}")
    for (who, kind), gaps in sorted(idle.by_next.items(), key=lambda entry: -sum(entry[1])):
        gaps.sort()
        print(f"    before the {who}'s {kind}: {len(gaps)} times, {sum(gaps) / 1e6:.1f} ms, median "
              f"{gaps[len(gaps) // 2] / 1e3:.0f} µs, longest {gaps[-1] / 1e6:.2f} ms")  # fmt: skip


def main() -> None:
    """Measure each dataset."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("datasets", nargs="+", metavar="DATASET")
    options, arguments = asked.parse_known_args()
    for dataset in options.datasets:
        measured(dataset, arguments)


if __name__ == "__main__":
    main()
