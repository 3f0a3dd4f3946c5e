"""Options that commands of file services share."""

from __future__ import annotations

from typing import Annotated

import typer

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", help="Without TARGET: `embedded`, or a real server that is installed."
    ),
]
TimeoutOption = Annotated[
    str, typer.Option("--timeout", metavar="TIME", help="An answer must come within it.")
]
TrustOption = Annotated[
    str | None,
    typer.Option(
        "--trust",
        metavar="sha256:HEX|FILE",
        help="The server's certificate or host key, or a file of those that are trusted. "
        "Default: whom this system trusts.",
    ),
]
PasswordFileOption = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="Holds the password. Default: LANLAB_PASSWORD, else you are asked.",
    ),
]
