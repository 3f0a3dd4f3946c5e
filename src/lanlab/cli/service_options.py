"""Arguments and options that commands of file services share."""

from __future__ import annotations

from typing import Annotated

import typer

from lanlab.services import FRAME_TITLES

TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        help="Server URL or local directory. Omit to use lanlab's built-in server.",
    ),
]
InterfaceOption = Annotated[
    str | None,
    typer.Option(
        "--interface",
        metavar="NAME",
        help=f"Ethernet interface of this machine that leads to a server over {FRAME_TITLES}. "
        "Needs root.",
    ),
]
OfficeNetworkOption = Annotated[
    bool,
    typer.Option(
        "--office-network",
        help="Use the interface even if it has the default route of this machine.",
    ),
]
PasswordFileOption = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="File with the password; for sftp:// also a private key (Ed25519 or ECDSA, without "
        "passphrase). Default: $LANLAB_PASSWORD, else you are asked; "
        "sftp:// then also takes the keys of a running ssh-agent.",
    ),
]
