"""The command line: one file for each command, each of which parses, calls and prints."""

from __future__ import annotations

from collections.abc import Callable


def main() -> None:
    """Entry point of `lanlab`: exits with 0 (done), 1 (failed) or 2 (refused)."""
    try:
        from lanlab.cli.ending import run_to_its_end
    except KeyboardInterrupt:
        # Nothing of lanlab's has begun: as from `lanlab.cli.interrupts`, which is not there yet.
        raise SystemExit("error: interrupted before the command was done") from None
    run_to_its_end(_load)


def _load() -> Callable[[], object]:
    from lanlab.cli.app import run

    return run


__all__ = ["main"]
