"""
Figures drawn in processes of their own, one for each processor that may be used.

Loading matplotlib takes a quarter of a second of a processor and each figure of a report another
quarter; the processes load it while records are read, and draw next to each other.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lanlab.figures.matplotlib_home import prepare
from lanlab.processors import usable_processors

#: A function of a module, and what it is called with; what it returns can be pickled.
Job = tuple[Callable[..., Any], *tuple[Any, ...]]

#: More draw no report faster: what is between the figures is done by one.
_MOST_PROCESSES = 8
_BACKENDS = ("agg", "pdf", "svg")

#: Of the processes that have no job; None as long as there are none.
_idle: queue.SimpleQueue[subprocess.Popen[bytes]] | None = None


@contextlib.contextmanager
def other_processes() -> Iterator[None]:
    """Meanwhile `drawn` has other processes draw. Within another such block, and where one
    processor is all there is, nothing changes."""
    global _idle
    count = min(usable_processors(), _MOST_PROCESSES)
    if _idle is not None or count < 2:
        yield
        return
    prepare()  # What it sets and removes is common to all of them.
    # `-P`: no module of the folder in which the command was given is taken for one of ours.
    command = (sys.executable, "-P", "-c", f"from {__name__} import draw_for_parent as d; d()")
    started: list[subprocess.Popen[bytes]] = []
    try:
        with contextlib.suppress(OSError):
            while len(started) < count:
                started.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        # What one cannot do is done here, and said here.
                        stderr=subprocess.DEVNULL,
                    )
                )
        if started:
            _idle = queue.SimpleQueue()
            for process in started:
                _idle.put(process)
        yield
    finally:
        _idle = None
        for process in started:
            for end in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    end.close()  # type: ignore[union-attr]
        for process in started:
            process.wait()


def drawn(jobs: Sequence[Job]) -> list[Any]:
    """What each job returns, in their order; the first exception of one is raised."""
    if _idle is None:
        return [function(*values) for function, *values in jobs]
    with ThreadPoolExecutor(_MOST_PROCESSES) as threads:
        return list(threads.map(_drawn_elsewhere, jobs))


def _drawn_elsewhere(job: Job) -> Any:
    assert _idle is not None
    process = _idle.get()
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump(job, process.stdin)
        process.stdin.flush()
        is_done, found = pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        # It was ended, as by a system without memory: the figure can still be drawn here.
        function, *values = job
        return function(*values)
    finally:
        _idle.put(process)
    if not is_done:
        raise found
    return found


def draw_for_parent() -> None:
    """Do the jobs that come by standard input, until it is closed."""
    # The parent answers Ctrl-C, and closes what this reads from.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What libraries print is no result.
    prepare()
    import importlib

    importlib.import_module("lanlab.figures.render_matplotlib")
    importlib.import_module("matplotlib.figure")
    for backend in _BACKENDS:
        importlib.import_module(f"matplotlib.backends.backend_{backend}")
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            function, *values = pickle.load(sys.stdin.buffer)
            try:
                answer = True, function(*values)
            except Exception as error:
                answer = False, error
            pickle.dump(answer, results)
            results.flush()
    os._exit(0)
