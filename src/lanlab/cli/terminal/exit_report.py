"""
The end of every command: one sentence for an error, and the exit code: 0 (done), 1 (failed, or
files were left on a user's server) or 2 (refused). LANLAB_TRACEBACK=1 adds a traceback.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

from lanlab import captures, server_leftovers
from lanlab.cli.running.interrupts import EXIT_CODE, Interrupts
from lanlab.cli.terminal.memory import watch_imports
from lanlab.cli.terminal.output import OUTPUTS, discard, flushed, make_readable
from lanlab.errors import LabError, UsageError

#: Allocations before Python collects garbage: more than modules and models make before a
#: measurement starts (60 000 for a stream, 95 000 for stations), none of which is garbage. Python's
#: default (700) spends a seventh of that time on them, and one full collection takes 15 to 40 ms.
_OBJECTS_BEFORE_A_LOOK = 150_000
#: How the system's loader and Python report a lack of memory or threads.
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread")

_after_the_answer: list[LabError] = []


def tell_after_the_answer(error: LabError) -> None:
    """Print this error after the command's answer, and exit with 1: a failed export must not hide
    the results.
    """
    _after_the_answer.append(error)


def run_to_its_end(load: Callable[[], Callable[[], object]], interrupted: str) -> None:
    """
    Load a command line, run it, and exit.

    Args:
        load: Imports the command line. During the import Ctrl-C ends the process at once.
    """
    interrupts = Interrupts(interrupted)
    interrupts.install()
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
    make_readable()
    watch_imports()
    # To find plugins, pydantic would read the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Discard reports of earlier commands of this process.
    server_leftovers.take()
    captures.take()
    _after_the_answer.clear()
    code: int | str | None = 0
    try:
        command = load()
        interrupts.work()
        command()
    except SystemExit as end:
        code = end.code
        if interrupts.heeded and code:
            # The exit code is typer's for Ctrl-C: report the interrupt.
            code = _interrupted(interrupted)
    except BaseException as error:
        # On its way here, an interrupt may have turned into another exception.
        is_heeded = interrupts.heeded or isinstance(error, KeyboardInterrupt)
        has_reason = isinstance(error, LabError) or not is_heeded
        code = _print_error(error) if has_reason else _interrupted(interrupted)
    interrupts.finish()
    for late in _after_the_answer:
        _say(f"error: {late.message}", late.hint)
        code = code or 1
    for lacking, hint in captures.take():
        _say(f"error: {lacking}", hint)
        code = code or 1
    # These come last, even after an error.
    for warning, hint, is_left in server_leftovers.take():
        _say(f"warning: {warning}", hint)
        code = code or int(is_left)
    # Flush here: if the reader has gone (`lanlab runs | head`), Python would report it when it is
    # too late to handle.
    problem = flushed(sys.stdout)
    if problem is not None and not code:
        code = _print_error(problem)
    if flushed(sys.stderr) is not None:
        code = code or 1
    interrupts.close()
    leave(code)


def leave(code: int | str | None) -> NoReturn:
    """End this process like `sys.exit`, but leave freeing the memory to the system: Python would
    take a tenth of a second to unload all modules.
    """
    if isinstance(code, str):
        sys.exit(code)
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    atexit._run_exitfuncs()
    os._exit(code or 0)


def _interrupted(sentence: str) -> int:
    # The user may have pressed Ctrl-C because the output waits for its reader.
    discard(sys.stdout)
    _say(sentence)
    return EXIT_CODE


def _print_error(error: BaseException) -> int:
    """Print the error.

    Returns:
        The exit code.
    """
    if os.environ.get("LANLAB_TRACEBACK") and not isinstance(error, LabError):
        import traceback

        _say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, LabError):
        _say(f"error: {error.message}", error.hint)
        return 2 if isinstance(error, UsageError) else 1
    if isinstance(error, BrokenPipeError):
        return 1
    if isinstance(error, OSError) and error.filename in OUTPUTS:
        _say(f"error: {error.filename} cannot be written: {error.strerror}")
        return 1
    if _is_for_want_of_memory(error):
        _say(
            f"error: not enough memory for this command: {_first_line(error)}",
            f"close other programs, or raise the limit ({_memory_limit()})",
        )
    elif _is_for_want_of_descriptors(error):
        _say(
            "error: this process may not open as many files as this command takes",
            f"raise the limit, as by `ulimit -n 1024`{_descriptor_limit()}",
        )
    elif isinstance(error, FileNotFoundError) and error.filename is None:
        _say("error: the current folder no longer exists", "change to another folder")
    elif isinstance(error, OSError):
        place = "" if error.filename is None else f"{error.filename}: "
        _say(f"error: {place}{error.strerror or error}", _details(error))
    else:
        kind = type(error).__name__
        _say(
            f"error: this is a bug in lanlab ({kind}: {_first_line(error)}); the trials that had "
            "ended are saved",
            _details(error),
        )
    return 1


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _is_for_want_of_memory(error: BaseException) -> bool:
    return any(
        isinstance(one, MemoryError)
        or (isinstance(one, OSError) and one.errno == errno.ENOMEM)
        or any(text in str(one).lower() for text in _NO_MEMORY)
        for one in _causes(error)
    )


def _is_for_want_of_descriptors(error: BaseException) -> bool:
    return any(
        (isinstance(one, OSError) and one.errno in (errno.EMFILE, errno.ENFILE))
        or os.strerror(errno.EMFILE).lower() in str(one).lower()
        for one in _causes(error)
    )


def _descriptor_limit() -> str:
    with contextlib.suppress(ImportError, OSError):
        import resource

        return f"; here it is {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}"
    return ""


def _memory_limit() -> str:
    with contextlib.suppress(ImportError, MemoryError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return f"`ulimit -v`, here {limit // 1024} KiB"
    return "of the container or virtual machine"


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no details")


def _details(error: BaseException) -> str:
    import traceback

    from lanlab.disk import new_temporary_file

    again = "run it again with LANLAB_TRACEBACK=1 to see the traceback"
    if os.environ.get("LANLAB_TRACEBACK"):
        return "please report the traceback above"
    try:
        file, path = new_temporary_file("lanlab-error-", ".txt")
        with file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return again
    return f"the traceback is in {path}; please report it"


def _say(text: str, hint: str | None = None) -> None:
    lines = [text] if hint is None else [text, f"hint: {hint}"]
    try:
        from lanlab.cli.terminal.remarks import say
    except (ImportError, MemoryError):
        say = _say_plainly
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            say(line)


def _say_plainly(text: str) -> None:
    os.write(2, f"{text}\n".encode("ascii", "backslashreplace"))
