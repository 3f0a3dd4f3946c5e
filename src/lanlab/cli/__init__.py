"""The command line: one file per command, which parses options, calls lanlab and prints results."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: Message of a command that was interrupted without a run in progress.
INTERRUPTED = "error: interrupted before the command was done"


def main() -> None:
    """Entry point of `lanlab`. Exits with 0 (done), 1 (failed) or 2 (refused)."""
    # This comes first, with no imports above it: until here Ctrl-C prints Python's traceback. Both
    # modules are already loaded, which `signal` is not.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)
    # Loaded modules are never garbage; looking for it would take a tenth of the time to load them.
    import gc

    gc.set_threshold(100_000)
    from lanlab.cli.terminal.exit_report import run_to_its_end

    run_to_its_end(_load, INTERRUPTED)


def _end(number: int, frame: "FrameType | None") -> None:
    import os

    os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(1)


def _load() -> "Callable[[], object]":
    import sys

    if sys.argv[1:] in (["--help"], ["-h"]):
        from lanlab.cli.help.overview import overview

        return lambda: print(overview())
    from lanlab.cli.app import run

    return run


__all__ = ["main"]
