"""Where a fault is played: a folder, a study, a store, and the command line as users start it."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fault_counting import Left, Process, Seen, left_of, marked, sockets_of
from fault_studies import study_text
from held import Held
from waiting import PATIENCE_S

from lanlab.store import TrialRecord, open_store
from lanlab.testbeds.link import parse_link

#: As from a shell, even where these tests were started with signals ignored.
_SIGNALS = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); " + "".join(
    f"s.signal(s.{name}, s.SIG_DFL); " for name in ("SIGTERM", "SIGHUP")
)
_MAIN = "from lanlab.cli import main; main()"
#: What lanlab asks is answered as to a user who is not root.
_AS_USER = "import os; os.geteuid = lambda: 1000; "
_POLL_S = 0.01


@dataclass(frozen=True)
class Said:
    code: int
    #: Of a whole run, so that an error message has no need of it.
    out: str = field(repr=False)
    err: str


class Command:
    """A command under way, each of whose trials waits for leave to go on."""

    def __init__(self, process: subprocess.Popen[str], trials: Held) -> None:
        self.process = process
        self.trials = trials

    def reach_trial(self) -> None:
        """Wait until the next trial is under way; it goes on when it may."""

        def is_running() -> None:
            assert self.process.poll() is None, self.end()

        self.trials.reach(is_running)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, patience_s: float = PATIENCE_S) -> Said:
        """Let it go on, and wait for its end; if it does not end it is killed: a failure."""
        self.trials.let_go()
        try:
            out, err = self.process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"has not ended after {patience_s:g} s: {err}") from None
        return Said(self.process.returncode, out or "", err or "")

    def end_with(self, code: int) -> Said:
        said = self.end()
        assert said.code == code, said
        return said


@dataclass
class Scene:
    folder: Path
    study: str = "mixed"
    testbed: str = "loopback"
    link: str = "10M"
    as_user: bool = False
    #: Of the environment of every command.
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.mark = f"LANLAB_FAULT_MARK={uuid.uuid4().hex}"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.study_file = self.folder / "study.toml"
        self.study_file.write_text(study_text(self.study))
        self.store = self.folder / "kept" / "store.sqlite"
        self.seen = Seen(self.mark)
        #: At the trial before the fault: to find them then would take a busy machine seconds.
        self._known: list[Process] = []
        #: Trials in the store when the fault was injected into the one after them.
        self.before = 0

    # Commands

    def start(self, *args: str, **streams: Any) -> Command:
        name, _, value = self.mark.partition("=")
        others = ("LANLAB_ENGINE", "LD_PRELOAD", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
        kept = {key: value for key, value in os.environ.items() if key not in others}
        trials = Held(self.folder / f"trials-{uuid.uuid4().hex}")
        return Command(
            subprocess.Popen(
                [sys.executable, "-c", self._program(trials), *args],
                cwd=self.folder,
                env={
                    **kept,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    "TMPDIR": str(self.temporary),
                    "LANLAB_STORE": str(self.store),
                    name: value,
                    **self.environment,
                },
                text=True,
                **{
                    "stdin": subprocess.DEVNULL,
                    "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE,
                    **streams,
                },
            ),
            trials,
        )

    def _program(self, trials: Held) -> str:
        return _SIGNALS + (_AS_USER if self.as_user else "") + trials.code + _MAIN

    def run(self, *options: str, **streams: Any) -> Command:
        """Start the study's run, with a seed of its own. As JSON the answer takes less time."""
        link = [] if self.testbed == "loopback" else ["--link", self.link]
        where = ["--testbed", self.testbed, *link, "--seed", "7"]
        return self.start("run", str(self.study_file), *where, *(options or ("--json",)), **streams)

    def said(self, *args: str) -> Said:
        return self.start(*args).end()

    def resume(self) -> Said:
        self.environment.clear()
        return self.said("run", "--resume", "last", "--json")

    # What there is

    def trials(self, run: str = "last") -> list[TrialRecord]:
        if not self.store.exists():
            return []
        with open_store(str(self.store)) as store:
            return store.trials(run) if store.runs() else []

    def status(self) -> str:
        with open_store(str(self.store)) as store:
            return store.run("last").status

    def _engines_among(self, processes: list[Process]) -> list[Process]:
        """In the order of their hosts, by their age."""
        engines = [each for each in processes if each.name == "lanlab-engine"]
        # One engine more makes the hosts of a virtual testbed ready, or carries their frames.
        return engines[1 if self.testbed == "virtual" else 0 :]

    @property
    def has_medium(self) -> bool:
        return self.testbed == "virtual" and parse_link(self.link).shape == "medium"

    @property
    def engines(self) -> list[Process]:
        return self._engines_among(marked(self.mark))

    @property
    def known_engines(self) -> list[Process]:
        return self._engines_among(self._known)

    @property
    def medium(self) -> Process:
        """The engine that carries the frames: it is started before those of the hosts."""
        assert self.has_medium
        return next(each for each in self._known if each.name == "lanlab-engine")

    @property
    def holders(self) -> list[Process]:
        """Of the networks of `host0`, `host1` and, if there is one, of the switch or medium."""
        return [each for each in self._known if each.name == "cat"]

    # Moments

    def run_to_mid_trial(self, after: int = 2, measuring: bool = False) -> Command:
        """
        Run the study until `after` trials are stored and the next one runs. The command is held: it
        takes the engines' results once it is released.

        Args:
            measuring: The engines have not ended what they measure. Study `slow` has time for it.
        """
        command = self.run()
        while True:
            command.reach_trial()
            self.before = command.trials.ended
            if not measuring or self.before < after:
                self._known = self.seen.look()
            if self.before >= after:
                if not measuring:
                    return command
                time.sleep(0.1)
                # Engines have sockets while they measure, and else none.
                sockets = [sockets_of(engine.pid) for engine in self.known_engines]
                self.seen.sockets.update(*sockets)
                if sockets and all(sockets):
                    return command
            # On a busy machine they may have ended meanwhile: then the next one.
            command.trials.let_end()

    # Counting

    def lost(self) -> int:
        return max(0, self.before + 1 - len(self.trials()))

    def left(self, kept: set[str] | None = None) -> Left:
        """What is left of all commands, once the kernel has had the time to end them."""
        deadline = time.monotonic() + PATIENCE_S
        committed = self._committed()
        while (
            left := left_of(self.seen, self.temporary, self.store, kept or set(), committed)
        ).count:
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_S)
        return left

    def _committed(self) -> set[tuple[str, int]]:
        if not self.store.exists():
            return set()
        with open_store(str(self.store)) as store:
            return {(run.id, t.number) for run in store.runs() for t in store.trials(run.id)}

    def close(self) -> None:
        for process in marked(self.mark):
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)
