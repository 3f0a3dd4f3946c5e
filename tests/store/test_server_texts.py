"""What a URL and a server's error mean, without a server."""

import getpass
import ssl
from pathlib import Path

import pytest

from lanlab.errors import UsageError
from lanlab.store import postgresql_url
from lanlab.store.postgresql import PostgresqlStore, ServerFacts, _key
from lanlab.store.postgresql_session import _tls, cause_of, is_loss
from lanlab.store.postgresql_url import Target, parse_url
from lanlab.store.readiness import readiness

LAB = Target("db", 5432, "ada", "lab")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://db:x/lab", "has a port that is not allowed"),
        ("postgresql://db:99999/lab", "has a port that is not allowed"),
        ("postgresql://[db/lab", "has a form that is not allowed"),
        ("postgresql://db:0/lab", "port is `0`; allowed: 1 to 65535"),
        ("postgresql://a,b/lab", "several hosts; allowed: one"),
        ("postgresql://db/lab#x", "has a `#` in it"),
        ("postgresql://db/lab?sslmode=allow", "sslmode is `allow`; allowed: disable, prefer"),
        ("postgresql://db/lab?host=other", "the option `host`; allowed: sslmode, sslrootcert"),
        ("postgresql://db/lab?sslmod=require", "the option `sslmod`; allowed: sslmode"),
        ("postgresql://db/lab?schema=pg_x", "schema is `pg_x`; allowed: "),
        ('postgresql://db/lab?schema=a"b', "schema is `a"),
        ("postgresql://db:-1/lab", "has a port that is not allowed"),
        ("postgresql://db/lab?x", "the option `x`"),
        ("postgresql://db/lab?passfile=/x", "has a password in it"),
        ("postgresql://db/lab?password=", "has a password in it"),
        (f"postgresql://db/lab?schema={'x' * 64}", "schema is `x"),
        ("postgresql://db/lab?schema=1x", "schema is `1x`"),
        ("postgresql://db/lab?schema=Team", "schema is `Team`"),
        ("postgresql://db/lab?sslmode=require&sslkey=/k", "the option `sslkey`"),
    ],
)
def test_invalid_urls_are_refused(url: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_url(url)
    assert message in refused.value.message


def test_urls_are_accepted_up_to_their_limits() -> None:
    least = parse_url("postgresql://ada@db:1/lab")
    most = parse_url(f"postgresql://ada@db:65535/lab?schema={'x' * 63}")

    assert (least.port, least.schema) == (1, "lanlab")
    assert (most.port, most.schema) == (65535, "x" * 63)
    assert parse_url("postgresql://ada@db/lab?sslmode=") == LAB


def test_root_certificates_come_from_url_or_system(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    monkeypatch.setattr(
        ssl.SSLContext, "load_verify_locations", lambda self, roots: loaded.append(roots)
    )
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda self: loaded.append("the system's")
    )

    def mode_of(options: str) -> tuple[ssl.VerifyMode, list[object]]:
        loaded.clear()
        context = _tls(parse_url(f"postgresql://ada@db/lab?{options}"))
        assert isinstance(context, ssl.SSLContext)
        return context.verify_mode, list(loaded)

    assert mode_of("sslmode=verify-ca") == (ssl.CERT_REQUIRED, ["the system's"])
    assert mode_of("sslmode=require") == (ssl.CERT_NONE, [])
    given = Path("/roots")
    assert mode_of("sslmode=require&sslrootcert=/roots") == (ssl.CERT_REQUIRED, [given])
    assert mode_of("sslmode=verify-full&sslrootcert=/roots") == (ssl.CERT_REQUIRED, [given])
    assert _tls(LAB) is None
    assert _tls(parse_url("postgresql://ada@db/lab?sslmode=disable")) is False
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", "/roots")
    assert mode_of("") == (ssl.CERT_REQUIRED, [given])
    assert mode_of("sslmode=require&sslrootcert=/other") == (ssl.CERT_REQUIRED, [Path("/other")])


def test_without_a_host_the_local_socket_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = (tmp_path / "run", tmp_path / "tmp")
    monkeypatch.setattr(postgresql_url, "_SOCKET_FOLDERS", folders)
    for folder in folders:
        folder.mkdir()
    (folders[0] / ".s.PGSQL.7").touch()
    (folders[1] / ".s.PGSQL.5432").touch()

    assert parse_url("postgresql:///lab").host == str(folders[1])
    assert parse_url("postgresql://:7/lab").host == str(folders[0])
    assert parse_url("postgresql://:8/lab").host == "localhost"
    target = parse_url("postgresql:///")
    assert target.is_local_socket and target.socket_path == folders[1] / ".s.PGSQL.5432"
    assert (target.user, target.database) == (getpass.getuser(), getpass.getuser())
    assert not LAB.is_local_socket


def test_an_error_of_the_server_is_reported_by_its_code_or_by_its_class() -> None:
    assert cause_of("53100", "no room") == (
        "the server's disk is full (no room)",
        "make room on it; what was committed before is safe, and the run can be resumed",
    )
    assert cause_of("58030", "io")[0] == "the server's disk failed (io)"
    assert cause_of("XX001", "page")[0] == "the server found its data damaged (page)"
    assert cause_of("22012", "division") == ("division (SQLSTATE 22012)", None)
    assert [is_loss(code) for code in ("08006", "57P01", "57P02", "57P05")] == [True] * 4
    assert [is_loss(code) for code in ("57P03", "57014", "53300", "")] == [False] * 4


def test_the_doctor_refuses_a_server_without_durable_commits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = ServerFacts("16.4", True, False, None)
    monkeypatch.setattr(PostgresqlStore, "describe", lambda self: facts)
    lost = readiness("postgresql://ada@db/lab")
    assert not lost.is_usable and "fsync off" in lost.detail and "fsync = on" in lost.how_to_get

    safe = ServerFacts("16.4", True, True, None)
    monkeypatch.setattr(PostgresqlStore, "describe", lambda self: safe)
    made = readiness("postgresql://ada@db/lab")
    assert (made.is_usable, made.place) == (True, str(LAB))
    assert made.detail == "PostgreSQL 16.4, TLS, tables made by the first run"
    there = ServerFacts("16.4", False, True, 6)
    monkeypatch.setattr(PostgresqlStore, "describe", lambda self: there)
    assert readiness("postgres://ada@db/lab").detail == "PostgreSQL 16.4, no TLS, tables there"


def test_run_and_schema_locks_have_different_numbers() -> None:
    """Which another version of lanlab takes, too: the first 8 bytes of SHA-256, with a sign."""
    assert _key("") == int.from_bytes(bytes.fromhex("e3b0c44298fc1c14"), "big", signed=True) < 0
    database = PostgresqlStore(LAB)
    assert database._lease_key("a") == _key("lanlab\0run\0a")
    other = PostgresqlStore(parse_url("postgresql://ada@db/lab?schema=team"))
    assert len({one._lease_key(run) for one in (database, other) for run in "ab"}) == 4
