"""`lanlab serve`: a directory, served by one of the built-in servers."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.errors import UsageError

_USER = "lanlab"


def serve(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="Directory to serve.", show_default=False)
    ],
    service: Annotated[
        str, typer.Option("--service", metavar="NAME", help="File service, e.g. smb, sftp, nfs.")
    ] = "sftp",
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="ADDRESS",
            help="Address of this machine to listen on; others reach it only at one that they can "
            "reach.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="NUMBER", min=0, max=65_535, help="Port. Default: one that is free."
        ),
    ] = 0,
    write: Annotated[
        bool, typer.Option("--write", help="Let clients write. Default: read-only.")
    ] = False,
    require_signing: Annotated[
        bool,
        typer.Option(
            "--require-signing",
            help="Serve only clients that sign their messages (SMB 1). Default: sign where a "
            "client asks for it.",
        ),
    ] = False,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="TIME", help="Stop after this time. Default: at Ctrl-C."),
    ] = None,
) -> None:
    """Serve a directory by a built-in server until Ctrl-C.

    It listens on this machine alone unless --address names another address, and is
    read-only unless --write is given. It makes a new password at each start and prints it once.

    Examples: lanlab serve ~/photos --service smb;
    lanlab serve /tmp/measured --service sftp --address 192.168.7.2 --port 2222 --write
    """
    import ipaddress

    from lanlab.cli.copy_places import check_given, directory_of
    from lanlab.cli.terminal import print_lines, say
    from lanlab.errors import of_name
    from lanlab.performers.serving import Wanted, serving
    from lanlab.services import SERVICES, USUAL_CARRIER
    from lanlab.units import parse_time_s

    check_given("DIRECTORY", directory)
    offered = of_name("file service", service, SERVICES)
    if offered.is_local:
        raise UsageError(
            f"service `{service}` has no server",
            hint="name one that has, as in `--service sftp`",
        )
    if offered.carrier != USUAL_CARRIER:
        raise UsageError(
            f"service `{service}` cannot be served by this command yet",
            hint="`lanlab copy` and `lanlab stations` start such a server for a trial",
        )
    if require_signing and not offered.dialects:
        raise UsageError(
            f"--require-signing: found service `{service}`; allowed: smb1",
            hint="leave it out, or serve by `--service smb1`",
        )
    root = directory_of("DIRECTORY", directory)
    try:
        wanted_address = ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(
            f"--address: found `{address}`; allowed: an address of this machine"
        ) from None
    if wanted_address.is_unspecified or wanted_address.is_multicast:
        raise UsageError(
            f"--address: found `{address}`; allowed: one address of this machine",
            hint="name the address of the network that shall reach it",
        )
    within_s = None if time is None else parse_time_s(time)
    credentials = None
    if offered.has_users:
        credentials = {"user": _USER, "secret": offered.new_password()}
    elif not wanted_address.is_loopback:
        say(
            f"warning: {service} has no logins: every host that reaches {address} can "
            f"{'read and write' if write else 'read'} this directory"
        )
    wanted = Wanted(service, str(root), address, port, not write, credentials, require_signing)
    try:
        with serving(wanted) as served:
            print_lines(f"serving     {root} ({'read and write' if write else 'read-only'})")
            print_lines(f"address     {served.url}")
            if credentials is not None:
                print_lines(f"user        {credentials['user']}")
                print_lines(f"password    {credentials['secret']}")
            if require_signing:
                print_lines("signing     required: clients that do not sign are refused")
            if served.trust_sha256 is not None:
                print_lines(f"identity    sha256 {served.trust_sha256}")
            print_lines("end it with Ctrl-C" if time is None else f"ends after {time}")
            served.wait(within_s)
    except KeyboardInterrupt:
        # That is how it ends.
        pass
    done = served.done
    if done is not None:
        print_lines(
            f"served      {done['accepted']} connections in {done['elapsed_ns'] / 1e9:.0f} s"
        )
