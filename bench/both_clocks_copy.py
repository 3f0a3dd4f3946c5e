"""
The same copy on both clocks: SMB 1 over NetBEUI in real time over lanlab's own medium, and in
virtual time between two machines that cost what this one does.

    python bench/both_clocks_copy.py --trials 5          # on a quiet machine, 3 minutes

What a machine costs is measured before, at 100 Mbit/s, where nothing is compared: the cost of a
message of the copy of one file, and that of a file of the copy of many, both beyond what machines
without costs take there. Then 1 x 6 MB and 100 x 6 kB at 10 Mbit/s are predicted. The median
elapsed times are compared, and the frames from the first file's opening to the last one's end: how
long they are, and in which order each side sends them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LANLAB = Path(sys.executable).with_name("lanlab")
#: One call at a time, of one size, so that both ask for the same.
COPY = ("--service", "smb1+nbf", "--depth", "1", "--block", "4096")
CASES = ("1x6MB", "100x6kB")
CALIBRATED = "100M:cable"
COMPARED = "10M:cable"
#: Of SMB 1, [MS-CIFS] 2.2.4: in the octet behind the mark.
_MARK = b"\xffSMB"
_CLOSE, _CREATE, _IS_REPLY = 0x04, 0xA2, 0x80
_FIRST_FILE = "f000000.dat".encode("utf-16-le")

#: A frame as it is compared: whether the client sent it, and its length.
Frame = tuple[bool, int]

MACHINE = """
schema = 1

[[machine]]
id = "here"
title = "this machine"

[machine.numbers]
receive_call_us = {{ value = {message_us:.3f}, assumed = "measured by both_clocks_copy.py" }}
file_open_us = {{ value = {file_us:.3f}, assumed = "measured by both_clocks_copy.py" }}
ring_frames = {{ value = 1000, assumed = "large enough" }}
queue_frames = {{ value = 1000, assumed = "large enough" }}
transmit_queue_frames = {{ value = 1000, assumed = "large enough" }}
receive_buffer_bytes = {{ value = 65536, assumed = "not used" }}
send_buffer_bytes = {{ value = 65536, assumed = "not used" }}
window_bytes = {{ value = 65536, assumed = "not used" }}
delayed_ack_ms = {{ value = 40, assumed = "not used" }}
nagle = {{ value = 0, assumed = "not used" }}
"""


def copied(dataset: str, *options: str, pcap: Path | None = None) -> list[float]:
    """Seconds of each trial of a copy."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(LANLAB), "copy", dataset, *COPY, *options, "--json"]
        if pcap is not None:
            command += ["--pcap", str(pcap)]
        store = {"LANLAB_STORE": f"{folder}/store.sqlite"}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | store
        )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return [float(trial["elapsed_ns"]) / 1e9 for trial in found["trials"]]


def simulated(
    folder: Path,
    dataset: str,
    link: str,
    message_us: float,
    file_us: float,
    pcap: Path | None = None,
) -> float:
    """Seconds of a copy between machines of these costs."""
    file = folder / "machines.toml"
    file.write_text(MACHINE.format(message_us=message_us, file_us=file_us))
    both = f"{file}#here,{file}#here"
    options = ("--testbed", "simulated", "--machines", both, "--link", link, "--trials", "1")
    return copied(dataset, *options, pcap=pcap)[0]


def frames(pcap: Path, files: int) -> list[Frame]:
    """The frames of a copy to a server, from the first file's opening to the last one's end."""
    data = pcap.read_bytes()
    (magic,) = struct.unpack_from("<I", data)
    assert magic in (0xA1B2C3D4, 0xA1B23C4D), f"{pcap}: not a pcap file of this byte order"
    at, client, closed, found = 24, b"", 0, list[Frame]()
    while at < len(data) and closed < files:
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        mark = frame.find(_MARK)
        command = frame[mark + 4] if mark >= 0 else None
        if not client and command == _CREATE and _FIRST_FILE in frame:
            client = frame[6:12]
        if not client:
            continue
        found.append((frame[6:12] == client, length))
        closed += command == _CLOSE and bool(frame[mark + 9] & _IS_REPLY)
    return found


def alike_ratio(one: Sequence[Frame], other: Sequence[Frame]) -> float:
    """Share of the frames at which both are alike, those of each sender in their order: when two
    wait for each other, which of them is first on the wire is a matter of microseconds."""
    same = 0
    for is_client in (True, False):
        sides = [[frame for frame in side if frame[0] == is_client] for side in (one, other)]
        same += sum(a == b for a, b in zip(*sides, strict=False))
    return same / max(len(one), len(other))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=5)
    trials = parser.parse_args().trials

    def real(dataset: str, link: str, pcap: Path | None = None) -> list[float]:
        asked = ("--testbed", "virtual", "--link", link, "--trials", str(trials))
        return copied(dataset, *asked, pcap=pcap)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, many = CASES
        # A message is at most 4,096 bytes of a file, and its reply another.
        messages = 2 * 6_000_000 / 4096
        idle = [simulated(folder, one, CALIBRATED, 0, 0) for one in CASES]
        seen = [statistics.median(real(one, CALIBRATED)) for one in CASES]
        message_us = max(0.0, 1e6 * (seen[0] - idle[0]) / messages)
        rest_s = seen[1] - simulated(folder, many, CALIBRATED, message_us, 0)
        # Opened at both ends.
        file_us = max(0.0, 1e6 * rest_s / 100 / 2)
        print(
            f"{large} and {many} at {CALIBRATED}: {message_us:.1f} us a message, "
            f"{file_us:.1f} us for a file at each end"
        )
        print("copy      real (s), least to greatest     simulated (s)   error   frames   in order")
        for dataset, files in ((large, 1), (many, 100)):
            seen = real(dataset, COMPARED)
            first, second = folder / f"{dataset}.pcap", folder / f"{dataset}-simulated.pcap"
            real(dataset, COMPARED, first)
            virtual = simulated(folder, dataset, COMPARED, message_us, file_us, second)
            middle = statistics.median(seen)
            own, other = frames(first, files), frames(second, files)
            print(
                f"{dataset:9} {middle:.4f}  {min(seen):.4f} to {max(seen):.4f}  {virtual:14.4f}  "
                f"{100 * (virtual / middle - 1):+6.2f} %  {len(own)}, {len(other)}  "
                f"{100 * alike_ratio(own, other):.2f} %"
            )


if __name__ == "__main__":
    main()
