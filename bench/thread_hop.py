"""
What a round trip over NetBEUI takes above a kernel UDP echo on the same link, in one run.

Two network namespaces are joined by a virtual cable. Both kinds of round trips of 64 bytes take
turns in blocks of 100, so that other programs disturb both alike.

    cargo build --release -p lanlab-connections --example thread_hop
    python bench/thread_hop.py target/release/examples/thread_hop
"""

from __future__ import annotations

import argparse
import subprocess

from lanlab.testbeds.namespaces import Namespaces

_ADDRESSES = ("10.9.8.1", "10.9.8.2")


def main() -> None:
    """Start both ends, and print what the asking one says."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    asked.add_argument("program", help="the built example")
    asked.add_argument("--blocks", type=int, default=30, help="blocks of 100 round trips")
    given = asked.parse_args()
    namespaces = Namespaces()
    try:
        here, there = namespaces.add(2)
        peer = ["type", "veth", "peer", "name", "right", "netns", str(there.pid)]
        for host, argv in (
            (here, ["link", "add", "left", *peer]),
            (here, ["addr", "add", f"{_ADDRESSES[0]}/24", "dev", "left"]),
            (there, ["addr", "add", f"{_ADDRESSES[1]}/24", "dev", "right"]),
            (here, ["link", "set", "left", "up"]),
            (there, ["link", "set", "right", "up"]),
        ):
            subprocess.run([*host.command_prefix, "ip", *argv], check=True)
        answering = subprocess.Popen(
            [*there.command_prefix, given.program, "answer", "right", _ADDRESSES[1]],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert answering.stdout is not None
            assert answering.stdout.readline() == "ready\n"
            argv = [given.program, "ask", "left", _ADDRESSES[1], str(given.blocks)]
            subprocess.run([*here.command_prefix, *argv], check=True, timeout=300)
        finally:
            answering.kill()
            answering.wait()
    finally:
        namespaces.close()


if __name__ == "__main__":
    main()
