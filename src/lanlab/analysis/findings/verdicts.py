"""
Verdicts on findings as data, apart from the judge, which imports scipy: runs of studies without
findings do not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord
from lanlab.studies.findings import Finding
from lanlab.studies.load import known_studies, load_study

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
    #: Trials per condition needed for a decision, if undecided; `None` if out of reach, or if
    #: trials cannot decide it.
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
    #: Trials that would decide an undecided finding; `None` if out of reach, or if none would.
    further: Further | None = None
    tallies: tuple[Tally, ...] = ()
    is_repeatable: bool = True
    #: For a statement about a system that the run cannot have: the statement applied to the run's
    #: own system, with the dropped levels.
    here: Judgement | None = None
    assumed: tuple[tuple[str, Level], ...] = ()
    #: For a simulated run: number of conditions behind the verdict whose machines were fitted to
    #: published values, and number of all such conditions. `None` for others.
    fitted: tuple[int, int] | None = None
    #: Whether a number of the simulated machines was fitted to what this finding states.
    is_fitted_to: bool = False
    #: For a measured run: the system and the trials that the verdict is about, in words.
    where: str = ""

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
    """The findings of a run's study: from lanlab's copy of the study, or from the run's record."""
    if run.study_id in known_studies():
        return load_study(run.study_id).findings
    return tuple(Finding.model_validate(one) for one in run.study.get("finding", ()))
