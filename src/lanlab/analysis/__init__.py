"""Statistics and limits: tables in, tables out."""
