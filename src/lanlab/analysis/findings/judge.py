"""Verdicts on findings: every comparison of a study's findings is one family, corrected by Holm."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.findings.build import build
from lanlab.analysis.findings.claim import (
    REPEATS,
    Comparison,
    Gap,
    Node,
    Tally,
    Truth,
    comparisons,
    gaps,
    known_part,
    tallies,
    truth_of,
    without_repeats,
)
from lanlab.analysis.findings.contrast import Basis
from lanlab.analysis.findings.evidence import Evidence
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.systems import assumed_levels
from lanlab.analysis.published import published_numbers
from lanlab.analysis.statistics.multiple import holm
from lanlab.frozen import dataclass
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies import Finding, LoadedStudy, known_studies, load_study

#: Chance of a single false verdict among the findings of a study, judged on one body of evidence.
LEVEL = 0.05
_NOT_BY_PRINT = {
    "simulation": "the numbers that could decide it are lost;"
    " a run or a simulation has to decide it",
    "text": "nothing is printed that could decide it",
}


@dataclass(frozen=True)
class Judged:
    """One comparison with its place in the family."""

    comparison: Comparison
    truth: Truth
    #: Adjusted by Holm's method, two-sided; `None` where nothing is tested.
    p_holm: float | None
    #: Tests that were corrected together.
    family: int
    #: Confidence that is left to its interval by the correction.
    confidence: float | None
    #: Interval of the value; of what is only printed, what its digits leave open.
    low: float
    high: float
    #: Trials of each condition that would decide, where it is undecided; `None`: not in reach, or
    #: trials do not decide it.
    trials_needed: int | None = None


@dataclass(frozen=True)
class Further:
    """What would decide a finding that is undecided, if all is as it was seen."""

    #: Trials beyond those that there are, over all its conditions.
    trials: int
    #: Of each condition at most, those that there are included.
    trials_per_condition: int
    #: Time that these take, where it is known how long one takes.
    minutes: float | None


@dataclass(frozen=True)
class Judgement:
    """A finding and what the evidence makes of it."""

    finding: Finding
    verdict: Truth
    #: What the numbers say by themselves, where the verdict is open.
    means: Truth | None
    #: Why it is not tested, or which part of it has no numbers.
    reasons: tuple[str, ...]
    comparisons: tuple[Judged, ...]
    #: Of an undecided one; `None` where trials would not decide it, or not in reach.
    further: Further | None = None
    #: Of statements that hold for so many parts: how many do.
    tallies: tuple[Tally, ...] = ()
    #: Whether more trials can be run: not of what was published.
    is_repeatable: bool = True
    #: On a run: the statement on this system, in place of one that the run cannot have, with the
    #: levels that were left out.
    here: Judgement | None = None
    assumed: tuple[tuple[str, Level], ...] = ()
    #: Of a simulated run: at how many of the conditions that it rests on machines were fitted to
    #: what is printed of them, and how many conditions these are; `None` of all else.
    fitted: tuple[int, int] | None = None

    @property
    def is_means_only(self) -> bool:
        """Whether the verdict stands on printed numbers without any spread."""
        return self._decided_by == {"as printed"}

    @property
    def is_without_spread(self) -> bool:
        """Whether the verdict stands on trials that are all equal."""
        return self._decided_by == {"all equal"}

    @property
    def _decided_by(self) -> set[Basis]:
        return {o.comparison.basis for o in self.comparisons if o.truth != "undecided"}


@dataclass(frozen=True)
class Verdicts:
    """The judgements of all findings of a study on one body of evidence."""

    #: What they were held against.
    on: str
    judgements: tuple[Judgement, ...]
    #: Different questions with a test: the family that was corrected for.
    family: int
    level: float = LEVEL
    #: Whether the evidence is of modelled machines.
    is_simulated: bool = False

    def count(self, verdict: Truth) -> int:
        """Findings of that verdict."""
        return sum(one.verdict == verdict for one in self.judgements)


def judge_published(loaded: LoadedStudy) -> Verdicts:
    """What the printed numbers of a study make of its findings."""
    evidence = PublishedEvidence(loaded)
    nodes: list[Node] = []
    for finding in loaded.findings:
        not_by_print = _NOT_BY_PRINT.get(finding.decided_by or "")
        if not_by_print and finding.stated_by:
            not_by_print = f"{REPEATS}; a run or a simulation has to decide it"
        node = Gap(not_by_print) if not_by_print else build(finding.statement, evidence)
        nodes.append(without_repeats(node, frozenset(finding.stated_by)))
    return _verdicts(loaded.findings, nodes, [None] * len(nodes), evidence, None)


def judge_run(
    findings: Sequence[Finding], run: RunRecord, trials: Sequence[TrialRecord]
) -> Verdicts:
    """
    What the trials of a run make of findings.

    Args:
        findings: Of the run's study; see `findings_of`.
        run: The run, finished or not.
        trials: All its trials, in order.

    Returns:
        Of a simulated run each judgement says on how many fitted conditions it rests.
    """
    evidence = RunEvidence.of(run, trials)
    nodes: list[Node] = []
    here: list[tuple[Node, Mapping[str, Level]] | None] = []
    for finding in findings:
        node = build(finding.statement, evidence)
        assumed = assumed_levels(finding.statement, evidence.factors)
        nodes.append(node)
        # A statement about another system, with everything in it on that one system.
        is_elsewhere = assumed and not any(True for _ in comparisons(node))
        own = replace(evidence, assumed=assumed) if is_elsewhere and assumed else None
        here.append((build(finding.statement, own), assumed) if own and assumed else None)
    done = [trial.elapsed_s for trial in trials if trial.status == "done"]
    mean_trial_s = sum(done) / len(done) if done else None
    found = _verdicts(findings, nodes, here, evidence, mean_trial_s)
    return found if evidence.study.simulation is None else _with_fitted(found, evidence)


def _with_fitted(verdicts: Verdicts, evidence: RunEvidence) -> Verdicts:
    """The same, each judgement with how many of its conditions were fitted."""
    from lanlab.analysis.simulated_run import fitted_conditions

    fitted = fitted_conditions(evidence, published_numbers(evidence.run))
    found = []
    for one in verdicts.judgements:
        own = {name for c in one.comparisons for name in c.comparison.conditions}
        found.append(replace(one, fitted=(len(own & fitted), len(own))) if own else one)
    return replace(verdicts, judgements=tuple(found), is_simulated=True)


def judge(findings: Sequence[Finding], evidence: Evidence) -> Verdicts:
    """What any body of evidence makes of findings; every one is held against it."""
    nodes = [build(finding.statement, evidence) for finding in findings]
    return _verdicts(findings, nodes, [None] * len(nodes), evidence, None)


def findings_of(run: RunRecord) -> tuple[Finding, ...]:
    """The findings of a run's study: those that come with lanlab, or those in its record."""
    if run.study_id in known_studies():
        return load_study(run.study_id).findings
    return tuple(Finding.model_validate(one) for one in run.study.get("finding", ()))


