"""
Verdicts on findings as data. The judge imports scipy, which a run of a study without findings does
not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord
from lanlab.studies import Finding, known_studies, load_study

if TYPE_CHECKING:
    from lanlab.analysis.findings.claim import Comparison, Tally, Truth
    from lanlab.analysis.findings.contrast import Basis

#: Probability of any false verdict among the findings of a study, for one body of evidence.
LEVEL = 0.05


@dataclass(frozen=True)
class Judged:
    comparison: Comparison
    truth: Truth
    #: Adjusted by Holm's method, two-sided; `None` if nothing is tested.
    p_holm: float | None
    family: int
    confidence: float | None
    #: Interval of the value; for published values, the rounding of their digits.
    low: float
    high: float
    #: Trials per condition needed for a decision, if undecided; `None`: out of reach, or trials
    #: cannot decide it.
    trials_needed: int | None = None


@dataclass(frozen=True)
class Further:
    """What would decide an undecided finding, if effect and spread stay the same."""

    trials: int
    trials_per_condition: int
    minutes: float | None


@dataclass(frozen=True)
class Judgement:
    finding: Finding
    verdict: Truth
    means: Truth | None
    reasons: tuple[str, ...]
    comparisons: tuple[Judged, ...]
    #: Trials that decide an undecided one; `None` if none would, or out of reach.
    further: Further | None = None
    tallies: tuple[Tally, ...] = ()
    is_repeatable: bool = True
    #: For a run: the statement applied to this system in place of one that the run cannot have,
    #: with the dropped levels.
    here: Judgement | None = None
    assumed: tuple[tuple[str, Level], ...] = ()
    #: Number of conditions of a simulated run at which machines were fitted to published values,
    #: and of all conditions behind the verdict; `None` for others.
    fitted: tuple[int, int] | None = None
    #: Whether a number of the simulated machines was chosen to make this finding come out.
    is_chosen_for: bool = False

    @property
    def is_means_only(self) -> bool:
        return self._decided_by == {"as printed"}

    @property
    def is_without_spread(self) -> bool:
        return self._decided_by == {"all equal"}

    @property
    def _decided_by(self) -> set[Basis]:
        return {o.comparison.basis for o in self.comparisons if o.truth != "undecided"}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on all findings of a study from one body of evidence."""

    on: str
    judgements: tuple[Judgement, ...]
    family: int
    level: float = LEVEL
    is_simulated: bool = False

    def count(self, verdict: Truth) -> int:
        return sum(one.verdict == verdict for one in self.judgements)


def findings_of(run: RunRecord) -> tuple[Finding, ...]:
    """The findings of a run's study: lanlab's own, or those in its record."""
    if run.study_id in known_studies():
        return load_study(run.study_id).findings
    return tuple(Finding.model_validate(one) for one in run.study.get("finding", ()))
