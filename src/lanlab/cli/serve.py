"""`lanlab serve`: serve a directory by a built-in server; or serve clients of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lanlab.cli.served_stack import (
    MEMORY,
    STACKS,
    StackAddressOption,
    StackMemoryOption,
    StackOption,
)
from lanlab.cli.service_options import DefaultRouteOption
from lanlab.errors import EngineError, UsageError
from lanlab.ipx import FRAMING_HELP, FRAMINGS, NETWORK_HELP
from lanlab.services import (
    FRAME_TITLES,
    PROFILES,
    SERVICES,
    USUAL_CARRIER,
    frame_carriers_of,
)

if TYPE_CHECKING:
    import ipaddress


#: Names of the carriers without IP, in words.
_FRAMED = ", ".join(f"{name} for {one.title}" for name, one in frame_carriers_of("smb1").items())
_PROFILES = ", ".join(f"{name} over {one.carrier}" for name, one in PROFILES.items())


def _served_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """
    An address of this machine.

    Raises:
        UsageError: The text is not an address, or names several.
    """
    import ipaddress

    from lanlab.addresses import is_of_one_link, zone_of

    try:
        wanted_address = ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(
            f"--address: found `{address}`; allowed: an address of this machine"
        ) from None
    if wanted_address.is_unspecified or wanted_address.is_multicast:
        raise UsageError(
            f"--address: found `{address}`; allowed: one address of this machine",
            hint="give this machine's address on the network to serve",
        )
    if is_of_one_link(address) and not zone_of(address):
        raise UsageError(
            f"--address: found the link-local address `{address}`; allowed: the address with its "
            "interface",
            hint=f"write e.g. `{address}%eth1`; `ip -6 address` shows the interface",
        )
    return wanted_address


def serve(
    context: typer.Context,
    directory: Annotated[
        str | None,
        typer.Argument(metavar="DIRECTORY", help="Directory to serve.", show_default=False),
    ] = None,
    peer: Annotated[
        str | None,
        typer.Option(
            "--peer",
            metavar="NAME",
            help="Serve a test protocol, not files: iperf3 (port 5201), discard, echo or chargen "
            "(TCP).",
        ),
    ] = None,
    service: Annotated[
        str, typer.Option("--service", metavar="NAME", help="File service, e.g. smb, sftp, nfs.")
    ] = "sftp",
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="ADDRESS",
            help="Address to listen on.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", metavar="NUMBER", min=0, max=65_535, help="Port; 0: any free port."),
    ] = 0,
    carrier: Annotated[
        str | None,
        typer.Option(
            "--carrier",
            metavar="NAME",
            help=f"Carrier of SMB 1: {USUAL_CARRIER}, or {_FRAMED} (with --interface). Default: "
            f"{USUAL_CARRIER}.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help=f"Period system to emulate (SMB 1 core dialect): {_PROFILES}. Default: none.",
        ),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            help=f"Ethernet interface for {FRAME_TITLES}, or --stack small. Needs root.",
        ),
    ] = None,
    stack: StackOption = STACKS[0],
    stack_address: StackAddressOption = None,
    stack_memory: StackMemoryOption = MEMORY,
    ipx_framing: Annotated[
        str, typer.Option("--ipx-framing", metavar="|".join(FRAMINGS), help=FRAMING_HELP)
    ] = FRAMINGS[0],
    ipx_network: Annotated[
        str | None, typer.Option("--ipx-network", metavar="NUMBER", help=NETWORK_HELP)
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            "--as",
            metavar="NAME",
            help="Server name (SMB 1, NetWare), 1 to 15 characters. Default: LANLAB.",
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            "--share",
            metavar="NAME",
            help="Name of the share (SMB) or volume (NetWare), 1 to 12 characters. Default: "
            "lanlab, SYS for NetWare.",
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="User name for logins. Default: lanlab."),
    ] = None,
    allow_default_route: DefaultRouteOption = False,
    write: Annotated[
        bool, typer.Option("--write", help="Let clients write. Default: read-only.")
    ] = False,
    guest: Annotated[
        bool,
        typer.Option(
            "--guest",
            help="Serve any host without a password (SMB 1, NetWare).",
        ),
    ] = False,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="OLDEST[..NEWEST]",
            help="SMB 1 dialect to offer: core, lanman1, lm12x002, nt1, or a range, e.g. "
            "core..lanman1. Default: all.",
        ),
    ] = None,
    password_file: Annotated[
        str | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help="File with the password. Default: $LANLAB_PASSWORD, else a new one at each start.",
        ),
    ] = None,
    require_signing: Annotated[
        bool,
        typer.Option(
            "--require-signing",
            help="Refuse clients that do not sign (SMB 1). Default: sign if the client does.",
        ),
    ] = False,
    clients: Annotated[
        int,
        typer.Option(
            "--clients", metavar="NUMBER", min=1, max=100, help="Concurrent clients (--peer)."
        ),
    ] = 64,
    longest: Annotated[
        str,
        typer.Option("--longest", metavar="TIME", help="Time limit per client (--peer)."),
    ] = "1h",
    rate_limit: Annotated[
        str | None,
        typer.Option(
            "--rate-limit",
            metavar="RATE",
            help="Rate limit per client and direction (--peer). Default: none.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time", metavar="TIME", help="Stop after this time. Default: run until Ctrl-C."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", "-J", help="Print a JSON object for each client and a final one (--peer)."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log connections.")] = False,
) -> None:
    """Serve a directory, or iperf3 clients, until Ctrl-C.

    By default it is read-only, listens on 127.0.0.1, and prints a new password at each start. It
    logs each connection and its dialect, and what was refused.

    With --interface it serves NetBEUI and IPX clients on that Ethernet, and with --stack small FTP
    at an address of its own. Both need root on Linux to open the socket; an unprivileged process
    reads the frames and serves the files.

    Examples: lanlab serve ~/photos --service smb;
    lanlab serve /tmp/measured --service sftp --address 192.168.7.2 --port 2222 --write;
    sudo lanlab serve ~/cnc --service smb1 --carrier nbf --interface eth1 --name CNCFILES;
    sudo lanlab serve ~/cnc --service ncp --interface eth1 --name CNCFILES;
    sudo lanlab serve ~/cnc --service ftp --stack small --stack-address 192.168.7.77
    --interface eth1;
    lanlab serve ~/cnc --service smb1 --as CNCFILES --share DATA --user cnc
    --password-file secret.txt --address 192.168.7.2 --port 139;
    lanlab serve ~/cnc --service smb1 --guest --dialect core..lanman1 --address 192.168.7.2;
    lanlab serve --peer iperf3 --address 192.168.7.2 --clients 8 --rate-limit 100M
    """
    from lanlab.cli.copy_places import check_given, directory_of
    from lanlab.cli.served_clients import print_clients, print_done, with_hint_on_port
    from lanlab.cli.served_dialects import credentials_of, dialects_of, worth_of
    from lanlab.cli.served_names import check_user, only_for, server_name, share_name
    from lanlab.cli.served_peers import check_unused, serve_peers
    from lanlab.cli.served_stack import own_stack_of
    from lanlab.cli.served_station import carried, station_of, system_of
    from lanlab.cli.terminal import print_lines, say
    from lanlab.errors import of_name
    from lanlab.performers.servers.embedded import Wanted, serving
    from lanlab.service_options import OPTIONS
    from lanlab.units import time_of

    within_s = None if time is None else time_of("--time", time)
    check_unused(context, peer)
    if peer is not None:
        serve_peers(
            peer,
            place=(address, port),
            clients=clients,
            longest=longest,
            rate_limit=rate_limit,
            within_s=within_s,
            is_loopback=_served_address(address).is_loopback,
            as_json=as_json,
        )
        return
    if directory is None:
        raise UsageError(
            "DIRECTORY is missing",
            hint="write e.g. `lanlab serve ~/photos`, or serve a test protocol with `--peer "
            "iperf3`",
        )
    check_given("DIRECTORY", directory)
    offered = carried(of_name("file service", service, SERVICES), carrier)
    if offered.is_local or not offered.is_embedded:
        raise UsageError(
            f"service `{service}` has no server",
            hint="name one that has, e.g. `--service sftp`",
        )
    if require_signing and not OPTIONS["signing"].has_effect_on(offered):
        raise only_for("--require-signing", service, "smb1")
    system = system_of(offered, profile)
    called, shared = server_name(offered, name), share_name(offered, share)
    check_user(offered, user, guest=guest)
    own_stack = own_stack_of(
        offered,
        stack,
        stack_address,
        stack_memory,
        interface,
        address,
        allow_default_route=allow_default_route,
    )
    station = station_of(
        offered,
        None if own_stack is not None else interface,
        called,
        (address, port),
        (ipx_framing, ipx_network),
        profile=profile,
        allow_default_route=allow_default_route and own_stack is None,
    )
    root = directory_of("DIRECTORY", directory)
    address = address if own_stack is None else own_stack.address
    wanted_address = _served_address(address)
    dialects = dialects_of(offered, dialect, system, require_signing=require_signing)
    credentials, is_chosen = credentials_of(
        offered, password_file, user=user, guest=guest, require_signing=require_signing
    )
    if credentials is None and station is None and not wanted_address.is_loopback:
        why = "is served without a password" if guest else "has no logins"
        say(
            f"warning: {offered.name} {why}: every host that reaches {address} can "
            f"{'read and write' if write else 'read'} this directory"
        )
    elif offered.dialects and station is None and not wanted_address.is_loopback:
        say(
            f"warning: {offered.name} encrypts nothing: who reads the network that {address} is in "
            "reads these files and can find the password; keep old machines in a network of their "
            "own"
        )
    wanted = Wanted(
        offered.name,
        str(root),
        address,
        port,
        not write,
        credentials,
        station,
        own_stack,
        require_signing,
        dialects,
        None if station is not None else called,
        shared,
        not quiet,
    )
    try:
        with serving(wanted) as served:
            print_lines(f"serving     {root} ({'read and write' if write else 'read-only'})")
            print_lines(f"address     {served.url}")
            if served.mount_command is not None:
                print_lines(f"mount       {served.mount_command}")
            if system is not None:
                print_lines(
                    f"system      {system.title}: {system.sessions} sessions, messages of "
                    f"{system.message_bytes:,} B"
                )
            if credentials is not None:
                print_lines(f"user        {credentials['user']}")
                secret = "as you gave it" if is_chosen else credentials["secret"]
                print_lines(f"password    {secret}")
            if require_signing:
                print_lines("signing     required: clients that do not sign are refused")
            if served.trust_sha256 is not None:
                print_lines(f"identity    sha256 {served.trust_sha256}")
            for line in worth_of(offered, dialects, has_password=credentials is not None):
                print_lines(line)
            print_lines("end it with Ctrl-C" if within_s is None else f"ends after {within_s:g} s")
            print_clients(served, within_s)
    except KeyboardInterrupt:
        # Ctrl-C is the normal end.
        pass
    except EngineError as error:
        raise with_hint_on_port(error, port) from None
    print_done(served)
