"""The command line: one file for each command, each of which parses, calls and prints."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: What is said of a command that was ended, and had no run under way.
INTERRUPTED = "error: interrupted before the command was done"


def main() -> None:
    """Entry point of `lanlab`: exits with 0 (done), 1 (failed) or 2 (refused)."""
    # First of all, and above it nothing is imported: until here Ctrl-C ends Python in its own
    # words. Both modules are there already; `signal` would not be.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)
    # What is loaded stays: looking through it for garbage takes a tenth of the time to load it.
    import gc

    gc.set_threshold(100_000)
    from lanlab.cli.exit_report import run_to_its_end

    run_to_its_end(_load, INTERRUPTED)


def _end(number: int, frame: "FrameType | None") -> None:
    import os

    os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(1)


def _load() -> "Callable[[], object]":
    from lanlab.cli.app import run

    return run


__all__ = ["main"]
