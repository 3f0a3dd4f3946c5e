"""A run on one page, with figures and tables beside it; and the same tables for the terminal."""
