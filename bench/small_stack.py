"""
Goodput of lanlab's small TCP to and from a kernel's TCP, on lanlab's own medium.

    sudo .venv/bin/python bench/small_stack.py --runs 3     # on a quiet machine, 1 minute

Default buffers, one flow, messages of 1460 bytes. What one Ethernet carries of TCP is 1460 of 1538
octets: 9.493 and 94.93 Mbit/s.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from contextlib import ExitStack

from lanlab.engine import Engine, engine_path
from lanlab.performers import EngineHost, metrics_of, perform_between
from lanlab.testbeds import testbed
from lanlab.workloads import WORKLOADS, CounterChanges

LINKS = ("10M", "100M")
MEMORY_BYTES = 200_000
#: Takes one connection and reads from it, or writes to it, until it ends.
PEER = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0))
print(listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
try:
    if sys.argv[2] == "reads":
        while connection.recv(65536):
            pass
    else:
        while True:
            connection.sendall(bytes(16384))
except OSError:
    pass
"""


def measured(link: str, runs: int, seconds: float) -> None:
    """Print a line for each direction over a link."""
    kind = WORKLOADS["stream"]
    with ExitStack() as stack:
        bed = stack.enter_context(testbed("virtual", 2, link))
        ends = []
        for host in bed.hosts:
            engine = stack.enter_context(Engine(host.name, [*host.command_prefix, engine_path()]))
            boot_id = engine.describe()["boot_id"]
            address = host.addresses["ipv4"]
            ends.append(EngineHost(engine, address, boot_id, host))
        address, prefix = ends[1].address, bed.hosts[1].command_prefix
        for direction, does, metric in (
            ("forward", "reads", "acknowledged_bps"),
            ("reverse", "writes", "goodput_bps"),
        ):
            rates_bps, held_bytes = [], 0.0
            for _ in range(runs):
                command = [*prefix, sys.executable, "-c", PEER, address, does]
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
                    assert program.stdout is not None
                    port = int(program.stdout.readline())
                    condition = kind.Parameters.model_validate(
                        {
                            "transport": "tcp",
                            "message_size_bytes": 1460,
                            "stack": "small",
                            "stack_address": address.rpartition(".")[0] + ".77",
                            "stack_memory_bytes": MEMORY_BYTES,
                            "peer": f"tcp://{address}:{port}",
                            "traffic_direction": direction,
                            "time_s": seconds,
                            "warmup_s": 0.3,
                        }
                    )
                    outcome = perform_between(kind, condition, ends[0], ends[1], 0.1, None)
                    program.kill()
                if outcome.error is not None:
                    raise outcome.error
                metrics = metrics_of(kind, condition, outcome, CounterChanges())
                rates_bps.append(metrics[metric])
                held_bytes = max(held_bytes, metrics["stack_held_bytes"])
            least, most = min(rates_bps) / 1e6, max(rates_bps) / 1e6
            print(
                f"{link:>5}  {'to' if direction == 'forward' else 'from'} the kernel  "
                f"{statistics.median(rates_bps) / 1e6:.3f} ({least:.3f} … {most:.3f}) Mbit/s, "
                f"at most {held_bytes:.0f} bytes held",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    asked = parser.parse_args()
    for link in LINKS:
        measured(link, asked.runs, asked.seconds)


if __name__ == "__main__":
    main()
