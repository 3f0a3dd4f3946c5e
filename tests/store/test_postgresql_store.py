"""A store in PostgreSQL: others' tables, rights, and servers that stop."""

import dataclasses
import secrets
import signal
from collections.abc import Iterator

import numpy as np
import pytest
from postgres_server import PostgresServer
from store_samples import a_run, a_trial, store_with_run

from lanlab.errors import StoreError
from lanlab.store import Series, open_store
from lanlab.store.postgresql_url import parse_url
from lanlab.store.schema import APPLICATION_ID, SCHEMA_VERSION

#: Of more than one part.
READINGS = Series("readings", {"n": np.random.default_rng(1).integers(0, 2**60, 300_000)})


def schema_of(url: str) -> str:
    return parse_url(url).schema


@pytest.fixture
def other_user(server: PostgresServer) -> Iterator[str]:
    name = f"u_{secrets.token_hex(4)}"
    server.sql(f"CREATE USER {name} PASSWORD 'x'")
    yield name
    server.sql(f"DROP OWNED BY {name} CASCADE", f"DROP USER {name}")


# Others' tables


def test_a_foreign_schema_is_refused_and_not_touched(
    server: PostgresServer, postgresql_url: str
) -> None:
    schema = schema_of(postgresql_url)
    server.sql(f"CREATE SCHEMA {schema}", f"CREATE TABLE {schema}.run (id INTEGER)")
    server.sql(f"INSERT INTO {schema}.run VALUES (7)")
    for use in (lambda store: store.runs(), lambda store: store.start_run(a_run()).release()):
        with open_store(postgresql_url) as store, pytest.raises(StoreError) as refused:
            use(store)
        assert f"the schema `{schema}` of this database is of another program" in str(refused.value)
        assert "?schema=" in str(refused.value.hint)
    assert server.sql(f"SELECT * FROM {schema}.run") == [[7]]
    tables = f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'"
    assert server.sql(tables) == [["run"]]
    with open_store(f"{postgresql_url}_2") as store:
        store.start_run(a_run()).release()


def test_a_newer_schema_is_refused_and_not_touched(
    server: PostgresServer, postgresql_url: str
) -> None:
    with open_store(postgresql_url) as store:
        store.start_run(a_run()).release()
    schema = schema_of(postgresql_url)
    server.sql(f"UPDATE {schema}.store SET schema_version = {SCHEMA_VERSION + 1}")
    with open_store(postgresql_url) as store:
        message = f"schema version {SCHEMA_VERSION + 1}; this lanlab knows version"
        with pytest.raises(StoreError, match=message):
            store.runs()
        with pytest.raises(StoreError, match=message):
            store.start_run(a_run(id="b")).release()
    assert server.sql(f"SELECT id FROM {schema}.run") == [[a_run().id]]


def test_all_tables_are_in_our_schema(server: PostgresServer, postgresql_url: str) -> None:
    with open_store(postgresql_url) as store:
        store.start_run(a_run()).release()
    schema = schema_of(postgresql_url)

    assert server.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
    assert server.sql(f"SELECT application_id FROM {schema}.store") == [[APPLICATION_ID]]


def test_trials_and_series_cannot_be_changed_or_removed_even_by_sql(
    server: PostgresServer, postgresql_url: str
) -> None:
    import pg8000.native

    with store_with_run(postgresql_url) as store:
        store.commit_trial(a_trial(0), [READINGS])
    schema = schema_of(postgresql_url)
    for statement, message in (
        ("UPDATE {}.trial SET elapsed_s = 1", "a trial is never changed"),
        ("DELETE FROM {}.trial", "a trial is never removed"),
        ("TRUNCATE {}.trial CASCADE", "is never emptied"),
        ("UPDATE {}.series SET row_count = 1", "a series is never changed"),
        ("DELETE FROM {}.series_part", "a series is never removed"),
        ("TRUNCATE {}.series_part", "a series is never emptied"),
    ):
        with pytest.raises(pg8000.native.DatabaseError, match=message):
            server.sql(statement.format(schema))
    with open_store(postgresql_url) as store:
        assert store.trials("last") == [a_trial(0)]


def test_records_can_be_queried_by_sql(server: PostgresServer, postgresql_url: str) -> None:
    with store_with_run(postgresql_url) as store:
        store.commit_trial(a_trial(0))
    schema = schema_of(postgresql_url)
    query = f"SELECT (metrics ->> 'goodput_bps')::float8 FROM {schema}.trial"
    assert server.sql(query) == [[9_123_456.789012345]]


