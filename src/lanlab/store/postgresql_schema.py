"""
The tables of a store in PostgreSQL, all in one schema, and the steps between their versions.

Versions are the same as for store files (`schema.py`); PostgreSQL stores exist since version 3.
JSON columns have the type `json`, not `jsonb`, because that keeps the text as written, including
numbers. Queries still work (`metrics ->> 'goodput_bps'`).
"""

from __future__ import annotations

from collections.abc import Mapping

#: The oldest server that returns floating-point numbers exactly by default.
OLDEST_SERVER = 120000

_NEVER = "\n".join(
    f"""CREATE TRIGGER {table}_is_never_{done} BEFORE {event} ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('{name} is never {done}');"""
    for table, name in (
        ("trial", "a trial"),
        ("series", "a series"),
        ("series_part", "a series"),
    )
    for event, done in (("UPDATE", "changed"), ("DELETE", "removed"), ("TRUNCATE", "emptied"))
)

_VERSION_3 = f"""
CREATE TABLE store (application_id BIGINT NOT NULL);
CREATE TABLE migration (
    version    INTEGER PRIMARY KEY,
    applied_at TEXT NOT NULL
);
CREATE TABLE run (
    sequence   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    study_id   TEXT NOT NULL,
    study      JSON NOT NULL,
    scale      TEXT NOT NULL,
    seed       BIGINT NOT NULL,
    testbed    JSON NOT NULL,
    versions   JSON NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
    started_at TEXT NOT NULL,
    ended_at   TEXT
);
CREATE TABLE trial (
    run_id     TEXT NOT NULL REFERENCES run (id),
    number     BIGINT NOT NULL CHECK (number >= 0),
    experiment TEXT NOT NULL,
    workload   TEXT NOT NULL,
    factors    JSON NOT NULL,
    parameters JSON NOT NULL,
    block      BIGINT NOT NULL CHECK (block >= 0),
    purpose    TEXT NOT NULL CHECK (purpose IN ('trial', 'search', 'confirm', 'curve')),
    status     TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    started_at TEXT NOT NULL,
    elapsed_s  DOUBLE PRECISION NOT NULL,
    metrics    JSON NOT NULL,
    raw        JSON NOT NULL,
    error      JSON,
    PRIMARY KEY (run_id, number)
);
CREATE TABLE series (
    run_id     TEXT NOT NULL,
    number     BIGINT NOT NULL,
    name       TEXT NOT NULL,
    row_count  BIGINT NOT NULL CHECK (row_count >= 0),
    size_bytes BIGINT NOT NULL CHECK (size_bytes > 0),
    sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (run_id, number, name),
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number)
);
CREATE TABLE series_part (
    run_id     TEXT NOT NULL,
    number     BIGINT NOT NULL,
    name       TEXT NOT NULL,
    part       INTEGER NOT NULL CHECK (part >= 0),
    octets     BYTEA NOT NULL,
    PRIMARY KEY (run_id, number, name, part),
    FOREIGN KEY (run_id, number, name) REFERENCES series (run_id, number, name)
);
-- Parquet is compressed already.
ALTER TABLE series_part ALTER COLUMN octets SET STORAGE EXTERNAL;
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
{_NEVER}
"""

#: As in `schema.py`. From here on, foreign keys can be checked at the end of a transaction.
_VERSION_4 = """
ALTER TABLE run ADD COLUMN command TEXT;
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE has_run BOOLEAN;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I.run WHERE id = $1)', TG_TABLE_SCHEMA)
        INTO has_run USING OLD.run_id;
    IF has_run THEN RAISE EXCEPTION '%', TG_ARGV[0]; END IF;
    RETURN OLD;
END $$;
DO $$
DECLARE found RECORD;
BEGIN
    FOR found IN
        SELECT c.relname, k.conname FROM pg_catalog.pg_constraint k
        JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE k.contype = 'f' AND n.nspname = current_schema()
        AND c.relname IN ('trial', 'series', 'series_part')
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER CONSTRAINT %I DEFERRABLE', found.relname,
            found.conname);
    END LOOP;
END $$;
""" + "\n".join(
    f"""DROP TRIGGER {table}_is_never_removed ON {table};
CREATE TRIGGER {table}_is_never_removed BEFORE DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION refuse_removal('{name} is never removed');"""
    for table, name in (
        ("trial", "a trial"),
        ("series", "a series"),
        ("series_part", "a series"),
    )
)

#: As in `schema.py`.
_VERSION_5 = "ALTER TABLE run ADD COLUMN alternation JSON;"

#: As in `schema.py`.
_VERSION_6 = "ALTER TABLE run ADD COLUMN label JSON;"

#: As in `schema.py`.
_VERSION_7 = """
ALTER TABLE run ADD COLUMN summary JSON;
CREATE TABLE digest (
    run_id       TEXT NOT NULL,
    number       BIGINT NOT NULL,
    is_disturbed INTEGER NOT NULL,
    parts        TEXT NOT NULL,
    PRIMARY KEY (run_id, number, is_disturbed),
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number) DEFERRABLE
);
CREATE TRIGGER digest_is_never_changed BEFORE UPDATE ON digest
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a digest is never changed');
CREATE TRIGGER digest_is_never_emptied BEFORE TRUNCATE ON digest
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a digest is never emptied');
CREATE TRIGGER digest_is_never_removed BEFORE DELETE ON digest
FOR EACH ROW EXECUTE FUNCTION refuse_removal('a digest is never removed');
"""

MIGRATIONS: Mapping[int, str] = {
    3: _VERSION_3,
    4: _VERSION_4,
    5: _VERSION_5,
    6: _VERSION_6,
    7: _VERSION_7,
}
