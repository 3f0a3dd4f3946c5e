"""
The tables of a store in PostgreSQL, all in one schema: the same tables as in store files of this
version (`schema.py`), and two more.

JSON columns have the type `json`, not `jsonb`, because it keeps the text as written, including
numbers. Queries still work (`metrics ->> 'goodput_bps'`).
"""

from __future__ import annotations

from lanlab.store.schema import tables

#: The oldest server version that returns floating-point numbers exactly by default.
OLDEST_SERVER = 120000

_OWN = """
CREATE TABLE store (
    application_id BIGINT NOT NULL,
    schema_version INTEGER NOT NULL
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
"""

TABLES = (
    tables(
        sequence="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        json="JSON",
        whole="BIGINT",
        real="DOUBLE PRECISION",
    )
    + _OWN
    + "".join(
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
)
