"""Options of `lanlab serve` for dialects of SMB 1 and passwords, and how secure they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lanlab.cli.serving.names import only_for
from lanlab.errors import UsageError

if TYPE_CHECKING:
    from lanlab.cli.serving.options import FileOptions
    from lanlab.services import Service, SystemProfile

_USER = "lanlab"
#: How each dialect verifies a password, and how well that protects against eavesdroppers.
_WORTH = {
    "core": "the password goes as it is: who reads the network has it",
    "lanman1": "an LM response: the password is found from it within hours",
    "lm12x002": "an LM response: the password is found from it within hours",
    "nt1": "an NTLMv2 response, or an older one where the client has no better",
    "ncp": "a keyed login, or the password as it is: found from it within hours",
}


def dialects_of(
    offered: Service, options: FileOptions, system: SystemProfile | None = None
) -> tuple[str, str] | None:
    """
    The oldest and the newest dialect to offer; `None` for all, or if the service has none.

    Raises:
        UsageError: The dialect is unknown, the range is empty, or the service has no dialects.
    """
    wanted, require_signing = options.dialect, options.require_signing
    known = offered.dialects if system is None else (system.dialect,)
    if system is not None and require_signing:
        raise UsageError(
            "--require-signing cannot be used with --profile: its dialect, "
            f"`{system.dialect}`, has no signatures",
            hint="use only one of them",
        )
    if wanted is None:
        return (known[0], known[0]) if len(known) == 1 else None
    if not known:
        raise only_for("--dialect", offered.name, "smb1")
    oldest, dots, newest = (part.strip() for part in wanted.partition(".."))
    newest = newest or (known[-1] if dots else oldest)
    oldest = oldest or known[0]
    for one in (oldest, newest):
        if one not in known:
            raise UsageError(
                f"--dialect: found `{wanted}`; allowed: {', '.join(known)}, or a range of them",
                hint="write it as `core`, `core..lanman1` or `lm12x002..nt1`",
            )
    if known.index(oldest) > known.index(newest):
        raise UsageError(
            f"--dialect: `{wanted}` starts with the newer dialect",
            hint=f"write it as `{newest}..{oldest}`",
        )
    if require_signing and newest != known[-1]:
        raise UsageError(
            f"--require-signing needs dialect `{known[-1]}`; found `--dialect {wanted}`",
            hint="use only one of them",
        )
    return oldest, newest


def credentials_of(offered: Service, options: FileOptions) -> tuple[dict[str, str] | None, bool]:
    """
    The user and password to serve, and whether the user chose the password.

    Raises:
        UsageError: The service uses no password, its length is not allowed, or its file cannot be
            read.
    """
    from lanlab.workloads.services.server_url import check_password, read_password_file

    guest, password_file = options.guest, options.password_file
    if guest and not offered.has_guests:
        raise only_for("--guest", offered.name, "smb1", "ncp")
    if guest and (options.require_signing or password_file is not None):
        other = "--require-signing" if options.require_signing else "--password-file"
        raise UsageError(
            f"--guest cannot be used with {other}: guests have no password",
            hint="use only one of them",
        )
    if not offered.has_users and password_file is not None:
        raise UsageError(
            f"--password-file has no effect on service `{offered.name}`, which has no logins",
            hint="omit it",
        )
    if guest or not offered.has_users:
        return None, False
    secret = os.environ.get("LANLAB_PASSWORD")
    if password_file is not None:
        secret = read_password_file(Path(password_file))
    named = options.user or _USER
    if secret is None:
        return {"user": named, "secret": offered.new_password()}, False
    check_password(secret, offered.title)
    most = offered.most_password_characters
    is_plain = secret.isascii() and secret.isprintable()
    if not secret or (most is not None and not (is_plain and len(secret) <= most)):
        limit = "a password" if most is None else f"1 to {most} characters of ASCII"
        raise UsageError(
            f"password: found {len(secret)} characters; service `{offered.name}` allows {limit}",
            hint="set another with LANLAB_PASSWORD or --password-file",
        )
    return {"user": named, "secret": secret}, True


def worth_of(
    offered: Service, dialects: tuple[str, str] | None, *, has_password: bool
) -> list[str]:
    """Lines on the security of a login for these dialects, starting with the oldest."""
    known = offered.dialects
    what, chosen = "dialects", known
    if dialects is not None:
        chosen = known[known.index(dialects[0]) : known.index(dialects[1]) + 1]
    if offered.name in _WORTH:
        what, chosen = "login", (offered.name,)
    if not chosen:
        return []
    if not has_password:
        named = [f"{what:<12}{', '.join(chosen)}"] if known else []
        return [
            *named,
            "protection  none: no password and no encryption; every host that reaches it is served",
        ]
    lines = [
        f"{what if not number else '':<12}{one}: {_WORTH[one]}" for number, one in enumerate(chosen)
    ]
    return [*lines, "protection  no encryption; use this password nowhere else"]
