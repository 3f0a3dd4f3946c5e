"""A session with a PostgreSQL server, with a driver that does as it is told."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pg8000.native
import pytest

from lanlab.errors import StoreError
from lanlab.store import postgresql_session
from lanlab.store.database import DuplicateRow, MissingRow
from lanlab.store.postgresql_session import OLDEST_SERVER, PostgresqlSession, _reach
from lanlab.store.postgresql_url import Target, parse_url

TARGET = parse_url("postgresql://ada@db/lab?schema=made")


class Wire:
    def __init__(self) -> None:
        self.events: list[object] = []

    def shutdown(self, how: int) -> None:
        self.events.append(("shutdown", how))

    def settimeout(self, seconds: float) -> None:
        self.events.append(("timeout", seconds))

    def close(self) -> None:
        self.events.append("socket closed")


class Driver:
    """A connection that answers what it was given: rows, or an error to raise."""

    def __init__(self, version: int = OLDEST_SERVER) -> None:
        self._usock = Wire()
        self.answers: list[Any] = [[[version]], None]
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def run(self, sql: str, **values: Any) -> Any:
        self.asked.append((sql, values))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        self._usock.events.append("closed")


def refused(code: str, message: str = "why") -> pg8000.native.DatabaseError:
    return pg8000.native.DatabaseError({"C": code, "M": message})


def session(
    monkeypatch: pytest.MonkeyPatch, driver: Driver | None = None
) -> tuple[Driver, PostgresqlSession]:
    driver = driver or Driver()
    monkeypatch.setattr(postgresql_session, "_connect", lambda target: driver)
    return driver, PostgresqlSession(TARGET)


def test_a_session_is_set_up_in_the_schema_of_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    driver, found = session(monkeypatch)
    assert 'SET search_path = "made";' in driver.asked[-1][0]
    # 30 s for a statement, 10 s for a lock, two minutes between two statements of a transaction.
    settings = [line for line in driver.asked[-1][0].splitlines() if "timeout = " in line]
    assert settings == [
        "SET statement_timeout = '30s';",
        "SET lock_timeout = '10s';",
        "SET idle_in_transaction_session_timeout = '120s';",
    ]
    assert not found.is_lost and driver._usock.events == []
    driver.answers = [[[1, 2]], None]
    assert found.execute("SELECT :a, :b", a=1, b=2) == [[1, 2]]
    assert driver.asked[-1] == ("SELECT :a, :b", {"a": 1, "b": 2})
    # The driver has `None` for a statement without rows.
    assert found.execute("BEGIN") == []


def test_a_server_older_than_the_oldest_is_refused_and_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver(OLDEST_SERVER - 1)
    with pytest.raises(StoreError, match=r"is PostgreSQL 11; allowed: 12 and newer"):
        session(monkeypatch, driver)
    assert driver._usock.events == [("shutdown", socket.SHUT_RDWR), "closed"]


@pytest.mark.parametrize(("code", "kind"), [("23505", DuplicateRow), ("23503", MissingRow)])
def test_key_errors_keep_the_session(
    code: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, found = session(monkeypatch)
    driver.answers = [refused(code, "told")]
    with pytest.raises(kind, match="told"):
        found.execute("INSERT")
    assert not found.is_lost and driver._usock.events == []


def test_other_server_errors_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    driver, found = session(monkeypatch)
    driver.answers = [refused("53100", "no room")]
    with pytest.raises(StoreError) as seen:
        found.execute("INSERT")
    assert seen.value.message == f"{TARGET}: the server's disk is full (no room)"
    assert str(seen.value.hint).startswith("make room on it")
    # The driver's own errors of this kind have a text in place of what the server told.
    driver.answers = [pg8000.native.DatabaseError("odd"), pg8000.native.DatabaseError()]
    with pytest.raises(StoreError, match=r"odd \(SQLSTATE \)"):
        found.execute("INSERT")
    with pytest.raises(StoreError, match=r"\(SQLSTATE \)"):
        found.execute("INSERT")
    assert not found.is_lost


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (refused("57P01"), StoreError),
        (ConnectionResetError(), StoreError),
        (TimeoutError(), StoreError),
        (KeyError("out of place"), StoreError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_other_errors_end_the_session_without_further_bytes(
    error: BaseException, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, found = session(monkeypatch)
    driver.answers = [error]
    with pytest.raises(raised) as seen:
        found.execute("INSERT")
    assert found.is_lost
    assert driver._usock.events == [("shutdown", socket.SHUT_RDWR), "closed"]
    if raised is StoreError:
        assert str(seen.value).startswith(f"{TARGET}: the connection with the server was lost")
    # There is nothing left to end.
    found.close()
    assert len(driver._usock.events) == 2


def test_a_session_ends_once_with_a_terminate_message(monkeypatch: pytest.MonkeyPatch) -> None:
    driver, found = session(monkeypatch)
    found.close()
    found.close()
    assert found.is_lost and driver._usock.events == ["closed"]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    wire = Wire()
    monkeypatch.setattr(postgresql_session, "_reach", lambda target: wire)
    monkeypatch.setenv("PGPASSWORD", "s3cret")
    yield wire


def given_to_the_driver(monkeypatch: pytest.MonkeyPatch, answer: object) -> dict[str, Any]:
    """What the driver is told to connect with; it answers so, or raises it."""
    told: dict[str, Any] = {}

    def connection(user: str, **more: Any) -> object:
        told.update(user=user, **more)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(pg8000.native, "Connection", connection)
    return told


class Silent:
    """A driver's connection over a plain socket, or over TLS on one of its own."""

    def __init__(self, own: Wire | None) -> None:
        self._usock = own
        self.adapters: list[tuple[int, object]] = []

    def register_in_adapter(self, oid: int, function: object) -> None:
        self.adapters.append((oid, function))


