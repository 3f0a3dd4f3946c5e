"""What a fault is, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fault_counting import Left
from fault_scene import Scene

from lanlab.store import TrialRecord

#: Condition and place of a trial.
Place = tuple[str, tuple[tuple[str, Any], ...], int, str]


@dataclass(frozen=True)
class Outcome:
    #: Trials that were under way at the fault and left no record.
    lost: int
    #: All trials of the run in the end.
    trials: list[TrialRecord]
    #: Of the run in the end.
    status: str
    #: Whether it had to be gone on with by `--resume`.
    resumed: bool
    left: Left

    @property
    def failed(self) -> list[TrialRecord]:
        return [trial for trial in self.trials if trial.status == "failed"]

    @property
    def codes(self) -> set[str]:
        return {str(trial.error["code"]) for trial in self.failed if trial.error}


#: By name: does a fault, sees that what should happen happens, and gives what came of it.
Plays = dict[str, Callable[[Scene], Outcome]]


@dataclass(frozen=True)
class Fault:
    #: Of the test.
    name: str
    #: What is done, for the table.
    what: str
    #: What becomes of the run, for the table.
    expected: str
    play: Callable[[Scene], Outcome]
    testbed: str = "loopback"
    #: Of the virtual LAN.
    link: str = "10M"
    study: str = "mixed"
    #: Of the virtual LAN, with namespaces as they are made without root.
    as_user: bool = False
    #: What the machine must have for it: `root`, `cc`, `IPv6`; the virtual LAN's needs are known.
    needs: tuple[str, ...] = ()
    #: Another fault once more: with other rights, elsewhere, in another workload, or by a signal of
    #: the same kind.
    is_variant: bool = False


def completed(scene: Scene, *, lost: int | None = None, resumed: bool = False) -> Outcome:
    """
    The outcome, after going on with the run if it is not complete.

    Args:
        lost: As counted when the disturbed command had ended; by default now.
        resumed: Whether it was gone on with before.
    """
    lost = scene.lost() if lost is None else lost
    if scene.status() not in ("done", "failed"):
        said = scene.resume()
        assert said.code == 0, said
        resumed = True
    return Outcome(lost, scene.trials(), scene.status(), resumed, scene.left())


def places(trials: list[TrialRecord]) -> list[Place]:
    """The places of a run in the order in which they came first: without what the policies for
    failed and disturbed trials have added."""
    found = (
        (trial.experiment, tuple(sorted(trial.factors.items())), trial.block, trial.purpose)
        for trial in trials
    )
    return list(dict.fromkeys(found))
