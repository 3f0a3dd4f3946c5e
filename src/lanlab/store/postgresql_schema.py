"""
The tables of a store in PostgreSQL, all in one schema: the same tables as in store files of this
version (`schema.py`), and two more.

JSON columns have the type `json`, not `jsonb`, because it keeps the text as written, including
numbers. Queries still work (`metrics ->> 'goodput_bps'`).
"""

from __future__ import annotations

from lanlab.store.schema import sql, tables

#: The oldest server version that returns floating-point numbers exactly by default.
OLDEST_SERVER = 120000


TABLES = (
    tables(
        sequence="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        json="JSON",
        whole="BIGINT",
        real="DOUBLE PRECISION",
    )
    + sql("postgresql")
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
