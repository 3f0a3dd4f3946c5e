"""`lanlab serve`: serve a directory by a built-in server."""

from __future__ import annotations

from lanlab.cli.options.hosts import with_fields
from lanlab.cli.options.shared import argument, flag, option
from lanlab.cli.serving.options import FileOptions
from lanlab.units import time_of


@with_fields(FileOptions, "files")
def serve(
    directory: str | None = argument("DIRECTORY", "Directory to serve.", show_default=False),
    service: str = option("--service", "NAME", "File service, e.g. smb, sftp, nfs.", "sftp"),
    address: str = option("--address", "ADDRESS", "Address to listen on.", "127.0.0.1"),
    port: int = option("--port", "NUMBER", "Port; 0: any free port.", 0, min=0, max=65_535),
    *,
    files: FileOptions,
    time: str | None = option("--time", "TIME", "Stop after this time. Default: run until Ctrl-C."),
    quiet: bool = flag("--quiet", "Do not log connections."),
) -> None:
    """Serve a directory until Ctrl-C.

    By default it is read-only, listens on 127.0.0.1, and prints a new password at each start. It
    logs each connection and its dialect, and what was refused.

    With --interface it serves NetBEUI, IPX and XNS clients on that Ethernet, and with --stack small
    FTP at an address of its own. Both need root on Linux to open the socket; an unprivileged
    process reads the frames and serves the files.

    Examples: lanlab serve ~/photos --service smb;
    lanlab serve /tmp/measured --service sftp --address 192.168.7.2 --port 2222 --write;
    sudo lanlab serve ~/cnc --service smb1 --carrier nbf --interface eth1 --name CNCFILES;
    sudo lanlab serve ~/cnc --service ncp --interface eth1 --name CNCFILES;
    sudo lanlab serve ~/cnc --service ftp --stack small --stack-address 192.168.7.77
    --interface eth1;
    lanlab serve ~/cnc --service smb1 --as CNCFILES --share DATA --user cnc
    --password-file secret.txt --address 192.168.7.2 --port 139;
    lanlab serve ~/cnc --service smb1 --guest --dialect core..lanman1 --address 192.168.7.2
    """
    from lanlab.cli.serving.files import serve_files

    within_s = None if time is None else time_of("--time", time, most="8760 h")
    serve_files(directory, service, (address, port), files, within_s, logs=not quiet)
