"""
The password for a PostgreSQL server: from PGPASSWORD, else from the file that libpq reads.

The file's format is described in https://www.postgresql.org/docs/current/libpq-pgpass.html: lines
of `host:port:database:user:password`, with `*` for any, and `\\` to escape `:` and `\\`.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import field
from pathlib import Path

from lanlab.frozen import dataclass
from lanlab.store.postgresql_url import WHERE_PASSWORDS_GO, Target
from lanlab.user_files import user_path


@dataclass(frozen=True)
class Password:
    """The password, and a hint in `advice` if the server refuses it."""

    text: str | None = field(repr=False)
    advice: str


def find_password(target: Target) -> Password:
    if "PGPASSWORD" in os.environ:
        return Password(os.environ["PGPASSWORD"], "check PGPASSWORD")
    path = _file()
    try:
        with path.open(encoding="utf-8-sig") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                return Password(
                    None, f"others can read {path}, so it is not used; `chmod 600 {path}`"
                )
            text = file.read()
    except FileNotFoundError:
        return Password(None, WHERE_PASSWORDS_GO)
    except (OSError, UnicodeDecodeError) as error:
        return Password(None, f"{path} cannot be read: {error}")
    found = password_in(text, target)
    if found is None:
        return Password(None, f"add a line for {target} to {path}")
    return Password(found, f"check its line in {path}")


def _file() -> Path:
    if os.environ.get("PGPASSFILE"):
        return Path(os.environ["PGPASSFILE"])
    return user_path("~/.pgpass")


def password_in(text: str, target: Target) -> str | None:
    """The password of the first line that matches.

    Examples:
        >>> target = Target("db", 5432, "ada", "lab")
        >>> password_in("# ours\\ndb:*:lab:ada:se\\\\:cret\\n*:*:*:*:other", target)
        'se:cret'
    """
    # libpq uses this name for a local socket in its default directory.
    hosts = {target.host, *(("localhost",) if target.is_local_socket else ())}
    wanted = ({*hosts}, {str(target.port)}, {target.database}, {target.user})
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        fields = _fields(line)
        if len(fields) < 5:
            continue
        if all(part == "*" or part in each for part, each in zip(fields, wanted, strict=False)):
            return fields[4]
    return None


def _fields(line: str) -> list[str]:
    fields = []
    for text, end in re.findall(r"((?:\\.|\\$|[^:\\])*)(:|$)", line):
        fields.append(re.sub(r"\\(.)", r"\1", text))
        if not end:
            break
    return fields
