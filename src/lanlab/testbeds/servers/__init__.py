"""Real file servers of this machine, run on hosts of a testbed; `SERVERS` is the registry."""

from lanlab.testbeds.servers.base import Credentials
from lanlab.testbeds.servers.registry import (
    SERVERS,
    ServerNeed,
    chosen,
    server_named,
    server_needs,
    server_of,
    start,
)
from lanlab.testbeds.servers.running import RunningServer

__all__ = [
    "SERVERS",
    "Credentials",
    "RunningServer",
    "ServerNeed",
    "chosen",
    "server_named",
    "server_needs",
    "server_of",
    "start",
]
