"""How a lease in PostgreSQL is taken, waited for, checked and given back, without a server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from lanlab.errors import StoreError
from lanlab.store import postgresql
from lanlab.store.postgresql import PostgresqlLease, PostgresqlStore
from lanlab.store.postgresql_url import parse_url

TARGET = parse_url("postgresql://ada@127.0.0.1:5432/lab?schema=made")
#: The server's process for the session that takes the lease.
PROCESS = 4711


@dataclass
class Session:
    """A session whose server gives prepared answers, the last one again and again."""

    answers: list[Any] = field(default_factory=lambda: [True])
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    closed: int = 0
    is_lost: bool = False

    def execute(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        self.asked.append((sql, values))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return [[answer, PROCESS]] if "pg_try_advisory_lock" in sql else [[answer]]

    def close(self) -> None:
        self.closed += 1


@dataclass
class Clock:
    """A clock that only waiting moves on: by a quarter of a second, however short the wait."""

    now: float = 100.0
    waits: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += 0.25


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    found = Clock()
    monkeypatch.setattr(postgresql, "time", found)
    yield found


def database(monkeypatch: pytest.MonkeyPatch, session: Session) -> PostgresqlStore:
    monkeypatch.setattr(postgresql, "PostgresqlSession", lambda target: session)
    return PostgresqlStore(TARGET)


def test_a_held_lease_is_retried_for_one_second(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Tries at 0, 0.25, 0.5, 0.75 and 1 s; a session that is left open would hold a connection."""
    session = Session([False])
    with pytest.raises(StoreError, match="run `r`"):
        database(monkeypatch, session).acquire("r")
    assert len(session.asked) == 5
    assert clock.waits == [postgresql._LEASE_RETRY_S] * 4
    assert session.closed == 1


def test_a_lease_passes_to_the_next_owner(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    session = Session([False, False, True])
    lease = database(monkeypatch, session).acquire("r")
    assert isinstance(lease, PostgresqlLease)
    assert (len(session.asked), len(clock.waits)) == (3, 2)
    assert (lease.process_id, lease.is_released, session.closed) == (PROCESS, False, 0)


def test_releasing_a_lease_closes_its_session(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    for answer in (True, StoreError("the server has gone")):
        session = Session([True, answer])
        lease = database(monkeypatch, session).acquire("r")
        lease.release()
        assert "pg_advisory_unlock_all" in session.asked[-1][0]
        assert session.closed == 1


def test_an_interrupt_during_the_wait_for_a_lease_closes_the_session(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    session = Session([KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        database(monkeypatch, session).acquire("r")
    assert session.closed == 1
