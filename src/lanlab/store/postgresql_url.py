"""
Parses a `postgresql://` URL in libpq's format, with a single server and database
(https://www.postgresql.org/docs/current/libpq-connect.html, section 32.1.1.2).

A password is refused, because command lines are kept in histories and visible to every user of a
machine.
"""

from __future__ import annotations

import getpass
import os
import re
import urllib.parse
from pathlib import Path

from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.user_files import user_path

DEFAULT_SCHEMA = "lanlab"
SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")

_OPTIONS = ("sslmode", "sslrootcert", "schema")
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_SOCKET_FOLDERS = (Path("/var/run/postgresql"), Path("/tmp"))
WHERE_PASSWORDS_GO = "put it into the environment as PGPASSWORD"


@dataclass(frozen=True)
class Target:
    """A database and how to reach it, without a password."""

    #: A name or address; or, with a leading `/`, the folder of the server's local socket.
    host: str
    port: int
    user: str
    database: str
    ssl_mode: str = "prefer"
    ssl_root_certificate: Path | None = None
    schema: str = DEFAULT_SCHEMA

    @property
    def is_local_socket(self) -> bool:
        return self.host.startswith("/")

    @property
    def socket_path(self) -> Path:
        return Path(self.host, f".s.PGSQL.{self.port}")

    def __str__(self) -> str:
        quoted = urllib.parse.quote(self.host, safe=":") if self.is_local_socket else self.host
        host = f"[{quoted}]" if ":" in quoted else quoted
        user = urllib.parse.quote(self.user)
        schema = "" if self.schema == DEFAULT_SCHEMA else f"?schema={self.schema}"
        database = urllib.parse.quote(self.database, safe="")
        return f"postgresql://{user}@{host}:{self.port}/{database}{schema}"


def parse_url(url: str) -> Target:
    """
    The database that a URL names. Without a host it is reached by the local socket; user and
    database have the name of this user by default. TLS is as strict as the URL, or else PGSSLMODE
    and PGSSLROOTCERT, ask.

    Raises:
        UsageError: It contains a password, or something unknown or not allowed. The message does
            not repeat the URL.

    Examples:
        >>> target = parse_url("postgresql://ada@db.example/lab?sslmode=verify-full")
        >>> target.host, target.port, target.user, target.database, target.ssl_mode
        ('db.example', 5432, 'ada', 'lab', 'verify-full')
    """
    try:
        parts = urllib.parse.urlsplit(url)
        options = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        port = 5432 if parts.port is None else parts.port
    except ValueError as error:
        # An invalid URL may contain a password, so it is not repeated.
        what = "port" if "ort" in str(error) else "form"
        raise UsageError(
            f"the store's URL has a {what} that is not allowed",
            hint="write `postgresql://USER@HOST:PORT/DATABASE`",
        ) from None
    if parts.password is not None or "password" in options or "passfile" in options:
        raise UsageError(
            "the store's URL has a password in it, which others could read there",
            hint=WHERE_PASSWORDS_GO,
        )
    if parts.fragment:
        raise UsageError("the store's URL has a `#` in it", hint="write it as `%23`")
    for name in options:
        if name not in _OPTIONS:
            raise UsageError(
                f"the store's URL has the option `{name}`; allowed: {', '.join(_OPTIONS)}",
                hint="write `postgresql://USER@HOST:PORT/DATABASE`",
            )
    if not port:
        raise UsageError("port is `0`; allowed: 1 to 65535", hint="correct it, or omit it")
    unquote = urllib.parse.unquote
    user = unquote(parts.username or "") or getpass.getuser()
    roots = options.get("sslrootcert") or os.environ.get("PGSSLROOTCERT")
    return Target(
        host=unquote(_host(parts)) or _local_host(port),
        port=port,
        user=user,
        database=unquote(parts.path.removeprefix("/")) or user,
        ssl_mode=_ssl_mode(options.get("sslmode") or os.environ.get("PGSSLMODE") or "prefer"),
        ssl_root_certificate=user_path(roots) if roots else None,
        schema=_schema(options.get("schema") or DEFAULT_SCHEMA),
    )


def _host(parts: urllib.parse.SplitResult) -> str:
    """The host as written: `hostname` is in lower case, but a folder's name may not be."""
    place = parts.netloc.rpartition("@")[2]
    if "," in place:
        raise UsageError(
            "the store's URL names several hosts; allowed: one", hint="name the primary server"
        )
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place.partition(":")[0]


def _ssl_mode(mode: str) -> str:
    if mode not in SSL_MODES:
        raise UsageError(
            f"sslmode is `{mode}`; allowed: {', '.join(SSL_MODES)}",
            hint="omit it for `prefer`; on shared networks use `verify-full`",
        )
    return mode


def _schema(schema: str) -> str:
    if not _SCHEMA.fullmatch(schema):
        raise UsageError(
            f"schema is `{schema}`; allowed: up to 63 lower-case letters, digits and `_`, "
            "not beginning with a digit or `pg_`",
            hint="omit it for `lanlab`",
        )
    return schema


def _local_host(port: int) -> str:
    for folder in _SOCKET_FOLDERS:
        if Path(folder, f".s.PGSQL.{port}").exists():
            return str(folder)
    return "localhost"
