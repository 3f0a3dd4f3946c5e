"""
For tests of figures, on a machine that may be disturbed.

A host under a virtual machine can take its processors away for a while. What is then measured is
the host, and says nothing of lanlab: such an attempt is neither a success nor a failure.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec

import pytest

from lanlab.analysis.pollution import ALLOWED_STEAL_RATIO

P = ParamSpec("P")

#: Attempts in which the host took processor time, for each that counts.
PATIENCE = 2
#: Taken at once, this holds up a step of a test that waits for less, however small a share it is.
#: In ticks of the kernel, which are 10 ms.
SPOILING_TICKS = 3


def processor_ticks() -> tuple[int, int]:
    """Of all processors: what the host took, and all of it; nothing where no kernel says."""
    try:
        line = Path("/proc/stat").read_text().partition("\n")[0]
    except OSError:
        return 0, 0
    # proc_pid_stat(5): user nice system idle iowait irq softirq steal; guests are in user.
    ticks = [int(field) for field in line.split()[1:9]]
    return ticks[7], sum(ticks)


@dataclass
class Disturbance:
    """What the host took of all processors in a while, in ticks of the kernel and as a share."""

    ticks: int = 0
    ratio: float = 0.0

    @property
    def spoils(self) -> bool:
        """Whether what failed meanwhile may have failed for that."""
        return self.ticks >= SPOILING_TICKS or self.ratio > ALLOWED_STEAL_RATIO

    def __str__(self) -> str:
        return f"the host under this machine took {self.ratio:.1%} of its processors"


@contextlib.contextmanager
def disturbance() -> Iterator[Disturbance]:
    """What the host takes in this block; known at its end."""
    found, before = Disturbance(), processor_ticks()
    try:
        yield found
    finally:
        after = processor_ticks()
        found.ticks = after[0] - before[0]
        found.ratio = found.ticks / max(1, after[1] - before[1])


def figure_test(attempts: int = 3) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """
    A test that must hold in one of a few attempts.

    An attempt in which the host took more than a trial may lose counts only if it succeeds. Where
    there are not enough others, the test is skipped, and the line says what the host took.
    """

    def decorate(test: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(test)
        def repeated(*args: P.args, **kwargs: P.kwargs) -> None:
            undisturbed, taken = 0, []
            for _ in range(PATIENCE * attempts):
                try:
                    with disturbance() as host:
                        return test(*args, **kwargs)
                except (AssertionError, pytest.fail.Exception) as error:
                    wrong = error
                if host.ratio > ALLOWED_STEAL_RATIO:
                    taken.append(host.ratio)
                    continue
                undisturbed += 1
                if undisturbed == attempts:
                    raise wrong
            shares = ", ".join(f"{ratio:.0%}" for ratio in taken)
            pytest.skip(
                f"the host under this machine took {shares} of its processors in {len(taken)} of "
                f"{PATIENCE * attempts} attempts, none of which held: {wrong}"
            )

        return repeated

    return decorate
