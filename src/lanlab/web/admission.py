"""
Connections that wait for a handler thread. One thread reads their requests in bounded memory and
time.

A request must be complete within a fixed time, and its header has a length limit. If all places are
taken, one connection is dropped by the rule of the engine's servers (`room` in `crates/units`): of
the address with the most connections, the one that has waited longest. Two things differ. Only the
token shows that a client is served. A client with the token is dropped last, not never: it waits
for no answer, and connects again for its next request.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import re
import resource
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import field

#: Limit of connections without a complete request, if the system allows that many. A client keeps
#: its place while it sends, even if many others arrive.
MOST_WAITING = 2048
MOST_HEAD_BYTES = 16_384
#: Time limits in seconds: for a complete request, for the next request of a client that has the
#: token, and for a client that sends too much.
REQUEST_WITHIN_S = 10.0
_IDLE_S = 20.0
_DRAIN_S = 2.0
#: Interval at which all time limits are checked.
_LOOK_S = 0.1
_MOST_DRAINED_BYTES = 2**18
_MOST_ACCEPTED_AT_ONCE = 256
#: Starts with a byte that is quick to search for, because strangers may send long headers.
_END_OF_HEAD = re.compile(rb"\n\r?\n")


@dataclasses.dataclass(eq=False)
class Waiting:
    connection: socket.socket
    address: str
    received: bytearray = field(default_factory=bytearray)
    is_known: bool = False
    drained_bytes: int | None = None
    deadline_s: float = 0.0

    @property
    def group(self) -> tuple[bool, str]:
        return self.is_known, self.address

    @property
    def is_full(self) -> bool:
        return len(self.received) >= MOST_HEAD_BYTES

    def next_head(self) -> bytes | None:
        found = _END_OF_HEAD.search(self.received, 0, MOST_HEAD_BYTES)
        if found is None:
            return None
        head = bytes(self.received[: found.end()])
        del self.received[: found.end()]
        return head


class Admission:
    """Accepts connections and reads requests on the thread that calls `run`. Complete requests are
    passed on.
    """

    def __init__(
        self, listening: socket.socket, answer: Callable[[Waiting, bytes | None], None]
    ) -> None:
        """
        Args:
            answer: Called with a connection and the header of its request (`None` if it is too
                long). It must return at once, and closes the connection or gives it back.
        """
        self._listening, self._answer = listening, answer
        listening.setblocking(False)
        self._places: dict[Waiting, None] = {}
        #: Connections by `Waiting.group`, oldest first.
        self._held: dict[tuple[bool, str], dict[Waiting, None]] = {}
        self.most_waiting = _places_allowed()
        self._returned: collections.deque[Waiting] = collections.deque()
        self._woken, self._waking = socket.socketpair()
        self._woken.setblocking(False)
        self._waking.setblocking(False)
        self._is_ending = False
        self._look_at_s = 0.0
        self._selector = selectors.DefaultSelector()
        for one in (listening, self._woken):
            self._selector.register(one, selectors.EVENT_READ)

    def is_crowded(self) -> bool:
        return len(self._places) > self.most_waiting // 2

    def give_back(self, waiting: Waiting) -> None:
        self._returned.append(waiting)
        self._wake()

    def stop(self) -> None:
        """Make `run` return."""
        self._is_ending = True
        self._wake()

    def _wake(self) -> None:
        # A full pipe wakes the thread anyway; a closed one belongs to a thread that has ended.
        with contextlib.suppress(OSError):
            self._waking.send(b".")

    def run(self, poll_s: float) -> None:
        """Accept and read until `stop`, then close waiting connections."""
        try:
            while not self._is_ending:
                for key, _ in self._selector.select(poll_s):
                    if key.data is not None:
                        self._read(key.data)
                    elif key.fileobj is self._listening:
                        self._accept()
                    else:
                        self._woken.recv(4096)
                while self._returned:
                    returned = self._returned.popleft()
                    returned.connection.setblocking(False)
                    self._add(returned)
                self._drop_late()
        finally:
            for one in (*self._places, *self._returned):
                one.connection.close()
            self._selector.close()
            for end in (self._woken, self._waking):
                end.close()

    def _accept(self) -> None:
        for _ in range(_MOST_ACCEPTED_AT_ONCE):
            try:
                connection, address = self._listening.accept()
            except OSError:
                return
            connection.setblocking(False)
            waiting = Waiting(connection, str(address[0]))
            # Most clients have sent their request by now, and so need no place.
            if self._receive(waiting):
                self._add(waiting)
            else:
                connection.close()

    def _add(self, waiting: Waiting) -> None:
        head = waiting.next_head()
        if head is not None or waiting.is_full:
            self._answer(waiting, head)
            return
        if len(self._places) >= self.most_waiting:
            self._drop(self._least_useful())
        patience_s = _IDLE_S if waiting.is_known else REQUEST_WITHIN_S
        if waiting.drained_bytes is not None:
            patience_s = _DRAIN_S
        waiting.deadline_s = time.monotonic() + patience_s
        self._places[waiting] = None
        self._held.setdefault(waiting.group, {})[waiting] = None
        self._selector.register(waiting.connection, selectors.EVENT_READ, waiting)

    def _least_useful(self) -> Waiting:
        def rank(group: tuple[bool, str]) -> tuple[bool, int, float]:
            is_known, address = group
            places = sum(len(self._held.get((known, address), ())) for known in (False, True))
            return not is_known, places, -next(iter(self._held[group])).deadline_s

        return next(iter(self._held[max(self._held, key=rank)]))

    def _leave(self, waiting: Waiting) -> None:
        self._selector.unregister(waiting.connection)
        del self._places[waiting]
        held = self._held[waiting.group]
        del held[waiting]
        if not held:
            del self._held[waiting.group]

    def _drop(self, waiting: Waiting) -> None:
        self._leave(waiting)
        waiting.connection.close()

    def _drop_late(self) -> None:
        now_s = time.monotonic()
        if now_s < self._look_at_s:
            return
        self._look_at_s = now_s + _LOOK_S
        for one in [one for one in self._places if one.deadline_s <= now_s]:
            self._drop(one)

    def _read(self, waiting: Waiting) -> None:
        if waiting not in self._places:
            # The connection was dropped in this round.
            return
        if not self._receive(waiting):
            self._drop(waiting)
            return
        head = waiting.next_head()
        if head is not None or waiting.is_full:
            self._leave(waiting)
            self._answer(waiting, head)

    @staticmethod
    def _receive(waiting: Waiting) -> bool:
        try:
            piece = waiting.connection.recv(MOST_HEAD_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if waiting.drained_bytes is None:
            waiting.received += piece
        else:
            waiting.drained_bytes += len(piece)
        return bool(piece) and (waiting.drained_bytes or 0) <= _MOST_DRAINED_BYTES


def _places_allowed() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_WAITING
    if resource.RLIM_INFINITY != soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST_WAITING if soft == resource.RLIM_INFINITY else min(MOST_WAITING, soft // 2)
