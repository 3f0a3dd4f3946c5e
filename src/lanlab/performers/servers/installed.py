"""Real file servers for trials: the testbeds' servers, for the use of workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lanlab.errors import EngineError, UnmetNeed, UsageError
from lanlab.messages import Credentials
from lanlab.performers.engine_host import EngineHost
from lanlab.performers.servers.of_trial import target_of
from lanlab.services import CARRIERS, EMBEDDED, SERVICES
from lanlab.testbeds.base import Host
from lanlab.workloads import server_url
from lanlab.workloads.parameters import TrialParameters
from lanlab.workloads.service_parameters import ServiceParameters

if TYPE_CHECKING:
    from lanlab.testbeds.servers import RunningServer
    from lanlab.testbeds.servers.listening import LocalServer

#: In place of a name: the first installed server for a service.
INSTALLED = "installed"


def check_server(parameters: TrialParameters, host: Host, client: EngineHost) -> None:
    """
    Check before a run that the server of a file service is available.

    Args:
        host: Where it would run.
        client: Looks up the name of a user's own server.

    Raises:
        UsageError: The server is unknown, or does not serve that; a program or right is missing; or
            there is no password for a user's own server.
    """
    if not isinstance(parameters, ServiceParameters):
        return
    if not parameters.is_over_ip:
        _check_raw_links(parameters, host, client)
    if parameters.is_users_server:
        url = server_url.parse_url(parameters.server)
        try:
            target_of(url, parameters, client)
        except EngineError as error:
            raise UsageError(error.message) from None
    elif parameters.server != EMBEDDED:
        from lanlab.testbeds.servers import Credentials, chosen, server_named

        name = parameters.server
        if name == INSTALLED:
            name = chosen(parameters.service, None, host).name
        has_users = SERVICES[parameters.service].has_users
        anybody = Credentials("somebody", "a secret") if has_users else None
        found = server_named(name)
        problem = found.problem(parameters.service, anybody)
        if problem is not None:
            raise UsageError(problem)
        found.check_found(host)


def _check_raw_links(parameters: ServiceParameters, host: Host, client: EngineHost) -> None:
    """
    Raises:
        UnmetNeed: A host has no Ethernet for frames without IP.
    """
    title = CARRIERS[SERVICES[parameters.service].carrier].title
    if parameters.is_users_server:
        if client.raw_link is not None:
            return
        raise UnmetNeed(
            f"{title} needs an Ethernet interface",
            hint="give the interface to the server, e.g. `--interface eth1`",
        )
    if client.raw_link is None or host.raw_link is None:
        raise UnmetNeed(
            f"{title} needs an Ethernet, which this testbed does not have",
            hint="use the virtual testbed, as with `--testbed virtual --link 10M`",
        )


def find_server(address: str, port: int) -> LocalServer | None:
    """A user's own server, to watch its CPU time.

    Returns:
        `None` if it is on another machine, or this system does not show who holds a socket.
    """
    from lanlab.testbeds.servers.listening import LocalServer, is_this_machine

    return LocalServer(address, port) if is_this_machine(address) else None


def start_server(
    host: Host, name: str, service: str, root: Path, address: str, credentials: Credentials | None
) -> RunningServer:
    """
    Start a server on a host.

    Args:
        name: Name of the server, such as `samba`, or `installed`.
        service: The engine's name of the service.
        root: The directory to serve.
        credentials: `user` and `secret`; `None`: any user.

    Raises:
        UnmetNeed: It is not available on this system.
        LabError: As in `lanlab.testbeds.servers.start`.
    """
    from lanlab.testbeds.servers import Credentials, start

    who = None if credentials is None else Credentials(credentials["user"], credentials["secret"])
    server = None if name == INSTALLED else name
    return start(host, service, root, address, who, server=server)
