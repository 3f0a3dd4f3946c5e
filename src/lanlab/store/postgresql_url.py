"""
Parses a `postgresql://` URL like libpq; the environment provides missing parts.

Syntax and names follow https://www.postgresql.org/docs/current/libpq-connect.html, sections
32.1.1.2 and 32.1.2, for a single server. A password is refused, because command lines are kept in
histories and visible to every user of a machine.
"""

from __future__ import annotations

import getpass
import os
import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from lanlab.errors import UsageError
from lanlab.frozen import dataclass
from lanlab.user_files import user_path

DEFAULT_SCHEMA = "lanlab"
SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")

#: Options of the URL, each with the environment variable for its default.
_OPTIONS: Mapping[str, str | None] = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "schema": None,
}
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_SOCKET_FOLDERS = (Path("/var/run/postgresql"), Path("/tmp"))
WHERE_PASSWORDS_GO = (
    "put it into the environment as PGPASSWORD, or into the file ~/.pgpass "
    "(https://www.postgresql.org/docs/current/libpq-pgpass.html)"
)


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
    ssl_certificate: Path | None = None
    ssl_key: Path | None = None
    connect_timeout_s: float = 10.0
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
    The database that a URL names.

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
        options = _query(parts.query)
        port = parts.port
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
    unquote = urllib.parse.unquote
    given = {
        "user": unquote(parts.username or ""),
        "host": unquote(_host(parts)),
        "port": "" if port is None else str(port),
        "dbname": unquote(parts.path.removeprefix("/")),
    }
    for name in given:
        if given[name] and options.get(name):
            raise UsageError(f"the store's URL sets `{name}` twice", hint="use only one of them")
    return _target({**options, **{name: text for name, text in given.items() if text}})


def _host(parts: urllib.parse.SplitResult) -> str:
    """The host as written: `hostname` is in lower case, but a folder's name may not be."""
    place = parts.netloc.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place.partition(":")[0]


def _query(query: str) -> dict[str, str]:
    options = {}
    for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True, strict_parsing=False):
        if name not in (*_OPTIONS, "password", "passfile"):
            raise UsageError(
                f"the store's URL has the option `{name}`; allowed: {', '.join(_OPTIONS)}",
                hint="omit it",
            )
        options[name] = value
    return options


def _target(options: Mapping[str, str]) -> Target:
    def said(name: str) -> str:
        variable = _OPTIONS[name]
        return options.get(name) or (os.environ.get(variable, "") if variable else "")

    def path(name: str) -> Path | None:
        return user_path(said(name)) if said(name) else None

    port = _number("port", said("port") or "5432", 1, 65535)
    user = said("user") or getpass.getuser()
    host = said("host") or _local_host(port)
    if "," in host:
        raise UsageError(
            "the store's URL names several hosts; allowed: one", hint="name the primary server"
        )
    mode = said("sslmode") or "prefer"
    if mode not in SSL_MODES:
        raise UsageError(
            f"sslmode is `{mode}`; allowed: {', '.join(SSL_MODES)}",
            hint="omit it for `prefer`; on shared networks use `verify-full`",
        )
    certificate, key = path("sslcert"), path("sslkey")
    if (key is None) != (certificate is None) or (certificate and mode in ("disable", "prefer")):
        raise UsageError(
            "a client's certificate needs `sslcert`, `sslkey` and `sslmode=require` or more",
            hint="name all of them in the URL",
        )
    schema = options.get("schema") or DEFAULT_SCHEMA
    if not _SCHEMA.fullmatch(schema):
        raise UsageError(
            f"schema is `{schema}`; allowed: up to 63 lower-case letters, digits and `_`, "
            "not beginning with a digit or `pg_`",
            hint="omit it for `lanlab`",
        )
    return Target(
        host=host,
        port=port,
        user=user,
        database=said("dbname") or user,
        ssl_mode=mode,
        ssl_root_certificate=path("sslrootcert"),
        ssl_certificate=certificate,
        ssl_key=key,
        connect_timeout_s=_number("connect_timeout", said("connect_timeout") or "10", 1, 600),
        schema=schema,
    )


def _number(name: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise UsageError(
            f"{name} is `{text}`; allowed: {low} to {high}", hint="correct it, or omit it"
        )
    return int(text)


def _local_host(port: int) -> str:
    for folder in _SOCKET_FOLDERS:
        if Path(folder, f".s.PGSQL.{port}").exists():
            return str(folder)
    return "localhost"
