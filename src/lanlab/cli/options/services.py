"""Arguments and options that commands for file services share, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from lanlab.cli.options.shared import option
from lanlab.cli.terminal.remarks import say
from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.services import FRAME_TITLES, schemes

TargetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="Server URL or directory; several are ranked. Default: a built-in server.",
    ),
]
DefaultRouteOption = Annotated[
    bool,
    typer.Option("--allow-default-route", help="Allow an interface that has the default route."),
]
PasswordFilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--password-file",
        metavar="[SERVICE=]FILE",
        help="File with the password or SSH private key, for one service if named; may be "
        "repeated. Default: $LANLAB_PASSWORD, ssh-agent, or a prompt.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ServerOptions:
    """How to log in to a user's server, and the interface to one without IP."""

    password_file: str | None = option(
        "--password-file",
        "FILE",
        "File with the password or SSH private key. Default: $LANLAB_PASSWORD, ssh-agent, or a "
        "prompt.",
    )
    interface: str | None = option(
        "--interface", "NAME", f"Ethernet interface to a server on {FRAME_TITLES}. Needs root."
    )
    allow_default_route: DefaultRouteOption = False


def check_trust(trust: str | None, servers: Sequence[str]) -> None:
    """
    Check --trust and that it applies to at least one server, and name the servers to which it does
    not.

    Args:
        trust: As typed.
        servers: URLs of servers; empty for servers that lanlab starts.

    Raises:
        UsageError: No server has a certificate or host key, or --trust is malformed or names a file
            that cannot be read.
    """
    from lanlab.workloads.services.server_url import checked_trust

    checked_trust(trust)
    urls = [server for server in servers if "://" in server]
    if trust is None or not urls:
        return
    known = schemes()
    without = [url for url in urls if not known[url.partition("://")[0].lower()].has_identity]
    named = " and ".join(f"`{url}`" for url in without)
    have = "has" if len(without) == 1 else "have"
    if len(without) == len(urls):
        raise UsageError(
            f"--trust: {named} {have} no certificate or host key to check",
            hint="omit it, or name a server that has one, e.g. `sftp://NAS/PATH`",
        )
    if without:
        say(f"--trust is for the other servers: {named} {have} no certificate or host key")
