"""Both directions of a workload at once: the steps of both, with one start, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanlab.messages import Line
from lanlab.roles import REVERSE_PREFIX
from lanlab.workloads.outcome import Progress, TrialOutcome
from lanlab.workloads.steps import Part, Stage, TwoEnds


class BothWays(TwoEnds):
    """
    The steps of a bidirectional workload with two ends.

    Each direction has its own parts, session and ports. Roles of the second direction are those of
    the first with the prefix `reverse_`. Both listeners are set up before both that connect, and
    all four start together.
    """

    def timed(self, stage: Stage) -> Sequence[Sequence[Part]]:
        """The listeners first. The first and the last part are on different hosts, because the
        record relates their clocks.
        """
        forward = self.direction(stage, "")
        reverse = self.direction(stage, REVERSE_PREFIX)
        return [[forward[0]], [reverse[0]], [reverse[1]], [forward[1]]]

    def progress(self, lines: Sequence[Line | None]) -> Progress:
        listener, back_listener, back_connector, connector = lines
        assert listener is not None
        forward = super().progress([listener, connector])
        if back_listener is None:
            return forward
        return replace(forward, reverse=super().progress([back_listener, back_connector]))


def of_reverse(outcome: TrialOutcome, roles: tuple[str, str]) -> TrialOutcome:
    setup = outcome.setup.copy()
    capabilities = outcome.setup.get("capabilities") or {}
    setup["capabilities"] = {
        role: capabilities.get(f"{REVERSE_PREFIX}{role}") or {} for role in roles
    }
    results = {role: outcome.results[f"{REVERSE_PREFIX}{role}"] for role in roles}
    return replace(outcome, results=results, setup=setup)
