"""Reports: a run as one page with figures and tables, and the same tables for the terminal."""
