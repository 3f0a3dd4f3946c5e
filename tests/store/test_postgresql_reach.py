"""Reaching a PostgreSQL server: URLs, secrets, encryption, and what is said where it fails."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from postgres_server import PostgresServer, missing
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError, UnmetNeed, UsageError
from lanlab.store import Series, open_store
from lanlab.store.postgresql_session import _tls
from lanlab.store.postgresql_url import Target, parse_url

#: Of more than one part.
READINGS = Series("readings", {"n": np.random.default_rng(1).integers(0, 2**60, 300_000)})


def schema_of(url: str) -> str:
    return parse_url(url).schema


# Reaching it


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ada@db/lab", Target("db", 5432, "ada", "lab")),
        ("postgresql://ada@[::1]:99/lab", Target("::1", 99, "ada", "lab")),
        ("postgresql://ada@%2Frun%2FPG/l%20b", Target("/run/PG", 5432, "ada", "l b")),
        ("postgresql://a%40b@%2Frun:7/lab", Target("/run", 7, "a@b", "lab")),
        ("postgresql://ada@db", Target("db", 5432, "ada", "ada")),
        ("postgresql://ada@db/lab?schema=team", Target("db", 5432, "ada", "lab", schema="team")),
    ],
)
def test_a_url_names_a_server_and_a_database(url: str, expected: Target) -> None:
    assert parse_url(url) == expected
    assert parse_url(str(expected)) == expected


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:s3cret@db/lab",
        "postgresql://ada:s3cret@[db/lab",
        "postgresql://ada:s3cret@db:port/lab",
        "postgresql://db/lab?password=s3cret",
        "postgres://db/lab?user=ada&password=s3cret&sslmode=require",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_store(url)
    said = f"{refused.value.message} {refused.value.hint}"
    assert "s3cret" not in said
    assert "PGPASSWORD" in said or "USER@HOST" in said


def test_without_the_driver_it_explains_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pg8000.native", None)
    with pytest.raises(UnmetNeed, match="need the Python package pg8000") as refused:
        open_store("postgresql://db/lab")
    assert refused.value.hint == "pip install pg8000"


def test_an_unreachable_server_is_named(postgresql_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for url in (
            f"postgresql://ada@127.0.0.1:{port}/lab",
            "postgresql://ada@%2Fno%2Fsuch/lab",
            f"postgresql://ada@{'x' * 300}/lab",
            "postgresql://ada@no-such-host.invalid/lab",
        ):
            with open_store(url) as store, pytest.raises(StoreError) as refused:
                store.start_run(a_run()).release()
            assert "the server cannot be reached" in refused.value.message
            assert str(parse_url(url)) in refused.value.message


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", None]
)
def test_other_servers_are_reported_as_no_postgresql(answer: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = (
            "import sys; from lanlab.store import open_store, postgresql_session; "
            "postgresql_session.CONNECT_TIMEOUT_S = 1.0; open_store(sys.argv[1]).runs()"
        )
        url = f"postgresql://ada@127.0.0.1:{listener.getsockname()[1]}/lab"
        client = subprocess.Popen(
            [sys.executable, "-c", code, url], stderr=subprocess.PIPE, text=True
        )
        listener.settimeout(20)
        accepted, _ = listener.accept()
        with accepted:
            if answer is not None:
                accepted.sendall(answer)
                accepted.shutdown(socket.SHUT_WR)
            said = client.communicate(timeout=20)[1]
    assert "StoreError" in said.splitlines()[-1]
    assert "does not answer as a PostgreSQL server" in said.splitlines()[-1]


# Secrets


def test_the_password_comes_from_the_environment(
    server: PostgresServer, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(postgresql_url) as store:
        store.start_run(a_run()).release()
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with open_store(postgresql_url) as store, pytest.raises(StoreError) as refused:
        store.runs()
    assert "login failed" in refused.value.message
    assert refused.value.hint == "check PGPASSWORD"

    monkeypatch.setenv("PGPASSWORD", server.password)
    with open_store(postgresql_url) as store:
        assert store.runs() == [a_run()]
        held = repr(store.__dict__) + repr(store.target)  # type: ignore[attr-defined]
        assert server.password not in held

    monkeypatch.delenv("PGPASSWORD")
    with open_store(postgresql_url) as store, pytest.raises(StoreError) as refused:
        store.runs()
    assert refused.value.hint == "put it into the environment as PGPASSWORD"


def test_nothing_secret_is_in_the_database(server: PostgresServer, postgresql_url: str) -> None:
    with store_with_run(postgresql_url) as store:
        store.commit_trial(a_trial(0), [READINGS])
        schema = schema_of(postgresql_url)
        told = (
            server.sql(f"SELECT * FROM {schema}.run"),
            server.sql(f"SELECT * FROM {schema}.trial"),
        )
        told += (server.sql("SELECT * FROM pg_stat_activity WHERE application_name = 'lanlab'"),)
    assert len(told[2]) == 1
    assert server.password not in repr(told)


# Encryption


@pytest.fixture
def tls_server(server: PostgresServer) -> Iterator[Path]:
    """The server with TLS and a certificate for `localhost`; gives the certificate."""
    if shutil.which("openssl") is None:
        missing("need `openssl` to make a certificate; apt install openssl")
    certificate, key = server.folder / "server.crt", server.folder / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    owner = server.folder.stat()
    os.chown(key, owner.st_uid, owner.st_gid)
    server.stop()
    server.start("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
    yield certificate
    server.stop()
    server.start()


def is_encrypted(server: PostgresServer) -> bool:
    (row,) = server.sql(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        "WHERE application_name = 'lanlab'"
    )
    return bool(row[0])


def test_sslmode_decides_encryption_and_trust(
    server: PostgresServer, tls_server: Path, postgresql_url: str
) -> None:
    with open_store(postgresql_url) as store:
        store.start_run(a_run()).release()
    by_name = postgresql_url.replace("127.0.0.1", "localhost")
    root = f"sslrootcert={tls_server}"
    for url, options, encrypted in (
        (postgresql_url, "sslmode=disable", False),
        (postgresql_url, "sslmode=prefer", True),
        (postgresql_url, "", True),
        (postgresql_url, "sslmode=require", True),
        (postgresql_url, f"sslmode=verify-ca&{root}", True),
        (by_name, f"sslmode=verify-full&{root}", True),
    ):
        with open_store(f"{url}&{options}") as store:
            assert store.runs() == [a_run()], options
            assert is_encrypted(server) is encrypted, options
    for url, options in (
        (by_name, "sslmode=verify-full"),
        (by_name, "sslmode=verify-ca"),
        (postgresql_url, f"sslmode=verify-full&{root}"),
    ):
        with open_store(f"{url}&{options}") as store, pytest.raises(StoreError) as refused:
            store.runs()
        assert "no TLS connection" in refused.value.message
        assert "sslrootcert" in str(refused.value.hint)
    store = open_store(f"{by_name}&sslmode=require&sslrootcert=/no")
    with store, pytest.raises(StoreError, match="a certificate cannot be read"):
        store.runs()


def test_a_server_without_tls_is_refused_if_tls_is_required(postgresql_url: str) -> None:
    store = open_store(f"{postgresql_url}&sslmode=require")
    with store, pytest.raises(StoreError, match="the server has no TLS; sslmode is `require`"):
        store.runs()


@pytest.mark.parametrize(
    ("options", "checks_name", "checks_certificate"),
    [
        ("require", False, False),
        ("verify-ca", False, True),
        ("verify-full", True, True),
    ],
)
def test_sslmode_sets_the_certificate_checks(
    options: str, checks_name: bool, checks_certificate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda self: loaded.append(self.verify_mode)
    )
    context = _tls(parse_url(f"postgresql://eve@x/y?sslmode={options}"))
    assert isinstance(context, ssl.SSLContext)
    assert context.check_hostname is checks_name
    assert (context.verify_mode == ssl.CERT_REQUIRED) is checks_certificate
    assert loaded == ([ssl.CERT_REQUIRED] if checks_certificate else [])


def test_a_server_that_breaks_off_tls_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connected, _ = listener.accept()
            with connected:
                connected.recv(8)
                connected.sendall(b"S" + b"no TLS" * 10)
                connected.recv(4096)

        server = threading.Thread(target=answer)
        server.start()
        port = listener.getsockname()[1]
        store = open_store(f"postgresql://eve@127.0.0.1:{port}/lab?sslmode=require")
        with store, pytest.raises(StoreError, match="not answer as a PostgreSQL server") as refused:
            store.runs()
        server.join(10)
    assert str(refused.value.hint).startswith("check host")
