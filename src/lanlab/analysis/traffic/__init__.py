"""Results of streams and round trips within a trial."""
