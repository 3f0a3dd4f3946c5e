"""
The options of file services, one row each.

A row makes the parameter of a study, the option of the command line with its help, the parameter of
a URL, the field of a request to an engine, the errors, and the row of the reference. In the engine
an option is one field (`crates/files/src/service_options.rs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from lanlab.frozen import dataclass
from lanlab.messages import Carrier, Target
from lanlab.services import CARRIERS, PROFILES, USUAL_CARRIER, Service, profiles_over


@dataclass(frozen=True)
class ServiceOption:
    key: str
    #: The service that has it, by its `engine_name`.
    service: str
    help: str
    #: A flag if it is a `bool`.
    default: str | bool | None = None
    #: The allowed values, perhaps by service; empty: any text that `problem` accepts.
    values: tuple[str, ...] | Callable[[Service], tuple[str, ...]] = ()
    #: What is allowed instead of a text; empty if the text is.
    problem: Callable[[str], str] = lambda text: ""
    #: The carriers over which it has an effect, and their names for errors.
    over: Callable[[Carrier], bool] = lambda carrier: True
    carriers: str = ""
    #: The placeholder in `--help`; empty: made from the type or values.
    metavar: str = ""
    #: Whether a URL may have it after `?`.
    in_url: bool = False
    #: Whether the engine has a field with its key.
    in_engine: bool = True
    #: The values that simulated machines support; empty for all.
    simulated: tuple[str | None, ...] = ()
    #: Topic of `--help`, from `lanlab.cli.help.groups.TITLES`.
    topic: str = "smb1"

    def has_effect_on(self, service: Service) -> bool:
        return self.service == service.engine_name and self.over(service.carrier)

    def check(self, value: str | bool | None, service: Service) -> None:
        """
        Refuse a value that the service does not support.

        Raises:
            ValueError: The option has no effect on the service, or the value is not allowed.
        """
        if value == self.default:
            return
        if not self.has_effect_on(service):
            needs = self.carriers or f"service `{self.service}`"
            raise ValueError(f"{self.key} has no effect here; it needs {needs}")
        known = self.values(service) if callable(self.values) else self.values
        allowed = self.problem(str(value)) if not known or value in known else ", ".join(known)
        if allowed:
            raise ValueError(f"{self.key}: found `{value}`; allowed: {allowed}")


def _not_one_address(text: str) -> str:
    import ipaddress

    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return "the IPv4 address of a WINS server"
    is_many = address.is_multicast or text in ("0.0.0.0", "255.255.255.255")
    return "the address of one server" if is_many else ""


def _is_tcp(carrier: Carrier) -> bool:
    return carrier == USUAL_CARRIER


def _has_signatures_and_raw(carrier: Carrier) -> bool:
    return CARRIERS[carrier].has_signatures_and_raw


_PROFILES = " or ".join(
    f"{name} ({one.title}, {one.years[0]} to {one.years[1]}, carrier {one.carrier})"
    for name, one in PROFILES.items()
)
_ROWS = (
    ServiceOption(
        "profile",
        "smb1",
        f"Period system to emulate at both ends: {_PROFILES}. Default: none.",
        values=lambda service: tuple(profiles_over(service.carrier)),
        over=lambda carrier: bool(profiles_over(carrier)),
        metavar="NAME",
        carriers="carrier " + " or ".join(f"`{one.carrier}`" for one in PROFILES.values()),
    ),
    ServiceOption(
        "dialect",
        "smb1",
        "SMB 1 dialect: core, lanman1, lm12x002 or nt1. Default: the newest that the server "
        "supports.",
        values=lambda service: service.dialects,
        metavar="NAME",
        in_url=True,
    ),
    ServiceOption(
        "signing",
        "smb1",
        "SMB 1 signing: `required` refuses servers that do not sign. Default: `auto`, if the "
        "server requires it.",
        values=("auto", "required"),
        over=_has_signatures_and_raw,
        in_url=True,
        simulated=(None, "auto"),
    ),
    ServiceOption(
        "wins",
        "smb1",
        "IPv4 address of a WINS server to resolve SMB 1 server names. Default: broadcast on the "
        "local networks.",
        problem=_not_one_address,
        over=_is_tcp,
        metavar="ADDRESS",
        in_url=True,
        in_engine=False,
    ),
    ServiceOption(
        "packet_burst",
        "ncp",
        "NetWare packet burst: `off` sends each block in one packet. Default: `on`, if the server "
        "supports it.",
        values=("on", "off"),
        in_url=True,
        # Simulated servers are NetWare 2, which has no packet burst.
        simulated=(None, "off"),
        topic="ipx",
    ),
    ServiceOption(
        "raw",
        "smb1",
        "Use SMB 1 raw reads and writes, one at a time, like LAN Manager.",
        default=False,
        over=_has_signatures_and_raw,
    ),
    ServiceOption(
        "tcp_profile",
        "smb1",
        "TCP settings of SMB 1: this system's, or `nt4` (1460 B segments, a window of about 8760 "
        "B).",
        default="system",
        values=("system", "nt4"),
        over=_is_tcp,
        simulated=("system",),
    ),
)
#: By key, in the order of `--help`.
OPTIONS: Mapping[str, ServiceOption] = {row.key: row for row in _ROWS}


def options_of(service: Service) -> list[ServiceOption]:
    return [row for row in OPTIONS.values() if row.has_effect_on(service)]


def engine_options(service: Service, parameters: object, *, waits_on: bool = False) -> Target:
    """
    The options of a trial's parameters in a request to an engine; empty for the defaults.

    Args:
        waits_on: Whether a historic service on simulated machines waits for late replies.
    """
    rows = [row for row in options_of(service) if row.in_engine]
    given = {
        row.key: value for row in rows if (value := getattr(parameters, row.key)) != row.default
    }
    if waits_on and service.engine_name in ("smb1", "ncp"):
        given["waits_on"] = True
    return cast("Target", {"options": {service.engine_name: given}} if given else {})