def test_missing_privileges_are_named(
    server: PostgresServer, postgresql_url: str, other_user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = schema_of(postgresql_url)
    monkeypatch.setenv("PGPASSWORD", "x")
    url = postgresql_url.replace("//ada@", f"//{other_user}@")
    with open_store(url) as store:
        with pytest.raises(StoreError, match="the user may not do this") as refused:
            store.start_run(a_run()).release()
        assert "CREATE SCHEMA" in str(refused.value.hint)
        server.sql(f"CREATE SCHEMA {schema} AUTHORIZATION {other_user}")
        store.start_run(a_run()).release()
        with store.acquire_run("last"):
            store.commit_trial(a_trial(0), [READINGS])


def test_a_missing_database_is_named(postgresql_url: str) -> None:
    url = postgresql_url.replace("/lab?", "/other?")
    with open_store(url) as store, pytest.raises(StoreError) as refused:
        store.runs()
    assert "there is no such database" in refused.value.message
    assert "createdb" in str(refused.value.hint)


# What is kept, and when


def test_a_commit_is_acknowledged_only_once_on_disk(
    server: PostgresServer, postgresql_url: str
) -> None:
    asked = "SELECT current_setting('synchronous_commit')"
    for preferred, expected in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        server.sql(f"ALTER DATABASE {server.database} SET synchronous_commit = {preferred}")
        try:
            with open_store(postgresql_url) as store:
                session = store._open_to_write()  # type: ignore[attr-defined]
                assert session.execute(asked) == [[expected]]
        finally:
            server.sql(f"ALTER DATABASE {server.database} RESET synchronous_commit")


def test_acknowledged_trials_outlive_the_crash_of_the_server(
    server: PostgresServer, postgresql_url: str
) -> None:
    store = open_store(postgresql_url)
    store.start_run(a_run()).release()
    lease = store.acquire_run("last")
    store.commit_trial(a_trial(0), [READINGS])
    server.stop(signal.SIGQUIT)
    with pytest.raises(StoreError, match="the connection with the server was lost") as lost:
        store.commit_trial(a_trial(1), [READINGS])
    assert "lanlab run --resume" in str(lost.value.hint)
    with pytest.raises(StoreError, match="cannot be reached"):
        store.finish_run(a_run().id, "interrupted")
    server.start()

    # What held the lease is gone: whoever goes on without it is stopped.
    with pytest.raises(StoreError, match="lost its lease"):
        store.commit_trial(a_trial(1))
    lease.release()
    store.close()
    with open_store(postgresql_url) as store, store.acquire_run("last"):
        assert store.trials("last") == [a_trial(0)]
        found = store.series("last", 0)["readings"].columns["n"]
        assert (found == READINGS.columns["n"]).all()
        store.commit_trial(a_trial(1), [READINGS])


def test_a_lease_whose_session_is_ended_stops_its_run_at_the_next_commit(
    server: PostgresServer, postgresql_url: str
) -> None:
    with open_store(postgresql_url) as store, open_store(postgresql_url) as other:
        store.start_run(a_run()).release()
        lease = store.acquire_run("last")
        store.commit_trial(a_trial(0))
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        with other.acquire_run("last"):
            for act in (
                lambda: store.commit_trial(a_trial(1), [READINGS]),
                lambda: store.finish_run(a_run().id, "done"),
            ):
                with pytest.raises(StoreError, match="lost its lease") as refused:
                    act()
                assert "lanlab run --resume" in str(refused.value.hint)
            other.commit_trial(a_trial(1, elapsed_s=5.0))
        assert [trial.elapsed_s for trial in store.trials("last")] == [1.7, 5.0]
        lease.release()


def test_a_session_lost_during_a_commit_leaves_no_trial(
    server: PostgresServer, postgresql_url: str
) -> None:
    with store_with_run(postgresql_url) as store:
        database = store  # type: ignore[attr-defined]
        with (
            pytest.raises(StoreError, match="the connection with the server was lost"),
            database.transaction(a_run().id) as session,
        ):
            session.execute("UPDATE run SET scale = 'changed'")
            server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'lanlab' AND state LIKE 'idle in%'"
            )
            session.execute("SELECT 1")
        assert store.runs() == [a_run()]


def test_ctrl_c_during_a_query_does_not_mix_up_replies(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_with_run(postgresql_url) as store:
        session = store._open()  # type: ignore[attr-defined]

        def press(number: int, frame: object) -> None:
            raise KeyboardInterrupt

        handler = signal.signal(signal.SIGALRM, press)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                session.execute("SELECT pg_sleep(600)")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
        store.finish_run(a_run().id, "interrupted")

        assert store.run("last").status == "interrupted"


def test_statements_and_waits_are_bounded(
    server: PostgresServer, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pg8000.native

    monkeypatch.setattr("lanlab.store.postgresql_session._SETTINGS", quick_settings())
    schema = schema_of(postgresql_url)
    with store_with_run(postgresql_url) as store:
        blocker = pg8000.native.Connection(
            server.user,
            host="127.0.0.1",
            port=server.port,
            database=server.database,
            password=server.password,
        )
        try:
            blocker.run("BEGIN")
            blocker.run(f"LOCK TABLE {schema}.trial IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreError, match="another process kept it locked"):
                store.commit_trial(a_trial(0))
            with pytest.raises(StoreError, match="the server took too long"):
                store._open().execute(  # type: ignore[attr-defined]
                    "SELECT pg_sleep(20)"
                )
        finally:
            blocker.close()
        store.commit_trial(a_trial(0))


def quick_settings() -> str:
    from lanlab.store import postgresql_session

    settings = postgresql_session._SETTINGS
    quick = settings.replace("lock_timeout = '10s'", "lock_timeout = '500ms'")
    quick = quick.replace("statement_timeout = '30s'", "statement_timeout = '2500ms'")
    assert quick.count("ms'") == 2
    return quick


def test_a_series_that_was_damaged_in_the_database_is_named(
    server: PostgresServer, postgresql_url: str
) -> None:
    with store_with_run(postgresql_url) as store:
        store.commit_trial(a_trial(0), [READINGS, dataclasses.replace(READINGS, name="other")])
        schema = schema_of(postgresql_url)
        server.sql(
            f"ALTER TABLE {schema}.series_part DISABLE TRIGGER USER",
            f"DELETE FROM {schema}.series_part WHERE name = 'readings' AND part = 1",
        )
        with pytest.raises(StoreError, match=r"series `readings` of trial 0 .* is damaged"):
            store.series("last", 0)
        assert store.trials("last") == [a_trial(0)]
        assert store.series("last", 0, ["other"])["other"].rows == READINGS.rows