def test_the_driver_gets_the_whole_url_and_silence_ends_after_40_seconds(
    monkeypatch: pytest.MonkeyPatch, connected: Wire
) -> None:
    silent = Silent(None)
    told = given_to_the_driver(monkeypatch, silent)
    assert postgresql_session._connect(TARGET) is silent
    assert told == {
        "user": "ada",
        "host": "db",
        "database": "lab",
        "password": "s3cret",
        "sock": connected,
        "ssl_context": None,
        "application_name": "lanlab",
    }
    assert connected.events == [("timeout", 40.0)]
    # JSON comes as the text that was kept.
    assert silent.adapters == [(114, str)]

    own = Wire()
    given_to_the_driver(monkeypatch, Silent(own))
    postgresql_session._connect(TARGET)
    assert own.events == [("timeout", 40.0)] and len(connected.events) == 1

    # A local socket needs no TLS, whatever mode is asked for; without a password it is empty.
    monkeypatch.delenv("PGPASSWORD")
    told = given_to_the_driver(monkeypatch, Silent(None))
    postgresql_session._connect(Target("/run", 5432, "ada", "lab", ssl_mode="require"))
    assert (told["ssl_context"], told["password"]) == (False, "")


@pytest.mark.parametrize(
    ("error", "said", "hint"),
    [
        (refused("28P01", "no"), "login failed (no)", "check PGPASSWORD"),
        (refused("3D000", "no lab"), "there is no such database (no lab)", "make it with"),
        (ssl.SSLError(1, "bad"), "no TLS connection", "check `sslmode`"),
        (
            RuntimeError("server refuses SSL"),
            "the server has no TLS; sslmode is `prefer`",
            "switch",
        ),
        (TimeoutError(), "does not answer as a PostgreSQL server (TimeoutError)", "check host"),
        (OSError("odd"), "does not answer as a PostgreSQL server (odd)", "check host"),
    ],
)
def test_the_socket_closes_on_any_refusal(
    error: Exception, said: str, hint: str, monkeypatch: pytest.MonkeyPatch, connected: Wire
) -> None:
    given_to_the_driver(monkeypatch, error)
    with pytest.raises(StoreError) as seen:
        postgresql_session._connect(TARGET)
    assert seen.value.message.startswith(f"{TARGET}: {said}")
    assert str(seen.value.hint).startswith(hint)
    assert connected.events == ["socket closed"]


def test_an_interrupt_while_connecting_closes_the_socket(
    monkeypatch: pytest.MonkeyPatch, connected: Wire
) -> None:
    given_to_the_driver(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        postgresql_session._connect(TARGET)
    assert connected.events == ["socket closed"]


def test_a_connection_has_ten_seconds_and_is_kept_alive() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with _reach(Target("127.0.0.1", port, "ada", "lab")) as reached:
            assert reached.gettimeout() == 10.0
            assert reached.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert reached.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_local_socket_has_ten_seconds_to_answer(tmp_path: Path) -> None:
    target = Target(str(tmp_path), 5432, "ada", "lab")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / ".s.PGSQL.5432"))
        listener.listen()
        with _reach(target) as reached:
            assert reached.family == socket.AF_UNIX
            assert reached.gettimeout() == 10.0
    other = Target(str(tmp_path), 5433, "ada", "lab")
    with pytest.raises(StoreError, match="the server cannot be reached: No such file"):
        _reach(other)


def test_an_invalid_host_name_is_an_unreachable_server() -> None:
    with pytest.raises(StoreError, match="the server cannot be reached") as seen:
        _reach(Target("x" * 70 + ".example", 1, "ada", "lab"))
    assert str(seen.value.hint) == "check host and port, and that the server runs"
