"""
A command held at a call: it reports by a file that it got there, and waits for another to go on.

So a test disturbs a trial, or what is between two of them, however busy the machine is.
"""

from collections.abc import Callable
from pathlib import Path

from waiting import PATIENCE_S, until

_POLL_S = 0.01
_CODE = """
import importlib, itertools, pathlib, time

def hold(owner, name, folder=pathlib.Path({folder!r}), numbers=itertools.count()):
    call = getattr(owner, name)
    def held(*args, **kwargs):
        number, until_s = next(numbers), time.monotonic() + {patience_s}
        (folder / f"reached-{{number}}").touch()
        while not any((folder / name).exists() for name in ("go", f"go-{{number}}")):
            assert time.monotonic() < until_s, "held for too long"
            time.sleep({poll_s})
        return call(*args, **kwargs)
    setattr(owner, name, held)

owner = importlib.import_module({module!r})
for part in {path!r}:
    owner = getattr(owner, part)
hold(owner, {name!r})
"""
#: Engines measure, and lanlab is about to take their results.
MEASURING = ("lanlab.performers.conductor", "_TimedRun._take_results")
#: A trial is about to begin.
BEFORE_TRIAL = ("lanlab.run.runner", "run_trial")


class Held:
    def __init__(self, folder: Path, call: tuple[str, str] = MEASURING) -> None:
        folder.mkdir()
        self._folder, self._call = folder, call
        #: Calls that were let go on, one by one.
        self.ended = 0

    @property
    def code(self) -> str:
        module, name = self._call
        *path, name = name.split(".")
        return _CODE.format(
            folder=str(self._folder),
            module=module,
            path=path,
            name=name,
            patience_s=PATIENCE_S,
            poll_s=_POLL_S,
        )

    def reach(self, check: Callable[[], None] = lambda: None, after: int = 0) -> None:
        """Wait until the next call, after so many at least; `check` raises when it cannot come any
        more."""

        def is_reached() -> bool:
            check()
            return (self._folder / f"reached-{self.ended}").exists()

        until(is_reached, "a call that is held", most_between_s=_POLL_S)
        while self.ended < after:
            self.let_end()
            until(is_reached, "a call that is held", most_between_s=_POLL_S)

    def let_end(self) -> None:
        (self._folder / f"go-{self.ended}").touch()
        self.ended += 1

    def let_go(self) -> None:
        (self._folder / "go").touch()
