"""Draws figures in separate processes.

Importing matplotlib takes a quarter of a second of processor time, and each figure of a report
another quarter. The processes import it while records are read, and draw while tables are made.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from lanlab.disk import TemporaryFolder, make_folders
from lanlab.processors import usable_processors

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: The imports of a process take as long as this number of jobs.
_JOBS_FOR_A_PROCESS = 3
_BACKENDS = ("agg", "pdf", "svg")
#: Versions of matplotlib whose way to embed fonts is known.
_OWN_SUBSETS = "3.11."
#: All that ISO 32000-1, section 9.9, requires of a font without a table of characters.
_TABLES = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")


class _Processes:
    def __init__(self, most: int) -> None:
        self._most = most
        self._started: list[subprocess.Popen[bytes]] = []
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(most)
        self._jobs = 0
        self._start()

    def _start(self) -> None:
        # `-P`: do not import modules from the current directory in place of ours.
        command = (sys.executable, "-P", "-c", f"from {__name__} import work; work()")
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Jobs that fail in a worker are repeated in this process, which reports the error.
            stderr=subprocess.DEVNULL,
        )
        self._started.append(process)
        self._idle.put(process)

    def begin(self, job: Callable[[], _T]) -> Callable[[], _T]:
        self._jobs += 1
        wanted = -(-self._jobs // _JOBS_FOR_A_PROCESS)
        if len(self._started) < min(wanted, self._most):
            with contextlib.suppress(OSError):
                self._start()
        return self._threads.submit(self._do, job).result

    def _do(self, job: Callable[[], _T]) -> _T:
        process = self._idle.get()
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump(job, process.stdin)
            process.stdin.flush()
            is_done, answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.PickleError):
            # The worker was killed, for example because memory ran out.
            return job()
        finally:
            self._idle.put(process)
        if not is_done:
            raise answer
        found: _T = answer
        return found

    def end(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._started:
            for end in (process.stdin, process.stdout):
                assert end is not None
                with contextlib.suppress(OSError):
                    end.close()
        for process in self._started:
            process.wait()


_processes: _Processes | None = None


@contextlib.contextmanager
def other_processes() -> Iterator[None]:
    """Within the block, `begin` passes jobs to other processes. Within another such block, or with
    only one processor, this has no effect.
    """
    global _processes
    most = usable_processors()
    if _processes is not None or most < 2:
        yield
        return
    prepare()  # all processes inherit the changed environment
    try:
        _processes = _Processes(most)
    except OSError:
        # No process can be started, so jobs run here.
        yield
        return
    try:
        yield
    finally:
        _processes.end()
        _processes = None


def begin(function: Callable[_P, _T], *values: _P.args, **more: _P.kwargs) -> Callable[[], _T]:
    """
    Begin a job, in another process if there is one.

    Args:
        function, values, more: The job; all must be picklable, and its result.

    Returns:
        A function that waits for the job and returns its result, or raises its exception; call it
            within the block of `other_processes`. Without processes the call does the job.
    """
    job = functools.partial(function, *values, **more)
    return job if _processes is None else _processes.begin(job)


def work() -> None:
    # The parent handles Ctrl-C, and then closes this process's input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps output of libraries out of the results
    load()
    importlib.import_module("lanlab.figures.render_matplotlib")
    importlib.import_module("matplotlib.figure")
    for backend in _BACKENDS:
        importlib.import_module(f"matplotlib.backends.backend_{backend}")
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            job = pickle.load(sys.stdin.buffer)
            try:
                answer = True, job()
            except Exception as error:
                answer = False, error
            pickle.dump(answer, results)
            results.flush()
    os._exit(0)


def prepare() -> None:
    # Messages about font lists do not help users of a report.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if os.environ.get("MPLCONFIGDIR") or _is_kept():
        return
    folder = TemporaryFolder("lanlab-matplotlib-")
    folder.remove_at_exit()
    os.environ["MPLCONFIGDIR"] = str(folder.path)


def load() -> ModuleType:
    """matplotlib without the docstrings that it writes for each class, half of the time to load."""
    prepare()
    import matplotlib
    from matplotlib import artist

    changed: Any = artist
    changed.kwdoc = lambda _: ""
    changed.Artist._update_set_signature_and_docstring = classmethod(lambda _: None)
    if matplotlib.__version__.startswith(_OWN_SUBSETS):
        fonts: Any = importlib.import_module("matplotlib.backends._backend_pdf_ps")
        fonts.get_glyphs_subset = _font_of
    return matplotlib


def _font_of(path: str, glyphs: Iterable[int]) -> contextlib.nullcontext[SimpleNamespace]:
    """A font with only these glyphs, in a third of the time that matplotlib's way takes."""
    from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    font = TTFont(str(path), recalcTimestamp=False, lazy=True)
    for table in set(font.keys()).difference(_TABLES):
        del font[table]
    subsetter = Subsetter(Options())
    subsetter.populate(gids=set(glyphs))
    subsetter.subset(font)
    found = SimpleNamespace(font=font, glyph_index_map=subsetter.glyph_index_map)
    return contextlib.nullcontext(found)


def _is_kept() -> bool:
    """Whether matplotlib can use the user's folders for its settings and list of fonts."""
    for variable, usual in (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache")):
        base = os.environ.get(variable)
        try:
            folder = (Path(base) if base else Path.home() / usual) / "matplotlib"
            make_folders(folder)
        except (OSError, RuntimeError):
            return False
        if not os.access(folder, os.W_OK | os.X_OK):
            return False
    return True
