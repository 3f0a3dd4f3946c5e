"""
A soak's run: trials one after another through the same engines into one store, each sampled.

It is `lanlab run` in all but what watches it: plan, runner, engines, testbed and store are those
that users have. The run ends as Ctrl-C ends it, once its time is over.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

import soak_processes as processes
from soak_conditions import is_refused, soak_study
from soak_faults import Faults, Kind, allowed_faults, fault_of
from soak_processes import Holdings, OwnHeap

from lanlab.errors import RunInterrupted
from lanlab.plan.plan import PlannedTrial
from lanlab.plan.running import Estimate
from lanlab.run import RunRequest, new_run
from lanlab.store import RunRecord, Series, TrialRecord, open_store
from lanlab.store.database import Store
from lanlab.testbeds.loopback import has_ipv6
from lanlab.workloads import Progress

#: glibc's own first values, held fixed: else it learns to keep what engines free, and a leak could
#: hide in that for hours. Other C libraries do not look at these.
_GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}

#: Twice what SQLite keeps of a file in memory (PRAGMA cache_size: 2000 KiB), in records that are
#: about as long as those of trials.
_FILLED_BYTES = 4 * 2**20
_FILLED_RECORD_BYTES = 16 * 2**10

#: Threads and sockets of a trial that has ended may take so long to be gone.
_SETTLE_S = 0.5
_SETTLE_STEP_S = 0.01


@dataclass(frozen=True)
class Sample:
    """What was there after one trial was committed."""

    number: int
    #: Since the soak began.
    elapsed_s: float
    workload: str
    #: `done`, or the code of the error.
    outcome: str
    #: What was made to go wrong: a fault's kind, or `refused values`.
    on_purpose: str | None
    commit_ns: int
    #: Of a plain write of a record's length to the same disk, made durable: what commits stand on.
    write_ns: int
    lanlab: Holdings
    own_heap: OwnHeap
    #: Of both ends, in the order in which they were started; one that is lost is missing.
    engines: tuple[Holdings, ...]
    descendants: int
    network_namespaces: int | None
    #: The file, its log and its locks.
    store_bytes: int
    log_bytes: int
    store_files: int
    temporary_files: int


@dataclass(frozen=True)
class Soaked:
    """A soak that has ended."""

    run_id: str
    store: str
    samples: list[Sample]


class _TimedStore:
    """A store that says how long each commit takes; for the rest, the store it is given."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.commit_ns = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def commit_trial(self, trial: TrialRecord, series: Sequence[Series] = ()) -> None:
        """See `lanlab.store.Store.commit_trial`."""
        began = time.monotonic_ns()
        self._store.commit_trial(trial, series)
        self.commit_ns = time.monotonic_ns() - began


class Places:
    """Which engine is which: a new one takes the place of the one that is missing."""

    def __init__(self) -> None:
        self._pids: list[int | None] = [None, None]

    def order(self, found: list[int]) -> list[int]:
        """The engines that were found, in order of place.

        Args:
            found: Process ids, oldest first.
        """
        self._pids = [pid if pid in found else None for pid in self._pids]
        for pid in found:
            if pid not in self._pids and None in self._pids:
                self._pids[self._pids.index(None)] = pid
        return [pid for pid in self._pids if pid is not None]


class _Watcher:
    """Samples after each trial, makes things go wrong, and ends the run in time."""

    def __init__(
        self,
        *,
        seed: int,
        time_s: float,
        most_trials: int | None,
        faults: Faults,
        allowed: tuple[Kind, ...],
        store: _TimedStore,
        store_path: Path,
        temporary: Path,
        samples: IO[str],
        also: Callable[[int], None],
    ) -> None:
        self._seed = seed
        self._time_s = time_s
        self._most_trials = most_trials
        self._faults = faults
        self._allowed = allowed
        self._store = store
        self._store_path = store_path
        self._temporary = temporary
        self._samples = samples
        self._also = also
        self._began_s = time.monotonic()
        self._on_purpose: str | None = None
        self._places = Places()
        #: Fewest threads seen of each engine.
        self._least_threads: dict[int, int] = {}
        self.run_id: str | None = None
        #: Whether the soak has come to its end; else it was the user who ended the run.
        self.is_over = False

    def run_started(self, run: RunRecord, estimate: Estimate) -> None:
        """See `lanlab.run.Watcher`."""
        self.run_id = run.id

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None:
        """See `lanlab.run.Watcher`."""
        self._on_purpose = "refused values" if is_refused(dict(trial.parameters)) else None
        fault = fault_of(self._seed, trial.number, self._allowed)
        if fault is not None and self._on_purpose is None:
            self._on_purpose = fault.kind
            self._faults.begin(fault)

    def trial_progress(self, trial: PlannedTrial, progress: Progress) -> None:
        """See `lanlab.run.Watcher`."""

    def trial_ended(self, trial: TrialRecord) -> None:
        """See `lanlab.run.Watcher`."""
        self._faults.end()
        self._also(trial.number)
        # Into a file: in memory they would be what grows.
        self._samples.write(json.dumps(dataclasses.asdict(self._sample(trial))) + "\n")
        in_time = time.monotonic() - self._began_s < self._time_s
        if not in_time or trial.number + 1 == self._most_trials:
            self.is_over = True
            raise KeyboardInterrupt

    def _sample(self, trial: TrialRecord) -> Sample:
        own_heap = processes.own_heap()
        engines = [self._settled(pid) for pid in self._places.order(processes.engines())]
        beside = list(self._store_path.parent.glob(f"{self._store_path.name}*"))
        return Sample(
            number=trial.number,
            elapsed_s=time.monotonic() - self._began_s,
            workload=trial.workload,
            outcome="done" if trial.error is None else str(trial.error["code"]),
            on_purpose=self._on_purpose,
            commit_ns=self._store.commit_ns,
            write_ns=self._plain_write_ns(),
            lanlab=processes.holdings(os.getpid()),
            own_heap=own_heap,
            engines=tuple(engines),
            descendants=len(processes.descendants()),
            network_namespaces=processes.network_namespaces(),
            store_bytes=_size_bytes(self._store_path),
            log_bytes=_size_bytes(Path(f"{self._store_path}-wal")),
            store_files=len(beside),
            temporary_files=sum(1 for _ in self._temporary.rglob("*")),
        )

    def _plain_write_ns(self) -> int:
        path = self._store_path.with_name("soak-plain-write")
        began = time.monotonic_ns()
        with path.open("wb") as file:
            file.write(bytes(_FILLED_RECORD_BYTES))
            file.flush()
            os.fsync(file.fileno())
        elapsed_ns = time.monotonic_ns() - began
        path.unlink()
        return elapsed_ns

    def _settled(self, pid: int) -> Holdings:
        """What an engine holds once the threads of the trial have ended, if they do."""
        until_s = time.monotonic() + _SETTLE_S
        now = processes.holdings(pid)
        while (now.threads or 0) > self._least_threads.get(pid, 1) and time.monotonic() < until_s:
            time.sleep(_SETTLE_STEP_S)
            now = processes.holdings(pid)
        if now.threads is not None:
            self._least_threads[pid] = now.threads
        return now


