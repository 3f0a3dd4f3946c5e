"""The file server of a trial: the engine's own, an installed one that is started, or a user's."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from lanlab import trial_data as m
from lanlab.addresses import seen_from
from lanlab.errors import EngineError, UnmetNeed, UsageError
from lanlab.ipx import segment
from lanlab.performers.engine_host import (
    EngineHost,
    NetbiosNames,
    cancel,
    resolved,
    temporary_directory,
)
from lanlab.service_options import OPTIONS, engine_options
from lanlab.services import CARRIERS, EMBEDDED, SERVICES
from lanlab.testbeds.base import Host
from lanlab.workloads.parameters import TrialParameters
from lanlab.workloads.services import server_url
from lanlab.workloads.services.parameters import ServiceParameters

_SETUP_S = 120.0
_USER = "lanlab"
_STATION = "LANLAB"
#: In place of a name: the first installed server for a service.
INSTALLED = "installed"


@dataclass
class Server:
    target: m.Target
    #: CPU time of the server so far, seconds; `None` if unknown.
    cpu_s: Callable[[], float | None]
    facts: m.RoleResult = field(default_factory=m.RoleResult)
    #: The served directory, on a host of the testbed; `None`: elsewhere.
    root: str | None = None
    #: Total counts of an ended server, for the record.
    ended: m.RoleResult = field(default_factory=m.RoleResult)
    #: Why the CPU time of a server on this machine is unknown; `None` otherwise.
    cpu_unknown: Callable[[], str | None] = lambda: None

    def seen_since(self, before_s: float | None) -> m.RoleResult:
        """The server's facts for a trial's record, with the CPU time since `before_s`."""
        after_s = self.cpu_s()
        cpu_s = None if before_s is None or after_s is None else after_s - before_s
        if (reason := self.cpu_unknown()) is not None:
            # The server's work cannot be separated from that of other processes.
            none = {"kind": "file_server", "cpu_s": None, "cpu": None, "cpu_unknown": reason}
            return cast("m.RoleResult", none | self.facts)
        # A server on another machine uses no CPU time of this one.
        used: m.CpuTime = {"user_ns": round(1e9 * (cpu_s or 0.0)), "system_ns": 0}
        return {"kind": "file_server", "cpu_s": cpu_s, "cpu": used, **self.facts}


@contextlib.contextmanager
def served(
    parameters: ServiceParameters, client: EngineHost, host: EngineHost, connections: int = 0
) -> Iterator[Server]:
    """
    The server of a trial, for its duration.

    Args:
        connections: Connections at the same time; an embedded server that this host cannot support
            is refused. 0: no more than any process may have.
    """
    if parameters.is_users_server:
        url = server_url.parse_url(parameters.server)
        target = target_of(url, parameters, client)
        facts: m.RoleResult = {"server": parameters.server}
        if url.service == "directory":
            yield Server(target, lambda: None, facts, url.directory)
            return
        from lanlab.testbeds.servers.listening import LocalServer, is_this_machine

        address, port = target.get("address") or "", url.usual_port
        # A host with its own command is in another network namespace than this process.
        if port and not host.on.command_prefix and is_this_machine(address):
            local = LocalServer(address, port)
            yield Server(target, local.cpu_s, facts, cpu_unknown=lambda: local.unknown)
        else:
            yield Server(target, lambda: None, facts)
        return
    if parameters.service == "memory":
        target = {"service": "memory", "directory": secrets.token_hex(8)}
        yield Server(target, lambda: None, {"server": "none"}, None)
        return
    with temporary_directory(host, parameters.server_medium, for_server=True) as root:
        if parameters.service == "directory":
            target = {"service": "directory", "directory": root}
            yield Server(target, lambda: None, {"server": "none"}, root)
        elif parameters.server == "embedded":
            with _embedded(parameters, client, host, root, connections) as served:
                yield served
        else:
            with _real(parameters, client, host, root) as served:
                yield served


def target_of(
    url: server_url.ServerUrl, parameters: ServiceParameters, client: EngineHost
) -> m.Target:
    """
    A user's own server in a request to its client's engine, with its address as the client sees it.

    Raises:
        EngineError: Its name has no address there.
        UsageError: As in `server_url.target_of`.
    """
    target = server_url.target_of(url, parameters.trust)
    if url.service != "directory":
        target |= engine_options(SERVICES[parameters.service], parameters)
        if parameters.is_over_ip:
            has_old_names = OPTIONS["wins"].has_effect_on(SERVICES[url.service])
            names = NetbiosNames(parameters.wins) if has_old_names else None
            family = parameters.address_family
            target["address"] = resolved(client, url.host, family, names, url.usual_port)
        else:
            target |= {"carrier": cast("m.Carrier", parameters.carrier), "link": client.on.raw_link}
            target |= _segment(parameters)
    return target


def _segment(parameters: ServiceParameters) -> m.Target:
    service = SERVICES[parameters.service]
    return segment(service, parameters.ipx_framing, parameters.ipx_network)


def _credentials(parameters: ServiceParameters) -> m.Credentials | None:
    if not SERVICES[parameters.service].has_users:
        return None
    return {"user": _USER, "secret": SERVICES[parameters.service].new_password()}


@contextlib.contextmanager
def _embedded(
    parameters: ServiceParameters, client: EngineHost, host: EngineHost, root: str, connections: int
) -> Iterator[Server]:
    credentials = _credentials(parameters)
    service = SERVICES[parameters.service].engine_name
    request: m.Request = {
        "type": "serve",
        "service": service,
        "root": root,
        "bind": host.address,
        "port": parameters.port or 0,
        "credentials": credentials,
        "connections": connections,
    }
    address = seen_from(client.address, host.address)
    way: m.Target = {"address": address, "bind": client.address}
    if not parameters.is_over_ip:
        # Unique on the network.
        name = f"{_STATION}{secrets.token_hex(4).upper()}"
        own: m.Target = {"carrier": cast("m.Carrier", parameters.carrier), **_segment(parameters)}
        request["station"] = cast("m.ServeStation", own | {"link": host.on.raw_link, "name": name})
        if parameters.profile is not None:
            profile = cast("m.SystemProfile", parameters.profile)
            request["options"] = {"smb1": {"profile": profile}}
        way = {**own, "link": client.on.raw_link, "server_name": name}
    serving = host.engine.start(request)
    ended: m.RoleResult = {}
    try:
        ready = serving.wait_ready(_SETUP_S)
        facts = ready.get("served") or {}
        sha256 = facts.get("trust_sha256")
        target: m.Target = {
            "service": service,
            **way,
            "port": ready["ports"][0] or None,
            "share": facts.get("share"),
            "credentials": credentials,
            **engine_options(SERVICES[parameters.service], parameters),
            "trust": "system" if sha256 is None else {"sha256": sha256},
        }

        def cpu_s() -> float | None:
            used_ns = host.engine.ask({"type": "ping"}).get("engine_cpu_ns")
            return None if used_ns is None else used_ns / 1e9

        yield Server(target, cpu_s, {"server": "embedded"}, root, ended)
    finally:
        done = cancel(host.engine, serving) or {}
        if done.get("carrier") is not None:
            ended["carrier"] = done["carrier"]


@contextlib.contextmanager
def _real(
    parameters: ServiceParameters, client: EngineHost, host: EngineHost, root: str
) -> Iterator[Server]:
    from lanlab.testbeds.servers import Credentials, start

    service = cast("m.ServiceKind", parameters.service)
    credentials = _credentials(parameters)
    who = None if credentials is None else Credentials(credentials["user"], credentials["secret"])
    server = None if parameters.server == INSTALLED else parameters.server
    with start(host.on, service, Path(root), host.address, who, server=server) as running:
        # Some servers only have users with fixed names.
        own = running.credentials
        if own is not None:
            credentials = {"user": own.user, "secret": own.secret}
        sha256 = running.trust_sha256
        target: m.Target = {
            "service": service,
            "address": seen_from(client.address, host.address),
            "port": running.port,
            "bind": client.address,
            "share": running.share,
            "credentials": credentials,
            **engine_options(SERVICES[parameters.service], parameters),
            "trust": "system" if sha256 is None else {"sha256": sha256},
        }
        facts: m.RoleResult = {"server": parameters.server, "version": running.version}
        yield Server(target, running.cpu_s, facts, root)


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
            raise UsageError(error.message, hint=error.hint) from None
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
        if client.on.raw_link is not None:
            return
        raise UnmetNeed(
            f"{title} needs an Ethernet interface",
            hint="give the interface to the server, e.g. `--interface eth1`",
        )
    if client.on.raw_link is None or host.raw_link is None:
        raise UnmetNeed(
            f"{title} needs an Ethernet, which this testbed does not have",
            hint="use the virtual testbed, as with `--testbed virtual --link 10M`",
        )
