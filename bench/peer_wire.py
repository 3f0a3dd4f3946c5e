"""
Watch the datagrams of one length arrive at an interface, and say how far apart they were.

Independent of lanlab and of every peer: a packet socket on the receiving host, with the kernel's
own stamp of each frame (SO_TIMESTAMPNS: nanoseconds, taken as the frame comes off the wire). It
looks only every few milliseconds, so that it wakes nobody while frames arrive. `peers.py` starts
it:

    python peer_wire.py eth0 PAYLOAD_BYTES NOMINAL_NS

It prints `ready`, and the figures as JSON once its standard input is closed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import select
import socket
import struct
import sys

_ALL_PROTOCOLS = 0x0003
_SO_RCVBUFFORCE = 33
_SO_TIMESTAMPNS = 35
_OUTGOING = 4
_LOOK_EVERY_S = 0.005
_RING_BYTES = 64 * 2**20
#: Cut from both ends of what was seen: a set-up, a warm-up's end.
_CUT_NS = (300_000_000, 100_000_000)
#: Below this share of the nominal gap two datagrams count as back to back.
_BACK_TO_BACK = 0.1


def payload_bytes(frame: bytes) -> int | None:
    """Payload of a UDP datagram in an Ethernet frame; `None` of anything else."""
    kind = frame[12:14]
    if kind == b"\x08\x00" and len(frame) >= 42 and frame[23] == 17:
        at = 14 + 4 * (frame[14] & 15)
    elif kind == b"\x86\xdd" and len(frame) >= 62 and frame[20] == 17:
        at = 54
    else:
        return None
    return int.from_bytes(frame[at + 4 : at + 6], "big") - 8


def gaps_summary(stamps_ns: list[int], nominal_ns: float) -> dict[str, float]:
    """Percentiles of the gaps (nearest rank), and the share of pairs that came back to back."""
    first, last = stamps_ns[0] + _CUT_NS[0], stamps_ns[-1] - _CUT_NS[1]
    kept = [stamp for stamp in stamps_ns if first <= stamp <= last]
    gaps = sorted(b - a for a, b in itertools.pairwise(kept))
    if len(gaps) < 100:
        return {"seen": len(stamps_ns)}
    near = sum(gap < _BACK_TO_BACK * nominal_ns for gap in gaps)
    return {
        "seen": len(stamps_ns),
        "gap_p1_ns": gaps[len(gaps) // 100],
        "gap_p50_ns": gaps[len(gaps) // 2],
        "gap_p99_ns": gaps[99 * len(gaps) // 100],
        "back_to_back_ratio": near / len(gaps),
    }


def main() -> int:
    """Watch until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("interface")
    parser.add_argument("payload_bytes", type=int)
    parser.add_argument("nominal_ns", type=float, help="gap of two datagrams as sent")
    asked = parser.parse_args()
    stamps: list[int] = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RING_BYTES)
        wire.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        wire.bind((asked.interface, _ALL_PROTOCOLS))
        wire.setblocking(False)
        print("ready", flush=True)
        ended = False
        while not ended:
            ended = bool(select.select([sys.stdin], [], [], _LOOK_EVERY_S)[0])
            while True:
                try:
                    frame, beside, _, address = wire.recvmsg(96, 64)
                except BlockingIOError:
                    break
                # On loopback every frame is seen twice.
                if address[2] == _OUTGOING or payload_bytes(frame) != asked.payload_bytes:
                    continue
                seconds, nanoseconds = struct.unpack("qq", beside[0][2])
                stamps.append(seconds * 1_000_000_000 + nanoseconds)
    print(json.dumps(gaps_summary(stamps, asked.nominal_ns) if stamps else {"seen": 0}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