def _verdicts(
    findings: Sequence[Finding],
    nodes: Sequence[Node],
    here: Sequence[tuple[Node, Mapping[str, Level]] | None],
    evidence: Evidence,
    mean_trial_s: float | None,
) -> Verdicts:
    others = [one[0] for one in here if one is not None]
    everything = [one for node in (*nodes, *others) for one in comparisons(node)]
    judged, family = _family(everything)
    found = []
    for finding, node, other in zip(findings, nodes, here, strict=True):
        own = _judgement(finding, node, judged, evidence, mean_trial_s)
        if other is not None:
            there = _judgement(finding, other[0], judged, evidence, mean_trial_s)
            if there.verdict != "not tested":
                own = replace(own, here=there, assumed=tuple(other[1].items()))
        found.append(own)
    return Verdicts(evidence.title, tuple(found), family)


def _family(everything: Sequence[Comparison]) -> tuple[dict[Hashable, Judged], int]:
    """Each comparison's truth, by its key."""
    p_values: dict[Hashable, float] = {}
    for one in everything:
        if one.is_tested:
            p_values[one.question] = min(one.p, p_values.get(one.question, 1.0))
    questions = sorted(p_values, key=p_values.__getitem__)
    adjusted = dict(zip(questions, holm([p_values[q] for q in questions]), strict=True))
    # Behind the first that is not decided, all are compared at its level.
    rejected = sum(p <= LEVEL for p in adjusted.values())
    judged: dict[Hashable, Judged] = {}
    for one in everything:
        p_holm = confidence = None
        if one.is_tested:
            p_holm = adjusted[one.question]
            place = min(questions.index(one.question), rejected)
            level = LEVEL / (len(questions) - place)
            confidence = 1 - level
            truth: Truth = "undecided"
            if p_holm <= LEVEL:
                truth = "holds" if one.p_for < one.p_against else "does not hold"
            needed = one.trials_needed(level) if truth == "undecided" else None
        else:
            truth = "undecided" if one.basis == "too few" else one.point
            needed = None
        low, high = one.interval(confidence or 0.95)
        judged[one.key] = Judged(one, truth, p_holm, len(questions), confidence, low, high, needed)
    return judged, len(questions)


