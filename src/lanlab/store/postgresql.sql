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
