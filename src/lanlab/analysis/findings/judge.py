"""Verdicts on findings: all comparisons of a study's findings are one family, corrected by Holm's
method.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from lanlab.analysis.findings.build import build
from lanlab.analysis.findings.by_model import of_a_model, truth_by_model
from lanlab.analysis.findings.claim import (
    REPEATS,
    Comparison,
    Gap,
    Node,
    Truth,
    comparisons,
    gaps,
    known_part,
    tallies,
    truth_of,
    without_repeats,
)
from lanlab.analysis.findings.evidence import Evidence
from lanlab.analysis.findings.printed import half_digit
from lanlab.analysis.findings.published_evidence import PublishedEvidence
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.systems import assumed_levels
from lanlab.analysis.findings.verdicts import LEVEL, Further, Judged, Judgement, Verdicts
from lanlab.analysis.simulation.model_error import model_error_log, of_metric
from lanlab.analysis.statistics.multiple import holm
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import LEAST_FOR_INTERVAL
from lanlab.store import Level
from lanlab.studies.counterparts import factors_told_apart
from lanlab.studies.findings import Finding, Statement
from lanlab.studies.load import LoadedStudy, known_studies
from lanlab.studies.machines import Simulation
from lanlab.studies.published import Published

_LOST = "the published numbers that could decide it are lost"
#: The data missing from a publication that would decide a finding; used unless the finding gives
#: its own reason.
_NOT_BY_PRINT = {"simulation": _LOST, "text": "no published number can decide it"}
_LACKS = {"lost": _LOST, "unmeasured": "the study did not measure this"}
_UNKNOWN = (-math.inf, math.inf)
_DECIDES = "a run or a simulation can decide it"


def judge_published(loaded: LoadedStudy) -> Verdicts:
    evidence = PublishedEvidence(loaded)
    nodes: list[Node] = []
    for finding in loaded.findings:
        not_by_print = _NOT_BY_PRINT.get(finding.decided_by or "")
        if not_by_print:
            lacks = REPEATS if finding.stated_by else _LACKS.get(finding.lacks or "", not_by_print)
            is_open = finding.decided_by == "simulation" or finding.stated_by
            not_by_print = f"{lacks}; {_DECIDES}" if is_open else lacks
        node = Gap(not_by_print) if not_by_print else build(finding.statement, evidence)
        nodes.append(without_repeats(node, frozenset(finding.stated_by)))
    return _verdicts(loaded.findings, nodes, [None] * len(nodes), evidence, None)


def judge_run(findings: Sequence[Finding], data: RunData) -> Verdicts:
    """
    Verdicts on findings from the trials of a run.

    Args:
        findings: Findings of the run's study; see `findings_of`.
        data: The run, finished or not.

    Returns:
        For a simulated run, verdicts by the model's means and error, each with the number of
        fitted conditions that it uses.
    """
    evidence, is_simulated = data.evidence, data.study.is_simulated

    def built(statement: Statement, on: RunEvidence) -> Node:
        node = build(statement, on)
        return of_a_model(node, error_of) if is_simulated else node

    def error_of(metric: str) -> float | None:
        from lanlab.analysis.simulation.run import held_out_of

        return model_error_log(of_metric(data.once(held_out_of), metric))

    nodes: list[Node] = []
    here: list[tuple[Node, Mapping[str, Level]] | None] = []
    told_apart = factors_told_apart(evidence.study)
    for finding in findings:
        evidence = replace(evidence, digits=_digits(finding, data.published))
        node = built(finding.statement, evidence)
        assumed = assumed_levels(finding.statement, evidence.factors, told_apart)
        nodes.append(node)
        # A statement about another system is also applied to the run's only system.
        is_elsewhere = assumed and not any(True for _ in comparisons(node))
        own = replace(evidence, assumed=assumed) if is_elsewhere and assumed else None
        here.append((built(finding.statement, own), assumed) if own and assumed else None)
    done = [trial.elapsed_s for trial in data.trials if trial.status == "done"]
    mean_trial_s = sum(done) / len(done) if done else None
    found = _verdicts(findings, nodes, here, evidence, mean_trial_s)
    return _with_fitted(found, data) if is_simulated else _with_place(found, data)


def _with_place(verdicts: Verdicts, data: RunData) -> Verdicts:
    disturbed = sum(trial.is_disturbed for trial in data.counting)
    when = ", in disturbed trials" if 2 * disturbed > len(data.counting) else ""
    # A user's own study is about the user's systems.
    where = f" on this system{when}" if data.run.study_id in known_studies() else when
    placed = (
        replace(one, where=where, here=one.here and replace(one.here, where=when))
        for one in verdicts.judgements
    )
    return replace(verdicts, judgements=tuple(placed))


def _digits(finding: Finding, published: Published) -> dict[float, float]:
    stating = [value for value in published.value if value.id in finding.stated_by]
    return {value.si: half_digit(value) for value in stating}


def _with_fitted(verdicts: Verdicts, data: RunData) -> Verdicts:
    from lanlab.analysis.simulation.run import fitted_conditions

    by_value = fitted_conditions(data.evidence, data.published)
    fitted = set().union(*by_value.values())
    simulation = data.study.simulation or Simulation()
    found = []
    for one in verdicts.judgements:
        own = {name for c in one.comparisons for name in c.comparison.conditions}
        known = replace(one, fitted=(len(own & fitted), len(own))) if own else one
        stating = [by_value[value] for value in one.finding.stated_by if value in by_value]
        # A value may be fitted under another load than that of the finding.
        is_fitted_to = simulation.is_fitted_to(one.finding)
        is_elsewhere = any(map(own.isdisjoint, stating))
        found.append(replace(known, is_fitted_to=is_fitted_to and not is_elsewhere))
    return replace(verdicts, judgements=tuple(found), is_simulated=True)


def judge(findings: Sequence[Finding], evidence: Evidence) -> Verdicts:
    """Verdicts on findings from any body of evidence."""
    nodes = [build(finding.statement, evidence) for finding in findings]
    return _verdicts(findings, nodes, [None] * len(nodes), evidence, None)


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
    p_values: dict[Hashable, float] = {}
    for one in everything:
        if one.is_tested:
            p_values[one.question] = min(one.p, p_values.get(one.question, 1.0))
    questions = sorted(p_values, key=p_values.__getitem__)
    adjusted = dict(zip(questions, holm([p_values[q] for q in questions]), strict=True))
    # Holm's method tests all comparisons after the first undecided one at its level.
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
            if one.basis == "simulated":
                truth = truth_by_model(one)
            needed = None
        # Printed digits give an interval by themselves.
        is_few = one.basis in ("tested", "too few") and min(one.n, default=0) < LEAST_FOR_INTERVAL
        low, high = _UNKNOWN if is_few else one.interval(confidence or 0.95)
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
    own = _once_each(judged[one.key] for one in comparisons(node))
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


def _once_each(everything: Iterable[Judged]) -> tuple[Judged, ...]:
    found: dict[Hashable, Judged] = {}
    for one in everything:
        question = one.comparison.question
        if question not in found or one.truth == "holds":
            found[question] = one
    return tuple(found.values())


def _further(own: Sequence[Judged], mean_trial_s: float | None) -> Further | None:
    """Trials that decide all undecided findings; `None` if some are out of reach."""
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