def _judgement(
    finding: Finding,
    node: Node,
    judged: Mapping[Hashable, Judged],
    evidence: Evidence,
    mean_trial_s: float | None,
) -> Judgement:
    truths = {key: one.truth for key, one in judged.items()}
    open_truth: Truth = "undecided" if evidence.can_lack else "not tested"
    verdict = truth_of(node, truths, open_truth)
    own = _told(judged[one.key] for one in comparisons(node))
    means: Truth | None = None
    if verdict in ("undecided", "not tested") and own:
        points = {key: one.comparison.point for key, one in judged.items()}
        known = known_part(node)
        seen = None if known is None else truth_of(known, points, "undecided")
        means = seen if seen in ("holds", "does not hold") else None
    reasons = tuple(dict.fromkeys(gap.reason for gap in gaps(node)))
    if verdict in ("holds", "does not hold"):
        reasons = ()
    further = _further(own, mean_trial_s) if verdict == "undecided" and not reasons else None
    return Judgement(
        finding,
        verdict,
        means,
        reasons,
        own,
        further,
        tuple(tallies(node, truths, open_truth)),
        is_repeatable=not evidence.can_lack,
    )


def _told(everything: Iterable[Judged]) -> tuple[Judged, ...]:
    """Each question once: a statement may ask it from both sides, of which one is so."""
    found: dict[Hashable, Judged] = {}
    for one in everything:
        question = one.comparison.question
        if question not in found or one.truth == "holds":
            found[question] = one
    return tuple(found.values())


def _further(own: Sequence[Judged], mean_trial_s: float | None) -> Further | None:
    """Trials that decide all that is undecided; `None` if some are out of reach."""
    open_ones = [one for one in own if one.truth == "undecided"]
    if not open_ones or any(one.trials_needed is None for one in open_ones):
        return None
    wanted: dict[str, tuple[int, int]] = {}
    for one in open_ones:
        assert one.trials_needed is not None
        for condition, n in zip(one.comparison.conditions, one.comparison.n, strict=True):
            needed, _ = wanted.get(condition, (0, 0))
            wanted[condition] = max(needed, one.trials_needed), n
    trials = sum(max(0, needed - n) for needed, n in wanted.values())
    if not trials:
        return None
    minutes = None if mean_trial_s is None else trials * mean_trial_s / 60
    return Further(trials, max(needed for needed, _ in wanted.values()), minutes)
