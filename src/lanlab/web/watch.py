"""
A thread that follows the store for all open pages: it reads new records once and passes them to
each page.

While no page is open, it waits and reads nothing. Another thread computes tables, with rests in
between that leave the processors to a run on this machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from typing import Any

from lanlab.errors import LabError, StoreError
from lanlab.frozen import dataclass
from lanlab.report.runs.stored import is_killed, run_row, unreadable_row
from lanlab.store import RunHead, open_store
from lanlab.store.database import Store
from lanlab.store.labels import label_facts
from lanlab.store.place import store_place
from lanlab.store.shape import reading_records
from lanlab.web.pace import RATIO, Pace, paced
from lanlab.web.run_state import RunState
from lanlab.web.tables import results_so_far

#: Polling interval for a file: half of the 200 ms within which a new trial must appear.
_FILE_POLL_S = 0.1
#: Polling interval for a database, whose traffic may share the measured link.
_DATABASE_POLL_S = 1.0
_AFTER_ERROR_S = 1.0
_LEASE_POLL_S = 1.0
_TABLES_POLL_S = 2.0
_CHUNK = 250
_PACED_CHUNK = 10
#: Limit of events that wait for a page. A page that does not read them is dropped and reconnects.
_MOST_WAITING = 400

Event = tuple[str, str]


@dataclasses.dataclass(eq=False)
class Page:
    #: The run that the page shows; `None` for the list.
    run_id: str | None
    revision: int = 0
    events: queue.Queue[Event | None] = field(default_factory=lambda: queue.Queue(_MOST_WAITING))
    is_lost: bool = False
    has_tables: int = -1

    def send(self, name: str, data: object) -> None:
        if self.is_lost:
            return
        try:
            self.events.put_nowait((name, json.dumps(data, ensure_ascii=False)))
        except queue.Full:
            self.is_lost = True
            with contextlib.suppress(queue.Empty):
                self.events.get_nowait()
            self.events.put_nowait(None)


@dataclasses.dataclass
class _Followed:
    state: RunState
    head: RunHead | None = None
    is_behind: bool = False
    is_executing: bool = False
    looked_at_s: float = -1e9
    tables: dict[str, Any] | None = None
    is_computing: bool = False
    next_tables_s: float = 0.0


@dataclass(frozen=True)
class _Listed:
    head: RunHead
    cells: dict[str, object]
    #: When the run may be read again; reading many trials takes long.
    next_s: float

    def is_due(self, head: RunHead) -> bool:
        """Whether the run may have changed. A run can stop executing without changing the store."""
        if (head.status, head.label) != (self.head.status, self.head.label):
            return True
        may_change = head != self.head or self.cells["status"] == "running"
        return may_change and time.monotonic() >= self.next_s


@contextlib.contextmanager
def as_errors(what: str) -> Iterator[None]:
    """Context for work on one of several runs, because no record may end the thread.

    Raises:
        LabError: In place of any other exception.
    """
    try:
        yield
    except LabError:
        raise
    except Exception as error:
        raise StoreError(
            f"cannot show {what}: {type(error).__name__} while reading it",
            hint="if lanlab wrote this store, please report this as a bug",
        ) from error


def _send_trouble(pages: Iterable[Page], error: LabError) -> None:
    for page in pages:
        page.send("trouble", {"message": error.message, "hint": error.hint or ""})


def _listed(head: RunHead, store: Store) -> _Listed:
    began_s = time.thread_time()
    try:
        with as_errors(f"run {head.run_id}"), reading_records(head.run_id):
            run = store.run(head.run_id)
            cells = run_row(run, store)
    except LabError as error:
        cells = unreadable_row(head.run_id, error.message)
    rest_s = max(_LEASE_POLL_S, (time.thread_time() - began_s) / RATIO)
    return _Listed(head, cells, time.monotonic() + rest_s)


class Watch:
    def __init__(self, where: str | None, render: Callable[..., str]) -> None:
        """
        Args:
            where: The store, as for `open_store`.
            render: Renders a part of a page from its name and values.
        """
        self._where, self._render = where, render
        is_file = not isinstance(store_place(where), str)
        self._poll_s = _FILE_POLL_S if is_file else _DATABASE_POLL_S
        self._pages: list[Page] = []
        self._followed: dict[str, _Followed] = {}
        self._rows: dict[str, _Listed] = {}
        self._unreadable: dict[str, float] = {}
        self._store: Store | None = None
        self._condition = threading.Condition()
        self._is_over = False
        self._jobs: queue.Queue[_Followed | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._follow, self._compute)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        with self._condition:
            self._is_over = True
            for page in self._pages:
                page.is_lost = True
                with contextlib.suppress(queue.Full):
                    page.events.put_nowait(None)
            self._condition.notify_all()
        self._jobs.put(None)
        for thread in self._threads:
            thread.join(timeout=5)

    @property
    def pages(self) -> tuple[Page, ...]:
        with self._condition:
            return tuple(self._pages)

    def open(self, page: Page) -> None:
        with self._condition:
            self._pages.append(page)
            self._condition.notify_all()

    def close(self, page: Page) -> None:
        with self._condition:
            if page in self._pages:
                self._pages.remove(page)

    # The thread that reads

    def _follow(self) -> None:
        pace = Pace()
        while True:
            with self._condition:
                # While no page is visible, the thread reads nothing.
                self._condition.wait_for(lambda: self._pages or self._is_over)
                if self._is_over:
                    break
                pages = [page for page in self._pages if not page.is_lost]
            wait_s = self._poll_s
            try:
                with as_errors("the store"):
                    self._look(pages)
            except LabError as error:
                self._forget()
                wait_s = max(wait_s, _AFTER_ERROR_S)
                _send_trouble(pages, error)
            behind = [one for one in self._followed.values() if one.is_behind]
            if behind:
                wait_s = 0.0
            if any(one.is_executing for one in behind):
                pace.rest()
            with self._condition:
                self._wait(len(self._pages), wait_s)
        self._forget()

    def _wait(self, known: int, wait_s: float) -> None:
        self._condition.wait_for(lambda: self._is_over or len(self._pages) > known, wait_s)

    def _forget(self) -> None:
        store, self._store = self._store, None
        self._followed.clear()
        self._rows.clear()
        if store is not None:
            with contextlib.suppress(LabError):
                store.close()

    def _look(self, pages: list[Page]) -> None:
        if self._store is None:
            self._store = open_store(self._where)
        heads = {head.run_id: head for head in self._store.heads()}
        for run_id in {page.run_id for page in pages if page.run_id is not None}:
            own = [page for page in pages if page.run_id == run_id]
            if run_id not in heads:
                self._followed.pop(run_id, None)
                for page in own:
                    hint = "the list of runs has those that are there"
                    page.send("trouble", {"message": f"run {run_id} was deleted", "hint": hint})
                continue
            if time.monotonic() < self._unreadable.get(run_id, 0.0):
                continue
            try:
                with as_errors(f"run {run_id}"), reading_records(run_id):
                    self._look_at_run(heads[run_id], own, self._store)
            except LabError as error:
                # Only this run has an error. If the store cannot be read, the next poll reports it.
                self._followed.pop(run_id, None)
                if all(head.run_id != run_id for head in self._store.heads()):
                    continue  # The run was deleted while it was read: the next poll reports that.
                self._unreadable[run_id] = time.monotonic() + _AFTER_ERROR_S
                _send_trouble(own, error)
        # Keep only runs in memory that a page shows.
        shown = {page.run_id for page in pages}
        for run_id in [run_id for run_id in self._followed if run_id not in shown]:
            del self._followed[run_id]
        lists = [page for page in pages if page.run_id is None]
        if lists:
            self._look_at_list(list(heads.values()), lists, self._store)

    def _look_at_run(self, head: RunHead, pages: list[Page], store: Store) -> None:
        followed = self._followed.get(head.run_id)
        if followed is None:
            followed = self._followed[head.run_id] = _Followed(RunState(store.run(head.run_id)))
        state, now_s = followed.state, time.monotonic()
        is_changed = head != followed.head
        before = followed.head or head
        if (head.status, head.label) != (before.status, before.label):
            state.run = store.run(head.run_id)
            followed.looked_at_s = -1e9
        if now_s - followed.looked_at_s >= _LEASE_POLL_S:
            was, followed.looked_at_s = followed.is_executing, now_s
            followed.is_executing = head.status == "running" and not is_killed(state.run, store)
            is_changed |= was != followed.is_executing
        self._send_rows(state, pages)
        # New data is small. A long run that is read for the first time while it executes is read in
        # parts, so that other pages get their turn.
        most = _PACED_CHUNK if followed.is_executing else _CHUNK
        trials = store.trials(head.run_id, state.next_number, most)
        if trials:
            state.take(trials)
            self._send_rows(state, pages)
            is_changed = True
        followed.is_behind = bool(trials) and state.next_number < head.next_number
        followed.head = head
        shown = self._head(followed)
        for page in pages:
            if is_changed or page.has_tables < 0:
                page.send("head", shown)
                page.has_tables = max(page.has_tables, 0)
        self._ask_for_tables(followed, pages)

    def _send_rows(self, state: RunState, pages: list[Page]) -> None:
        for page in pages:
            rows = state.changed_since(page.revision)
            for begin in range(0, len(rows), 2 * _CHUNK):
                part = rows[begin : begin + 2 * _CHUNK]
                page.send(
                    "rows", {"rows": [row.to_json() for row in part], "revision": state.revision}
                )
            page.revision = state.revision

    def _head(self, followed: _Followed) -> dict[str, object]:
        state, progress = followed.state, followed.state.progress()
        status = state.run.status
        if status == "running" and not followed.is_executing:
            status = "interrupted"
        html = self._render(
            "progress",
            run=state.run,
            status=status,
            progress=progress,
            labels=label_facts(state.run),
        )
        total = None if progress.left is None else progress.done + progress.left
        return {"html": html, "status": status, "done": progress.done, "total": total}

    def _ask_for_tables(self, followed: _Followed, pages: list[Page]) -> None:
        count, now_s = len(followed.state.trials), time.monotonic()
        tables = followed.tables
        key = (count, followed.state.run.status)
        is_due = tables is None or tables["key"] != key
        may = now_s >= followed.next_tables_s or not followed.is_executing
        if is_due and may and not followed.is_computing and not followed.is_behind:
            followed.is_computing = True
            self._jobs.put(followed)
        if tables is not None:
            for page in pages:
                if page.has_tables != tables["number"]:
                    page.has_tables = tables["number"]
                    page.send("tables", {"html": tables["html"], "trials": tables["key"][0]})

    def _look_at_list(self, heads: list[RunHead], pages: list[Page], store: Store) -> None:
        rows = []
        known, self._rows = self._rows, {}
        for head in heads:
            row = known.get(head.run_id)
            if row is None or row.is_due(head):
                row = _listed(head, store)
            self._rows[head.run_id] = row
            rows.append(row.cells)
        html = self._render("runs", rows=rows[::-1])
        for page in pages:
            if page.revision != hash(html):
                page.revision = hash(html)
                page.send("runs", {"html": html})

    # The thread that computes

    def _compute(self) -> None:
        # Import now: it takes a second, and would take many seconds during a run.
        importlib.import_module("scipy.stats")
        number = 0
        while (followed := self._jobs.get()) is not None:
            state = followed.state
            trials, run = list(state.trials), replace(state.run)
            number += 1
            try:
                with as_errors(f"run {run.id}"), paced(followed.is_executing):
                    found = results_so_far(run, trials, state.study)
                    html = self._render("results", found=found)
            except LabError as error:
                html = self._render("trouble", error=error)
            followed.tables = {"html": html, "key": (len(trials), run.status), "number": number}
            followed.next_tables_s = time.monotonic() + _TABLES_POLL_S
            followed.is_computing = False
