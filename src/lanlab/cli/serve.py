"""`lanlab serve`: serve a directory by a built-in server; or serve clients of other programs."""

from __future__ import annotations

import typer

from lanlab.cli.host_options import with_fields
from lanlab.cli.options import argument, flag, option
from lanlab.cli.served_options import FileOptions, PeerOptions
from lanlab.units import time_of


@with_fields(PeerOptions, "peers")
@with_fields(FileOptions, "files")
def serve(
    context: typer.Context,
    directory: str | None = argument("DIRECTORY", "Directory to serve.", show_default=False),
    peer: str | None = option(
        "--peer",
        "NAME",
        "Serve a test protocol, not files: iperf3 (port 5201), discard, echo or chargen (TCP).",
    ),
    service: str = option("--service", "NAME", "File service, e.g. smb, sftp, nfs.", "sftp"),
    address: str = option("--address", "ADDRESS", "Address to listen on.", "127.0.0.1"),
    port: int = option("--port", "NUMBER", "Port; 0: any free port.", 0, min=0, max=65_535),
    *,
    files: FileOptions,
    peers: PeerOptions,
    time: str | None = option("--time", "TIME", "Stop after this time. Default: run until Ctrl-C."),
    as_json: bool = flag(
        "--json -J", "Print a JSON object for each client and a final one (--peer)."
    ),
    quiet: bool = flag("--quiet", "Do not log connections."),
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
    from lanlab.cli.served_files import serve_files
    from lanlab.cli.served_peers import check_unused, serve_peers

    within_s = None if time is None else time_of("--time", time, most="8760 h")
    check_unused(context, peer)
    if peer is not None:
        serve_peers(peer, (address, port), peers, within_s, as_json=as_json)
    else:
        serve_files(directory, service, (address, port), files, within_s, logs=not quiet)
