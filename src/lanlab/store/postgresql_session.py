"""
A session with a PostgreSQL server, configured for durable commits and with time limits.

The driver is pg8000 (BSD licence). It is pure Python, so it works on every system, and supports
SCRAM with channel binding, TLS and local sockets. Only this module imports it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from lanlab.errors import StoreError, UnmetNeed
from lanlab.store.database import DuplicateRow, MissingRow
from lanlab.store.encoding import Row
from lanlab.store.postgresql_url import WHERE_PASSWORDS_GO, Target

#: The oldest server version that returns floating-point numbers exactly by default.
OLDEST_SERVER = 120000
CONNECT_TIMEOUT_S = 10.0
STATEMENT_TIMEOUT_S = 30
LOCK_TIMEOUT_S = 10
#: Time without an answer after which the network counts as down. It exceeds the server's limits,
#: so that the server reports its own timeout first.
SILENCE_S = STATEMENT_TIMEOUT_S + 10.0

#: Keepalives let the server notice a vanished client and release its leases. A stricter
#: `synchronous_commit` of the administrator's than `on` (`remote_apply`) is kept.
_SETTINGS = f"""
SET client_encoding = 'UTF8';
SET statement_timeout = '{STATEMENT_TIMEOUT_S}s';
SET lock_timeout = '{LOCK_TIMEOUT_S}s';
SET idle_in_transaction_session_timeout = '{STATEMENT_TIMEOUT_S * 4}s';
SET bytea_output = 'hex';
SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
SELECT set_config('idle_session_timeout', '0', false)
FROM pg_catalog.pg_settings WHERE name = 'idle_session_timeout';
SET search_path = "{{schema}}";
"""
_JSON_OID = 114
#: Meaning and hint by SQLSTATE or its class
#: (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_CAUSES: Mapping[str, tuple[str, str]] = {
    "0A000": ("the server cannot do what is needed", "use PostgreSQL 12 or newer"),
    "25006": (
        "the server takes no changes: it is a standby, or set to be read only",
        "name the primary server with --store or LANLAB_STORE",
    ),
    "3D000": ("there is no such database", "make it with `createdb`"),
    "3F000": ("there is no such schema", "name another with `?schema=` in the URL"),
    "42501": (
        "the user may not do this",
        "ask the database's owner for `CREATE SCHEMA lanlab AUTHORIZATION` and your name, or for "
        "rights to the tables in it",
    ),
    "53100": (
        "the server's disk is full",
        "make room on it; what was committed before is safe, and the run can be resumed",
    ),
    "53300": ("the server has no connection left", "try again later, or raise max_connections"),
    "55P03": ("another process kept it locked", "end the other process, then resume the run"),
    "57014": ("the server took too long", "look at its load, then resume the run"),
    "57P03": ("the server is starting or stopping", "try again in some seconds"),
    "58": ("the server's disk failed", "look at the server's log"),
    "XX": ("the server found its data damaged", "look at the server's log"),
}
_LOST_CLASSES = ("08", "57P01", "57P02", "57P05")


def check_driver() -> None:
    """
    Raises:
        UnmetNeed: The driver is not installed.
    """
    try:
        import pg8000.native  # noqa: F401
    except ImportError:
        raise UnmetNeed(
            "need the Python package pg8000 for a store in PostgreSQL, not found",
            hint="pip install pg8000",
        ) from None


class PostgresqlSession:
    """One connection. After any error that the server did not report, it is unusable."""

    def __init__(self, target: Target) -> None:
        """
        Raises:
            StoreError: The server cannot be reached, refuses the login, or is too old.
        """
        self._target = target
        self.is_lost = False
        self._connection = _connect(target)
        try:
            (version,) = self.execute("SELECT current_setting('server_version_num')::int")[0]
            if version < OLDEST_SERVER:
                raise StoreError(
                    f"{target} is PostgreSQL {version // 10000}; allowed: "
                    f"{OLDEST_SERVER // 10000} and newer",
                    hint="name another server with --store or LANLAB_STORE",
                )
            self.script(_SETTINGS.format(schema=target.schema))
        except BaseException:
            self.abandon()
            raise

    def execute(self, sql: str, **values: object) -> list[Row]:
        """
        Execute a statement with values for its `:names`.

        Raises:
            DuplicateRow, MissingRow: A key exists already, or does not exist.
            StoreError: Any other error; `is_lost` tells whether the session has ended.
        """
        import pg8000.native

        try:
            return self._connection.run(sql, **values) or []
        except pg8000.native.DatabaseError as error:
            raise self._refused(error) from error
        except Exception as error:
            # After any other exception, the driver and the server may be out of step.
            self.abandon()
            raise self._lost() from error
        except BaseException:
            self.abandon()
            raise

    def script(self, sql: str) -> None:
        self.execute(sql)

    def _refused(self, error: Exception) -> Exception:
        fields = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        sqlstate, message = str(fields.get("C", "")), str(fields.get("M", error))
        if sqlstate == "23505":
            return DuplicateRow(message)
        if sqlstate == "23503":
            return MissingRow(message)
        if is_loss(sqlstate):
            self.abandon()
            return self._lost()
        cause, hint = cause_of(sqlstate, message)
        return StoreError(f"{self._target}: {cause}", hint=hint)

    def _lost(self) -> StoreError:
        return StoreError(
            f"{self._target}: the connection with the server was lost",
            hint="check that it runs and is reachable, then continue with `lanlab run --resume`; "
            "committed trials are safe",
        )

    def abandon(self) -> None:
        """Close the connection without a message, so that the server rolls back."""
        self.is_lost = True
        raw = getattr(self._connection, "_usock", None)
        if raw is not None:
            # Close the socket first, so that nothing follows a half-sent statement.
            with contextlib.suppress(OSError):
                raw.shutdown(socket.SHUT_RDWR)
        self._close()

    def close(self) -> None:
        if not self.is_lost:
            self.is_lost = True
            self._close()

    def _close(self) -> None:
        # The driver raises if the connection is closed already.
        with contextlib.suppress(Exception):
            self._connection.close()


def _connect(target: Target) -> Any:
    check_driver()
    import pg8000.native

    password = os.environ.get("PGPASSWORD")
    connected = _reach(target)
    try:
        connection = pg8000.native.Connection(
            target.user,
            host=target.host,
            database=target.database,
            # Without a password, send an empty one if the server requests it, so that the server
            # reports its usual error.
            password=password or "",
            sock=connected,
            ssl_context=False if target.is_local_socket else _tls(target),
            application_name="lanlab",
        )
    except pg8000.native.DatabaseError as error:
        connected.close()
        fields = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        sqlstate, message = str(fields.get("C", "")), str(fields.get("M", error))
        if sqlstate.startswith("28"):
            advice = WHERE_PASSWORDS_GO if password is None else "check PGPASSWORD"
            raise StoreError(f"{target}: login failed ({message})", hint=advice) from error
        cause, hint = cause_of(sqlstate, message)
        raise StoreError(f"{target}: {cause}", hint=hint) from error
    except ssl.SSLError as error:
        connected.close()
        reason = getattr(error, "reason", None)
        if reason == "WRONG_VERSION_NUMBER":
            raise _other_protocol(target, reason) from error
        raise StoreError(
            f"{target}: no TLS connection: {reason or error}",
            hint="check `sslmode`, `sslrootcert` and the server's certificate",
        ) from error
    except Exception as error:
        connected.close()
        if "refuses SSL" in str(error):
            raise StoreError(
                f"{target}: the server has no TLS; sslmode is `{target.ssl_mode}`",
                hint="switch it on there (`ssl = on`), or lower `sslmode` on a network you trust",
            ) from error
        # A timeout, a closed connection, or a server with another protocol, for which the driver
        # raises any exception.
        cause = str(error) or type(error).__name__
        raise _other_protocol(target, cause) from error
    except BaseException:
        connected.close()
        raise
    connected_now = connection._usock or connected
    connected_now.settimeout(SILENCE_S)
    # Keep JSON as text, so that it is parsed as in the other store.
    connection.register_in_adapter(_JSON_OID, str)
    return connection


def _other_protocol(target: Target, cause: str) -> StoreError:
    return StoreError(
        f"{target}: does not answer as a PostgreSQL server ({cause})",
        hint="check host and port, and that the server runs",
    )


def _reach(target: Target) -> socket.socket:
    try:
        if target.is_local_socket:
            connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connected.settimeout(CONNECT_TIMEOUT_S)
                connected.connect(str(target.socket_path))
            except BaseException:
                connected.close()
                raise
            return connected
        connected = socket.create_connection((target.host, target.port), CONNECT_TIMEOUT_S)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Statements are short, and each is answered before the next: do not delay them.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected
    except (OSError, ValueError) as error:
        # A malformed host name raises `UnicodeError`.
        cause = getattr(error, "strerror", None) or error
        raise StoreError(
            f"{target}: the server cannot be reached: {cause}",
            hint="check host and port, and that the server runs",
        ) from error


def _tls(target: Target) -> ssl.SSLContext | bool | None:
    """The driver's setting: `False` for no TLS, `None` for TLS if the server offers it, or a
    context.
    """
    mode = target.ssl_mode
    if mode == "disable":
        return False
    if mode == "prefer":
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    roots = target.ssl_root_certificate
    # With a root certificate, `require` also verifies, as in libpq.
    verify = mode != "require" or roots is not None
    context.check_hostname = mode == "verify-full"
    context.verify_mode = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
    try:
        if roots is not None:
            context.load_verify_locations(roots)
        elif verify:
            context.load_default_certs()
    except OSError as error:
        raise StoreError(
            f"{target}: a certificate cannot be read: {error.strerror or error}",
            hint="check `sslrootcert`",
        ) from error
    return context


def cause_of(sqlstate: str, message: str) -> tuple[str, str | None]:
    for key in (sqlstate, sqlstate[:2]):
        if key in _CAUSES:
            cause, hint = _CAUSES[key]
            return f"{cause} ({message})", hint
    return f"{message} (SQLSTATE {sqlstate})", None


def is_loss(sqlstate: str) -> bool:
    return sqlstate.startswith(_LOST_CLASSES)
