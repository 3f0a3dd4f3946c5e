"""Bodies of evidence made by hand: conditions with trials, or with printed numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from given_numbers import Given as Numbers

from lanlab.analysis.findings.claim import Comparison
from lanlab.analysis.findings.evidence import Cell
from lanlab.analysis.findings.judge import judge
from lanlab.analysis.findings.sample import PrintedNumber, Sample, Trials
from lanlab.analysis.findings.verdicts import Judgement, Verdicts
from lanlab.studies.base import Level
from lanlab.studies.findings import Finding

#: What five trials scatter by, in shares of their mean: 1 % standard deviation, mean 0.
STEADY = (-0.0126491106, 0.0, 0.0126491106, -0.0063245553, 0.0063245553)
#: Ten times that.
NOISY = tuple(10 * one for one in STEADY)


def trials(mean: float, scatter: Sequence[float] = STEADY, blocks: Sequence[int] = ()) -> Trials:
    """Five trials about a mean, scattered alike in every condition but in turned order."""
    turn = int(mean) % len(scatter)
    turned = (*scatter[turn:], *scatter[:turn])
    values = tuple(mean * (1 + one) for one in turned)
    return Trials(values, tuple(blocks), tuple(range(1, len(values) + 1)))


def printed(mean: float, half: float = 0.0) -> PrintedNumber:
    return PrintedNumber(mean, mean - half, mean + half)


def cell(sample: Sample, **levels: Level) -> Cell:
    return Cell(levels, tuple(levels), sample, group="made")


def along(factor: str, means: Mapping[Level, float], scatter: Sequence[float] = STEADY) -> Numbers:
    return Numbers([cell(trials(mean, scatter), **{factor: lv}) for lv, mean in means.items()])


def finding(form: str, **statement: Any) -> Finding:
    whole = {"form": form, "metric": "goodput_bps", **statement}
    return Finding.model_validate({"id": "f", "claim": "So it is.", "statement": whole})


def verdicts(form: str, evidence: Numbers, **statement: Any) -> Verdicts:
    return judge([finding(form, **statement)], evidence)


def verdict(form: str, evidence: Numbers, **statement: Any) -> str:
    return verdicts(form, evidence, **statement).judgements[0].verdict


def judged(form: str, evidence: Numbers, **statement: Any) -> Judgement:
    [found] = verdicts(form, evidence, **statement).judgements
    return found


def compared(form: str, evidence: Numbers, **statement: Any) -> list[Comparison]:
    return [one.comparison for one in judged(form, evidence, **statement).comparisons]
