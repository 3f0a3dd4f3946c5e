"""
Worlds simulated in parallel, each by its own engine process.

A world depends only on its request, which contains its seed. So it may be computed before its turn:
a result is used for an identical request only, and results no longer expected are dropped. Used in
the order of a plan, they are the same as if the worlds ran one after another.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

from lanlab.engine import Engine
from lanlab.errors import EngineError, EngineLost
from lanlab.processors import usable_processors
from lanlab.trial_data import Line, Request, World

_LONGEST_S = 3600.0


class Worlds:
    """
    Engines that simulate, as many in parallel as there are processors.

    Args:
        start: Starts an engine. The first one is started at once.
        most: Most worlds to simulate at a time; default: one per usable processor.

    Raises:
        EngineLost: The engine does not start.
    """

    def __init__(self, start: Callable[[], Engine], most: int | None = None) -> None:
        self.most = most or usable_processors()
        self._start = start
        self._free: queue.SimpleQueue[Engine] = queue.SimpleQueue()
        self._engines: set[Engine] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        first = self._started()
        self.engine_version: str = first.hello["engine_version"]
        self._free.put(first)
        self._threads = ThreadPoolExecutor(self.most, thread_name_prefix="world")
        self._expected: dict[str, Future[World]] = {}

    def expect(self, requests: Sequence[Request]) -> None:
        """Start with worlds that will be requested, in this order. Earlier expectations that are no
        longer listed are dropped.
        """
        wanted = {_key(request): request for request in requests}
        for key in [key for key in self._expected if key not in wanted]:
            # A world that has begun runs to its end, and its result is discarded.
            self._expected.pop(key).cancel()
        for key, request in wanted.items():
            if key not in self._expected:
                self._expected[key] = self._threads.submit(self._simulate, request)

    def result(self, request: Request) -> World:
        """The result of a world.

        Raises:
            EngineError: The simulation failed.
            EngineLost: Its engine is gone, or timed out.
        """
        future = self._expected.pop(_key(request), None)
        if future is None:
            future = self._threads.submit(self._simulate, request)
        return future.result()

    def _simulate(self, request: Request) -> World:
        engine = self._taken()
        lines: dict[str, list[Line]] = {}
        try:
            measurement = engine.start(
                request, lambda line: lines.setdefault(line["type"], []).append(line)
            )
            return cast("World", {**measurement.result(_LONGEST_S), "lines": lines})
        except EngineError:
            raise
        except BaseException:
            # The engine may still be simulating, and is not needed.
            self._end(engine)
            raise
        finally:
            if not engine.is_lost:
                self._free.put(engine)

    def _taken(self) -> Engine:
        while True:
            try:
                engine = self._free.get_nowait()
            except queue.Empty:
                return self._started()
            if not engine.is_lost:
                return engine
            self._end(engine)

    def _started(self) -> Engine:
        engine = self._start()
        with self._lock:
            self._engines.add(engine)
            is_closed = self._is_closed
        if is_closed:
            self._end(engine)
            raise EngineLost("the simulated testbed is closed")
        return engine

    def _end(self, engine: Engine) -> None:
        with self._lock:
            self._engines.discard(engine)
        engine.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            engines = list(self._engines)
        for engine in engines:
            with contextlib.suppress(EngineLost):
                self._end(engine)
        self._threads.shutdown(cancel_futures=True)


def _key(request: Request) -> str:
    return json.dumps(request, sort_keys=True)
