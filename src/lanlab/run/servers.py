"""Real file servers for trials: those of the testbeds, as workloads ask for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanlab.errors import UnmetNeed
from lanlab.testbeds.base import Host

if TYPE_CHECKING:
    from lanlab.testbeds.servers import RunningServer


def start_server(
    host: Host,
    name: str,
    service: str,
    root: Path,
    address: str,
    credentials: Mapping[str, Any] | None,
) -> RunningServer:
    """
    Start a server on a host.

    Args:
        name: Of the server, as `samba`.
        service: As engines name it.
        root: The directory to serve.
        credentials: `user` and `secret`; `None`: anybody.

    Raises:
        UnmetNeed: It cannot be had on this system.
        LabError: As `lanlab.testbeds.servers.start`.
    """
    if sys.platform == "win32":
        raise UnmetNeed(f"server `{name}` needs a Unix system", hint="use server `embedded`")
    from lanlab.testbeds.servers import Credentials, start

    who = None if credentials is None else Credentials(credentials["user"], credentials["secret"])
    return start(host, service, root, address, who, service in ("ftps", "webdavs"), server=name)
