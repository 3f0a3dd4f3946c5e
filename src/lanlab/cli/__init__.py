"""The command line: one file for each command, each of which parses, calls and prints."""

from __future__ import annotations


def main() -> None:
    """Entry point of `lanlab`."""
    from lanlab.cli.app import run

    run()


__all__ = ["main"]
