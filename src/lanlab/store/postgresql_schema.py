"""
The tables of a store in PostgreSQL, all in one schema; the same version as store files
(`schema.py`).

JSON columns have the type `json`, not `jsonb`, because that keeps the text as written, including
numbers. Queries still work (`metrics ->> 'goodput_bps'`).
"""

from __future__ import annotations

#: The oldest server that returns floating-point numbers exactly by default.
OLDEST_SERVER = 120000

#: Foreign keys can be checked at the end of a transaction, in which a run is removed before its
#: trials.
TABLES = """
CREATE TABLE store (
    application_id BIGINT NOT NULL,
    schema_version INTEGER NOT NULL
);
CREATE TABLE run (
    sequence    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    study_id    TEXT NOT NULL,
    study       JSON NOT NULL,
    scale       TEXT NOT NULL,
    seed        BIGINT NOT NULL,
    testbed     JSON NOT NULL,
    versions    JSON NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    command     TEXT,
    alternation JSON,
    label       JSON,
    summary     JSON
);
CREATE TABLE trial (
    run_id     TEXT NOT NULL REFERENCES run (id) DEFERRABLE,
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
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number) DEFERRABLE
);
CREATE TABLE series_part (
    run_id     TEXT NOT NULL,
    number     BIGINT NOT NULL,
    name       TEXT NOT NULL,
    part       INTEGER NOT NULL CHECK (part >= 0),
    octets     BYTEA NOT NULL,
    PRIMARY KEY (run_id, number, name, part),
    FOREIGN KEY (run_id, number, name) REFERENCES series (run_id, number, name) DEFERRABLE
);
-- Parquet is compressed already.
ALTER TABLE series_part ALTER COLUMN octets SET STORAGE EXTERNAL;
CREATE TABLE digest (
    run_id       TEXT NOT NULL,
    number       BIGINT NOT NULL,
    is_disturbed INTEGER NOT NULL,
    parts        TEXT NOT NULL,
    PRIMARY KEY (run_id, number, is_disturbed),
    FOREIGN KEY (run_id, number) REFERENCES trial (run_id, number) DEFERRABLE
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE has_run BOOLEAN;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I.run WHERE id = $1)', TG_TABLE_SCHEMA)
        INTO has_run USING OLD.run_id;
    IF has_run THEN RAISE EXCEPTION '%', TG_ARGV[0]; END IF;
    RETURN OLD;
END $$;
""" + "".join(
    f"""CREATE TRIGGER {table}_is_never_changed BEFORE UPDATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a {what} is never changed');
CREATE TRIGGER {table}_is_never_emptied BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a {what} is never emptied');
CREATE TRIGGER {table}_is_never_removed BEFORE DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION refuse_removal('a {what} is never removed');
"""
    for table, what in (
        ("trial", "trial"),
        ("series", "series"),
        ("series_part", "series"),
        ("digest", "digest"),
    )
)
