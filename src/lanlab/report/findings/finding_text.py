"""Verdicts on findings in words, for the terminal and for the page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.findings.systems import THIS_SYSTEM
from lanlab.analysis.findings.verdicts import Further, Judged, Judgement, Verdicts
from lanlab.figures.number_text import counted, number, percent, plain
from lanlab.figures.wording import level_text, quantity
from lanlab.studies import Finding, Study
from lanlab.studies.findings import Equivalent

if TYPE_CHECKING:
    from lanlab.analysis.findings.claim import Tally

#: Maximum number of a finding's comparisons in text. The others are counted; JSON and CSV have all.
_MOST_TOLD = 4
#: An end of an interval beyond this multiple of the value is not printed.
_TOO_WIDE = 100
_ORDER = ("does not hold", "undecided", "holds", "not tested")
_MEANS = {"holds": ", the means hold", "does not hold": ", the means do not"}


def counts_sentence(verdicts: Verdicts) -> str:
    findings = counted(len(verdicts.judgements), "finding")
    if verdicts.is_simulated:
        return (
            f"{findings} on {verdicts.on}, a simulation: {counts(verdicts)}. A verdict on a "
            "simulation compares the means of a model with the claim; nothing is tested, as seeds "
            "of one model are no sample of machines."
        )
    said = f"{findings} on {verdicts.on}: {counts(verdicts)}."
    if verdicts.family:
        chance = f"the chance of any false verdict is at most {100 * verdicts.level:g} %"
        tests = counted(verdicts.family, "test")
        said += f" {tests}, corrected together by Holm's method: {chance}."
    return said


def counts(verdicts: Verdicts) -> str:
    hold, not_hold = verdicts.count("holds"), verdicts.count("does not hold")
    return (
        f"{hold} {'holds' if hold == 1 else 'hold'}, "
        f"{not_hold} {'does not hold' if not_hold == 1 else 'do not hold'}, "
        f"{verdicts.count('undecided')} undecided, {verdicts.count('not tested')} not tested"
    )


def untested_line(findings: Sequence[Finding], by: str) -> str:
    """One line for all findings without a verdict."""
    ids = ", ".join(finding.id for finding in findings)
    how = "`lanlab findings --verbose` shows them, and why."
    return f"{len(findings)} not tested by {by}: {ids}. {how}"


def verdict_text(judgement: Judgement) -> str:
    means = _MEANS.get(judgement.means or "", "") if judgement.verdict == "undecided" else ""
    only = ""
    if judgement.is_means_only:
        only = " (means only: no test)"
    elif judgement.is_without_spread:
        only = " (no trial differed: no test)"
    margin = ""
    statement = judgement.finding.statement
    if isinstance(statement, Equivalent) and judgement.verdict == "holds":
        margin = f" (equal within {margin_text(statement)})"
    where = "" if judgement.verdict == "not tested" else judgement.where
    return f"{judgement.verdict}{where}{means}{margin}{only}{fitted_text(judgement)}"


def margin_text(statement: Equivalent) -> str:
    if statement.margin_ratio is not None:
        return f"{plain(100 * statement.margin_ratio)} %"
    shown = quantity(None, statement.metric or "")
    return f"{plain(shown.shown(statement.margin or 0.0))} {shown.unit}".rstrip()


def fitted_text(judgement: Judgement) -> str:
    """The number of fitted conditions behind a verdict on a simulation; else empty."""
    if judgement.fitted is None or judgement.verdict == "not tested":
        return ""
    fitted, conditions = judgement.fitted
    how = f"fitted, {fitted} of {conditions} conditions" if fitted else "nothing fitted"
    if judgement.is_chosen_for:
        how = "fitted: a number was chosen to make it come out"
    return f" in the simulation ({how})"


def evidence_lines(judgement: Judgement, study: Study | None) -> list[str]:
    """The evidence for a verdict, one line for each comparison, the decisive ones first."""
    own = sorted(judgement.comparisons, key=lambda one: _ORDER.index(one.truth))
    if judgement.verdict == "holds":
        own = sorted(judgement.comparisons, key=lambda one: -(one.p_holm or 0.0))
    lines = [comparison_text(one, study) for one in own[:_MOST_TOLD]]
    if len(own) > _MOST_TOLD:
        lines.append(f"and {len(own) - _MOST_TOLD} more comparisons")
    lines += [tally_text(one) for one in judgement.tallies]
    reasons = [readable(reason, study) for reason in judgement.reasons]
    lines += reasons[:2]
    if len(reasons) > 2:
        lines.append(f"and {len(reasons) - 2} more without numbers")
    if judgement.verdict == "undecided":
        lines.append(further_text(judgement))
    lines += _missing_in_model(judgement, study)
    if judgement.here is not None:
        lines.append(here_text(judgement))
        lines += [f"  {line}" for line in evidence_lines(judgement.here, study)]
    return lines


def _missing_in_model(judgement: Judgement, study: Study | None) -> list[str]:
    is_contradicted = judgement.fitted is not None and judgement.verdict == "does not hold"
    if not is_contradicted or study is None or study.simulation is None:
        return []
    known = [
        one.mechanism for one in study.simulation.missing if one.finding == judgement.finding.id
    ]
    return [f"missing in the model: {one}" for one in known or ["not known"]]


def claim_origin(finding: Finding) -> str:
    """The source of a finding that is not from the publication's text, followed by a space; else
    empty.
    """
    return {"tables": "[read from its tables] ", "ours": "[our inference] "}.get(finding.origin, "")


def tally_text(tally: Tally) -> str:
    """How many parts of a statement are shown to hold, and how many the statement requires."""
    shown = f"shown for {tally.shown} of {tally.parts}, refuted for {tally.refuted}"
    wanted = [
        f"{word} {plain(end)}"
        for word, end in (("at least", tally.least), ("at most", tally.most))
        if end is not None
    ]
    return f"{shown}; claimed {' and '.join(wanted)}"


def here_text(judgement: Judgement) -> str:
    assert judgement.here is not None
    left_out = ", ".join(
        f"each {factor}" if level == THIS_SYSTEM else f"{factor} {level}"
        for factor, level in judgement.assumed
    )
    return f"on this system, in place of {left_out}: {verdict_text(judgement.here)}"


def further_text(judgement: Judgement) -> str:
    further = judgement.further
    if isinstance(further, Further) and not judgement.is_repeatable:
        return (
            f"with the published spread, {further.trials_per_condition} trials of a "
            "condition would have decided it"
        )
    if isinstance(further, Further):
        minutes = ""
        if further.minutes is not None:
            minutes = f", {counted(round(further.minutes), 'minute')}"
            if further.minutes < 1:
                minutes = ", less than a minute"
        return (
            f"about {further.trials} more trials would decide it (up to "
            f"{further.trials_per_condition} of a condition{minutes})"
        )
    open_ones = judgement.comparisons
    if not judgement.is_repeatable and judgement.reasons:
        return "a part of it has no numbers"
    if judgement.reasons:
        return "more trials would not decide it: a part has no numbers"
    if any(one.truth == "undecided" and not one.comparison.is_planned for one in open_ones):
        return "more trials may decide it; how many is not known for a fitted model"
    if any(one.comparison.basis == "too few" for one in judgement.comparisons):
        return (
            "too few trials to say how many would decide it: run at least three of each condition"
        )
    if judgement.is_means_only or not any(c.comparison.is_tested for c in judgement.comparisons):
        return "the published digits leave it open, and no single trials are published"
    return "no practical number of trials would decide it"


def comparison_text(one: Judged, study: Study | None) -> str:
    seen = one.comparison
    ends = _ends(one, study)
    what = readable(seen.what, study)
    parts = [f"{what}: {_value(one, seen.value, study)}{ends}, {claim_text(one, study)}"]
    if one.p_holm is not None:
        asked = {"holds": "holds", "does not hold": "does not hold"}.get(
            one.truth, "undecided: neither the claim nor its opposite is shown"
        )
        p = "below 0.0001" if one.p_holm < 0.0001 else f"{one.p_holm:.2g}"
        parts.append(asked)
        parts.append(f"{seen.test}, p {p} after Holm over {counted(one.family, 'test')}")
        if seen.hedges_g is not None:
            parts.append(f"g {number(seen.hedges_g, 2)}")
    else:
        parts += [one.truth, seen.test.removeprefix("none: ")]
    if seen.is_tested or seen.basis in ("all equal", "too few"):
        parts.append(f"{' and '.join(map(str, seen.n[:2]))} trials" + (" …" * (len(seen.n) > 2)))
    if seen.lost_trials:
        parts.append(f"for every possible value of {counted(seen.lost_trials, 'lost trial')}")
    if seen.candidates > 1:
        parts.append(f"for each of {seen.candidates} possible pairs or conditions")
    return "; ".join(parts)


def _ends(one: Judged, study: Study | None) -> str:
    if one.low == one.high or not (math.isfinite(one.low) or math.isfinite(one.high)):
        return ""
    if not math.isfinite(one.low) or not math.isfinite(one.high):
        # A published bound, or a one-sided interval.
        end, word = (one.low, "least") if math.isfinite(one.low) else (one.high, "most")
        return f" (at {word} {_value(one, end, study)})"
    if one.comparison.basis == "as printed":
        ends = f"{_value(one, one.low, study)} … {_value(one, one.high, study)}"
        return f" (its digits allow {ends})"
    wide = _TOO_WIDE * abs(one.comparison.value)
    if one.comparison.is_tested and one.high > wide > 0:
        return f" (chance leaves open more than a factor of {_TOO_WIDE:g})"
    return f" ({_value(one, one.low, study)} … {_value(one, one.high, study)})"


def claim_text(one: Judged, study: Study | None) -> str:
    seen = one.comparison
    least = None if seen.least is None else _value(one, seen.least, study, chosen=True)
    most = None if seen.most is None else _value(one, seen.most, study, chosen=True)
    if least is not None and most is not None:
        return f"claimed {least} to {most}"
    if least is not None:
        return f"claimed {'above' if seen.is_strict else 'at least'} {least}"
    return f"claimed {'below' if seen.is_strict else 'at most'} {most}"


def _value(one: Judged, value: float, study: Study | None, *, chosen: bool = False) -> str:
    if not math.isfinite(value):
        return "any"
    unit = one.comparison.unit
    if unit == "share":
        return f"{plain(100 * value)} %" if chosen else percent(value)
    if unit in ("ratio", "level"):
        return plain(value) if chosen else number(value)
    shown = quantity(study, one.comparison.metric)
    if chosen:
        return f"{plain(shown.shown(value))} {shown.unit}".strip()
    return shown.text(value)


#: A factor with its levels in lanlab's units, or a metric.
_KEY = re.compile(
    r"\b(ip_version|[a-z][a-z0-9_]*_(?:bps|ns|bytes|ratio|per_s|s))\b"
    r"(?: (\d[\d.e+]*(?:(?: \| | to )\d[\d.e+]*)*))?"
)
_LEVEL = re.compile(r"\d[\d.e+]*")


def readable(text: str, study: Study | None) -> str:
    """
    The text with display names in place of keys.

    Examples:
        >>> readable("(ip_version 4) / (ip_version 6) at os xp, message_size_bytes 384", None)
        '(IPv4) / (IPv6) at os xp, message size 384 B'
        >>> readable("no goodput_bps is printed at message_size_bytes 2 | 500", None)
        'no goodput is printed at message size 2 B or 500 B'
        >>> readable("elapsed_wall_ns / elapsed_ns at test speedtest", None)
        'elapsed wall / elapsed time at test speedtest'
    """
    return _KEY.sub(lambda found: _named(found[1], found[2], study), text)


def _named(key: str, levels: str | None, study: Study | None) -> str:
    name = quantity(study, key).name
    if levels is None:
        return name
    shown = _LEVEL.sub(lambda one: _level(key, one[0], study), levels).replace(" | ", " or ")
    return shown if key == "ip_version" else f"{name} {shown}"


def _level(key: str, level: str, study: Study | None) -> str:
    if key == "ip_version":
        return f"IPv{level}"
    number = float(level)
    if study is not None:
        return level_text(study, key, number)
    shown = quantity(None, key)
    return f"{shown.shown(number):g} {shown.unit}".strip()