def _fill(store: Store) -> None:
    """Give a new store an earlier run, so that SQLite's cache of pages is full from the start."""
    now = datetime.now(UTC).isoformat()
    run = RunRecord(
        id=f"{datetime.now(UTC):%Y%m%d-%H%M%S}-before-soak",
        study_id="before-soak",
        study={},
        scale="soak",
        seed=0,
        testbed={"name": "none", "link": "none"},
        versions={},
        status="running",
        started_at=now,
    )
    store.start_run(run).release()
    for number in range(_FILLED_BYTES // _FILLED_RECORD_BYTES):
        store.commit_trial(
            TrialRecord(
                run_id=run.id,
                number=number,
                experiment="filling",
                workload="stream",
                factors={},
                parameters={},
                block=0,
                purpose="trial",
                status="failed",
                started_at=now,
                elapsed_s=0.0,
                metrics={},
                raw={"filling": secrets.token_hex(_FILLED_RECORD_BYTES // 2)},
                error={
                    "code": "soak.filling",
                    "message": "fills the store",
                    "hint": None,
                },
            )
        )
    store.finish_run(run.id, "done")


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _nothing(_: int) -> None:
    pass


def soak(
    *,
    time_s: float,
    most_trials: int | None = None,
    testbed: str,
    link: str,
    seed: int,
    store: str,
    also: Callable[[int], None] = _nothing,
    wrap: Callable[[Store], Store] = lambda store: store,
) -> Soaked:
    """
    Run mixed conditions for a time.

    Args:
        time_s: The trial that runs when it is over is the last.
        most_trials: After so many it ends before its time.
        testbed, link: As `lanlab run` takes them.
        seed: Of conditions, their order, and what goes wrong when.
        store: Path of the store.
        also: Is called after every trial with its number; for tests, which let something grow.
        wrap: What is to be between lanlab and the store; for tests.

    Raises:
        LabError: As `lanlab.run.new_run`.
    """
    ip_versions = (4, 6) if has_ipv6() else (4,)
    path = Path(store)
    path.parent.mkdir(parents=True, exist_ok=True)
    study = soak_study(seed, ip_versions=ip_versions, link=link)
    with (
        tempfile.TemporaryFile("w+") as samples,
        tempfile.TemporaryDirectory(prefix="lanlab-soak-") as temporary,
        # Whatever lanlab or an engine leaves among temporary files, it leaves there.
        _environment(_GIVE_BACK | {"TMPDIR": temporary}),
        open_store(store) as opened,
    ):
        if not path.exists():
            _fill(opened)
        timed = _TimedStore(wrap(opened))
        watcher = _Watcher(
            seed=seed,
            time_s=time_s,
            most_trials=most_trials,
            faults=Faults(link),
            allowed=allowed_faults(testbed, link),
            store=timed,
            store_path=path,
            temporary=Path(temporary),
            samples=samples,
            also=also,
        )
        try:
            # It is a store by all that it passes on.
            new_run(RunRequest(study, "soak", testbed, link, seed), cast(Store, timed), watcher)
        except RunInterrupted:
            if not watcher.is_over:
                raise
        samples.seek(0)
        assert watcher.run_id is not None
        return Soaked(watcher.run_id, store, [read_sample(json.loads(line)) for line in samples])


def read_sample(data: dict[str, Any]) -> Sample:
    """A sample from what `dataclasses.asdict` makes of it."""
    return Sample(
        **data
        | {
            "lanlab": Holdings(**data["lanlab"]),
            "own_heap": OwnHeap(**data["own_heap"]),
            "engines": tuple(Holdings(**each) for each in data["engines"]),
        }
    )


@contextlib.contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Other variables of the environment for a while, and so another place of temporary files."""
    before = {name: os.environ.get(name) for name in changes}
    temporary = tempfile.tempdir
    os.environ.update(changes)
    tempfile.tempdir = None
    try:
        yield
    finally:
        tempfile.tempdir = temporary
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
