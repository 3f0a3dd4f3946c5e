"""What `lanlab serve` prints about its clients, and errors of ports that need root."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING

from lanlab.cli.terminal import print_lines

if TYPE_CHECKING:
    from lanlab.errors import EngineError
    from lanlab.performers.servers.embedded import Serving

#: Lower ports need root, unless the system is configured otherwise.
_UNPRIVILEGED = 1024


def print_done(served: Serving) -> None:
    from lanlab.cli.served_stack import stack_words
    from lanlab.workloads.carrier_counts import carrier_words

    done = served.done
    if done is not None:
        print_lines(
            f"served      {done['accepted']} connections in {done['elapsed_ns'] / 1e9:.0f} s"
        )
        if (counted := done.get("carrier")) is not None:
            print_lines(f"frames      {carrier_words(counted)}")
        if (stack := done.get("stack")) is not None:
            print_lines(f"stack       {stack_words(stack)}")


def print_clients(served: Serving, within_s: float | None) -> None:
    for seen in served.clients(within_s):
        now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
        again = f", {seen['times']} times" if seen["times"] > 1 else ""
        if seen["left_out"]:
            print_lines(f"{now}    … {seen['left_out']} more, not shown")
        print_lines(f"{now}    {seen['peer']}  {seen['what']}{again}")
        sys.stdout.flush()


def with_hint_on_port(error: EngineError, port: int) -> EngineError:
    """For a port below 1024, an error with a hint on what is needed to listen there."""
    if error.code == "system.permission" and 0 < port < _UNPRIVILEGED:
        error.hint = (
            f"a port below {_UNPRIVILEGED} takes root, or on Linux `sudo sysctl "
            f"net.ipv4.ip_unprivileged_port_start={port}`"
        )
    return error
