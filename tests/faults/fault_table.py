"""All faults, and playing them side by side."""

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from fault import Fault, Outcome, Place, Plays, places
from fault_links import LINKS
from fault_others import OTHERS
from fault_scene import Scene
from fault_signals import SIGNALS
from fault_stores import STORES
from fault_studies import STUDIES

from lanlab.testbeds.needs import needs

_PLAYS: Plays = SIGNALS | LINKS | STORES | OTHERS
_ROWS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))
#: In the order of their table.
FAULTS = tuple(Fault(name, play=_PLAYS.pop(name), **row) for name, row in _ROWS.items())
assert not _PLAYS, f"not in faults.toml: {list(_PLAYS)}"

#: Runs side by side; each waits most of the time, for trials and time-outs.
_AT_ONCE = 6


def lacking(fault: Fault) -> str | None:
    """What this machine lacks for a fault, in words; `None` if nothing."""
    missing = [need.name for need in needs(fault.testbed) if need.required and not need.found]
    if fault.as_user and os.geteuid() != 0:
        return "the case without `-as-user` is this one"
    if "root" in fault.needs and os.geteuid() != 0:
        missing.append("root, to make a small disk")
    if "cc" in fault.needs and shutil.which("cc") is None:
        missing.append("cc, a C compiler")
    return f"needs {', '.join(missing)}" if missing else None


def _play(fault: Fault, folder: Path) -> Outcome:
    scene = Scene(folder / fault.name, fault.study, fault.testbed, fault.link, fault.as_user)
    try:
        return fault.play(scene)
    finally:
        scene.close()


def _undisturbed(study: str, folder: Path) -> list[Place]:
    scene = Scene(folder / f"undisturbed-{study}", study)
    try:
        scene.run().end_with(0)
        return places(scene.trials())
    finally:
        scene.close()


class Played:
    """Faults under way, in the order of their table; each result when it is there."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="lanlab-faults-"))
        self._pool = ThreadPoolExecutor(_AT_ONCE)
        chosen = [fault for fault in faults if lacking(fault) is None]
        # Runs of the same seed that nothing disturbs.
        self._undisturbed = {
            study: self._pool.submit(_undisturbed, study, self._folder)
            for study in STUDIES
            if any(fault.study == study for fault in chosen)
        }
        self._outcomes: dict[str, Future[Outcome]] = {
            fault.name: self._pool.submit(_play, fault, self._folder) for fault in chosen
        }

    def outcome(self, fault: Fault) -> Outcome:
        return self._outcomes[fault.name].result()

    def undisturbed(self, fault: Fault) -> list[Place]:
        """The places of the run of the same study and seed that nothing disturbed."""
        return self._undisturbed[fault.study].result()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)
