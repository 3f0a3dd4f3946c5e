"""What `lanlab serve` prints of the clients that come."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING

from lanlab.cli.terminal import print_lines

if TYPE_CHECKING:
    from lanlab.performers.servers.embedded import Serving


def print_clients(served: Serving, within_s: float | None) -> None:
    """A line for what a client does, until the end."""
    for seen in served.clients(within_s):
        now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
        again = f", {seen['times']} times" if seen["times"] > 1 else ""
        if seen["left_out"]:
            print_lines(f"{now}    … {seen['left_out']} more, not shown")
        print_lines(f"{now}    {seen['peer']}  {seen['what']}{again}")
        sys.stdout.flush()
