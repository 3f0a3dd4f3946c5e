"""The command line: one file per command, each of which parses, calls and prints."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: Message of an interrupted command that had no run in progress.
INTERRUPTED = "error: interrupted before the command was done"


def main() -> None:
    """Entry point of `lanlab`: exits with 0 (done), 1 (failed) or 2 (refused)."""
    # This comes first, with no imports above: until here Ctrl-C shows Python's own message. Both
    # modules are already loaded; `signal` would not be.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)
    # Loaded modules stay: collecting garbage among them takes a tenth of the time to load them.
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
