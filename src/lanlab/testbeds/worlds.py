"""
Worlds that are simulated side by side, each by an engine process of its own.

A world follows from its request alone, which has its seed. So it may be computed before its turn:
a result is given out for the same request only, and what is not expected any more is dropped.
Taken in the order of a plan, results are the same as if each world had waited for the one before.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from lanlab.engine import Engine
from lanlab.errors import EngineError, EngineLost
from lanlab.processors import usable_processors

_LONGEST_S = 3600.0

_Request = Mapping[str, Any]


class Worlds:
    """
    Engines that simulate, as many at a time as there are processors.

    Args:
        start: Starts an engine. The first one is started at once.
        most: How many worlds are simulated at a time; absent: one for each usable processor.

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
        self._expected: dict[str, Future[dict[str, Any]]] = {}

    def expect(self, requests: Sequence[_Request]) -> None:
        """Begin with worlds that will be asked for, in this order. Those that were expected before
        and are not any more are dropped."""
        wanted = {_key(request): request for request in requests}
        for key in [key for key in self._expected if key not in wanted]:
            # One that has begun comes to its end, which is looked at no more.
            self._expected.pop(key).cancel()
        for key, request in wanted.items():
            if key not in self._expected:
                self._expected[key] = self._threads.submit(self._simulate, request)

    def result(self, request: _Request) -> dict[str, Any]:
        """
        What a world came to, and in `lines` what was said before that, by its type.

        Raises:
            EngineError: It came to no end that is a result.
            EngineLost: Its engine is gone, or was not done in time.
        """
        future = self._expected.pop(_key(request), None)
        if future is None:
            future = self._threads.submit(self._simulate, request)
        return future.result()

    def _simulate(self, request: _Request) -> dict[str, Any]:
        engine = self._taken()
        lines: dict[str, list[dict[str, Any]]] = {}
        try:
            measurement = engine.start(
                request, lambda line: lines.setdefault(line["type"], []).append(line)
            )
            return {**measurement.result(_LONGEST_S), "lines": lines}
        except EngineError:
            raise
        except BaseException:
            # It may still simulate, and has no other use.
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


def _key(request: _Request) -> str:
    return json.dumps(request, sort_keys=True)
