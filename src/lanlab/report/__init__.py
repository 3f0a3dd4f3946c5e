"""A run as one page with figures and tables next to it; and the same tables for the terminal."""
