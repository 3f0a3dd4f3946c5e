"""The command line as its users meet it: a process of its own, or quickly within this one."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from held import Held
from programs import ran

_MAIN = "from lanlab.cli import main; main()"
COMMAND = [sys.executable, "-c", _MAIN]

#: Of a trial that ends by its count: no pause of a busy machine leaves it without a result.
COUNTED = ("--testbed", "loopback", "--warmup", "0")
STREAM = ("stream", *COUNTED, "--messages", "50", "--rate", "10M")
ECHO = ("echo", *COUNTED, "--requests", "200")

#: Two experiments, three conditions, six trials that end by their count.
SMALL_STUDY = """
schema = 1
id = "small"
title = "Small messages"

[[experiment]]
id = "sizes"
title = "Goodput of small messages"
workload = "stream"
metrics = ["goodput_bps"]
parameters = { rate_bps = "1M" }
factors = { message_size_bytes = [50, 100] }

[[experiment]]
id = "round-trips"
title = "Round trips"
workload = "echo"
metrics = ["rtt_mean_ns"]
parameters = { message_size_bytes = 50 }

[[figure]]
figure = "bars"
title = "Goodput"
experiments = ["sizes"]

[scale.quick]
trials = { min = 2, max = 2, repeat_polluted = 0 }
parameters = { warmup_s = 0 }
experiment.sizes.parameters = { messages = 50 }
experiment.round-trips.parameters = { requests = 20 }

[scale.slow]
trials = { min = 3, max = 3, repeat_polluted = 0 }
parameters = { warmup_s = 0 }
experiment.sizes.parameters = { messages = 200 }
experiment.round-trips.parameters = { requests = 200 }
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Lanlab = Callable[..., Said]


class Running:
    def __init__(
        self,
        folder: Path,
        *args: str,
        ignored: signal.Signals | None = None,
        trials: Held | None = None,
    ) -> None:
        """`trials`: each is held before its results are taken, and goes on when it may."""
        self.trials = trials
        self._mark = f"LANLAB_TEST_MARK={uuid.uuid4().hex}"
        name, _, value = self._mark.partition("=")

        def as_from_a_shell() -> None:
            # Whoever runs the tests may have been started in the background, or by nohup.
            for number in (signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            if ignored is not None:
                signal.signal(ignored, signal.SIG_IGN)

        self.process = subprocess.Popen(
            [sys.executable, "-c", (trials.code if trials else "") + _MAIN, *args],
            cwd=folder,
            env={**environment(), name: value},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=as_from_a_shell,
        )

    def reach_trial(self, after: int) -> None:
        """Wait until so many trials are stored and the next one measures."""
        assert self.trials is not None

        def is_running() -> None:
            assert self.process.poll() is None, self.end()

        self.trials.reach(is_running, after)

    def end(self) -> Said:
        if self.trials is not None:
            self.trials.let_go()
        out, err = self.process.communicate(timeout=120)
        return Said(self.process.returncode, out, err)

    def left(self) -> list[str]:
        """Processes that came of it and are there still: id and command of each."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append(f"{process.name} {(process / 'cmdline').read_bytes()!r}")
            except OSError:
                continue
        return found


@contextmanager
def running(folder: Path, *args: str, **options: Any) -> Iterator[Running]:
    command = Running(folder, *args, **options)
    try:
        yield command
    finally:
        if command.process.poll() is None:
            command.process.kill()
        command.process.communicate()


def environment(**changes: str) -> Mapping[str, str]:
    """Of a command that finds this source tree, whatever the tests were started with."""
    others = ("LANLAB_STORE", "PYTHONUNBUFFERED", "LANLAB_COLUMNS")
    kept = {key: value for key, value in os.environ.items() if key not in others}
    return {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **changes}


def lanlab_process(folder: Path, *args: str, **changes: str) -> Said:
    """Run a command to its end in a process of its own; `changes` are of its environment."""
    done = ran([*COMMAND, *args], cwd=folder, env=environment(**changes))
    return Said(done.returncode, done.stdout, done.stderr)


def on_full_disk(
    folder: Path, *args: str, is_all_full: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command with its standard output on a full disk, and maybe standard error as well."""
    with Path("/dev/full").open("w") as full:
        return subprocess.run(
            [*COMMAND, *args],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=full if is_all_full else subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
