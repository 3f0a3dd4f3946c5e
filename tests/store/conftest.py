"""Stores of both kinds, for tests that hold of either."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One PostgreSQL server for all tests; whoever stops it starts it again."""
    with postgres_server() as running:
        yield running


@pytest.fixture
def postgresql_url(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PGPASSWORD", server.password)
    return server.url(f"t_{secrets.token_hex(6)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    url = request.getfixturevalue("postgresql_url")
    assert isinstance(url, str)
    return url
