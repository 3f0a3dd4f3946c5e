"""Verdicts on findings in words, for the terminal and for the page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lanlab.analysis.findings.systems import THIS_SYSTEM
from lanlab.analysis.findings.verdicts import Further, Judged, Judgement, Verdicts
from lanlab.figures.number_text import counted, joined, number, percent, plain
from lanlab.figures.wording import level_text, level_titles, quantity
from lanlab.studies.findings import Equivalent, Finding
from lanlab.studies.model import Study

if TYPE_CHECKING:
    from lanlab.analysis.findings.claim import Tally

#: Maximum number of a finding's comparisons in text. The others are counted; JSON and CSV have all.
_MOST_TOLD = 4
#: An end of an interval beyond this multiple of the value is not printed.
_TOO_WIDE = 100
_ORDER = ("does not hold", "undecided", "holds", "not tested")
_MEANS = {"holds": "the means agree", "does not hold": "the means disagree"}


def counts_sentence(verdicts: Verdicts) -> str:
    findings = counted(len(verdicts.judgements), "finding")
    if verdicts.is_simulated:
        return (
            f"{findings} by {verdicts.on}, a simulation: {counts(verdicts)}. A finding is decided "
            "if no value within the model's error would change the verdict. There is no "
            "statistical test: seeds of one model are not a sample of machines."
        )
    said = f"{findings} by {verdicts.on}: {counts(verdicts)}."
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
    how = "`lanlab findings --verbose` shows why."
    return f"{len(findings)} not tested by {by}: {ids}. {how}"


def verdict_text(judgement: Judgement) -> str:
    verdict = judgement.verdict
    means = _MEANS.get(judgement.means or "", "") if verdict == "undecided" else ""
    open_ones = [one.comparison for one in judgement.comparisons if one.truth == verdict]
    factor = max((one.model_factor for one in open_ones), default=1.0)
    if means and factor > 1:
        return f"undecided{fitted_text(judgement)}: {means}, but {_model_error(factor)}"
    means = f", {'though' if judgement.means == 'holds' else 'and'} {means}" if means else ""
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


def _model_error(factor: float) -> str:
    if math.isinf(factor):
        return "the model's error is not known"
    return f"the model may err by a factor of {number(factor, 3)}"


def margin_text(statement: Equivalent) -> str:
    if statement.margin_ratio is not None:
        return f"{plain(100 * statement.margin_ratio)} %"
    shown = quantity(None, statement.metric or "")
    return f"{plain(shown.shown(statement.margin or 0.0))} {shown.unit}".rstrip()


def fitted_text(judgement: Judgement) -> str:
    """What was fitted behind a verdict on a simulation: a number to the finding itself, or to
    values of some of its conditions; else empty.
    """
    if judgement.fitted is None or judgement.verdict == "not tested":
        return ""
    fitted, conditions = judgement.fitted
    how = f"fitted to {fitted} of its {conditions} conditions" if fitted else "not fitted to it"
    return f" in the simulation (model {'fitted to it' if judgement.is_fitted_to else how})"


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
        lines.append(f"and {len(reasons) - 2} more gaps")
    if judgement.verdict == "undecided":
        lines.append(further_text(judgement))
    lines += _missing_in_model(judgement, study)
    if judgement.here is not None:
        lines.append(here_text(judgement, study))
        lines += [f"  {line}" for line in evidence_lines(judgement.here, study)]
    return lines


def _missing_in_model(judgement: Judgement, study: Study | None) -> list[str]:
    said = judgement.verdict if judgement.means is None else judgement.means
    is_contradicted = judgement.fitted is not None and said == "does not hold"
    if not is_contradicted or study is None or study.simulation is None:
        return []
    known = [
        one.mechanism for one in study.simulation.missing if one.finding == judgement.finding.id
    ]
    if not known and judgement.verdict == "does not hold":
        known = ["not known"]
    return [f"missing in the model: {one}" for one in known]


def claim_origin(finding: Finding) -> str:
    """The source of a finding that is not from the publication's text, followed by a space; else
    empty.
    """
    return {"tables": "[read from its tables] ", "ours": "[our inference] "}.get(finding.origin, "")


def tally_text(tally: Tally) -> str:
    """How many parts of a statement are shown to hold, and how many the statement requires."""
    shown = f"shown in {tally.shown} of {tally.parts} cases, refuted in {tally.refuted}"
    wanted = [
        f"{word} {plain(end)}"
        for word, end in (("at least", tally.least), ("at most", tally.most))
        if end is not None
    ]
    return f"{shown}; claimed in {' and '.join(wanted)}"


def here_text(judgement: Judgement, study: Study | None) -> str:
    assert judgement.here is not None
    left_out = ", ".join(
        f"each {quantity(study, factor).name}"
        if level == THIS_SYSTEM
        else readable(f"{factor} {level}", study)
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
    if any(one.comparison.basis == "simulated" for one in open_ones):
        return "more seeds would not decide it: they share the model's error"
    if not judgement.is_repeatable and judgement.reasons:
        return "part of the claim has no published values"
    if judgement.reasons:
        return "more trials would not decide it: part of the claim has no values"
    if any(one.comparison.basis == "too few" for one in judgement.comparisons):
        return (
            "too few trials to say how many would decide it: run at least three of each condition"
        )
    if judgement.is_means_only or not any(c.comparison.is_tested for c in judgement.comparisons):
        return "rounding leaves it open, and single trials are not published"
    return "no practical number of trials would decide it"


def comparison_text(one: Judged, study: Study | None) -> str:
    """A comparison in one sentence, then its test and trials in brackets."""
    seen = one.comparison
    details = [seen.test.removeprefix("none: ")]
    verdict: str = one.truth
    if one.p_holm is not None:
        verdict = "neither shown nor refuted" if one.truth == "undecided" else one.truth
        p = "below 0.0001" if one.p_holm < 0.0001 else f"{one.p_holm:.2g}"
        of = counted(one.family, "test")
        details = [f"{seen.test}, p {p} corrected for {of} by Holm's method"]
        details += [] if seen.hedges_g is None else [f"Hedges' g {number(seen.hedges_g, 2)}"]
    if seen.is_tested or seen.basis in ("all equal", "too few"):
        details.append(_trials(seen.n))
    if seen.basis == "simulated":
        details.append(_model_error(seen.model_factor))
    if seen.lost_trials:
        details.append(f"for every possible value of {counted(seen.lost_trials, 'lost trial')}")
    if seen.candidates > 1:
        details.append(f"for each of {seen.candidates} candidates for the extreme")
    said = _sentence(one, _value(one, seen.value, study), study).lstrip() + _ends(one, study)
    return f"{said}; {claim_text(one, study)}: {verdict} ({'; '.join(details)})"


def _sentence(one: Judged, value: str, study: Study | None) -> str:
    seen = one.comparison
    sides = [readable(side, study) for side in seen.sides]
    common = f" with {readable(seen.common, study)}" if seen.common else ""
    # Two metrics name themselves.
    is_named = seen.sides[:1] == (seen.metric,) or (seen.measure == "share" and not sides)
    name = "" if is_named else quantity(study, seen.metric).name
    share = ", as a share of the link" if seen.measure == "share" else ""
    times = "\N{MULTIPLICATION SIGN}"
    match seen.measure, sides:
        case (("value" | "share"), [side]):
            return f"{name}{common}{share}: {f'{side} is ' if side else ''}{value}"
        case "ratio", [a, b]:
            return f"{name}{common}: {a} is {value} {times} {b}"
        case "difference", [a, b]:
            return f"{name}{common}: {a} minus {b} is {value}"
        case "widening", [_, _, _, _]:
            a, b, c, d = seen.sides
            said, later = _pair(a, b, seen.unit, study)
            _, former = _pair(c, d, seen.unit, study)
            if seen.unit == "ratio":
                how = f"{value} {times} as large with {later} as with {former}"
            else:
                more = "less" if seen.value < 0 else "more"
                how = f"{value.removeprefix(_MINUS)} {more} with {later} than with {former}"
            return f"{name}{common}: {said} is {how}"
    unit = " times" if seen.measure == "change" and seen.unit == "ratio" else ""
    return f"{name}{', ' if name else ''}{readable(seen.what, study)}: {value}{unit}"


def _pair(a: str, b: str, unit: str, study: Study | None) -> tuple[str, str]:
    """Two sides as a ratio or a difference, without the levels that they share, and these."""
    # An extreme may name where it was found: `the greatest of os xp (at stations 4, …)`.
    texts = [side.partition(" (at ")[0] for side in (a, b)]
    taken = [text[: text.find(" of ") + 4] if text[:4] == "the " else "" for text in texts]
    parts = [text.removeprefix(of).split(", ") for text, of in zip(texts, taken, strict=True)]
    both = [one for one in parts[0] if one in parts[1]]
    rests = [", ".join(one for one in each if one not in both) for each in parts]
    own = [readable(f"{of}{rest}", study) for of, rest in zip(taken, rests, strict=True)]
    said = f"{own[0]} / {own[1]}" if unit == "ratio" else f"{own[0]} minus {own[1]}"
    return said, readable(", ".join(both), study)


def _trials(counts: Sequence[int]) -> str:
    least, most = min(counts, default=0), max(counts, default=0)
    if len(counts) < 2:
        return counted(most, "trial")
    return f"{'' if least == most else f'{least} to '}{counted(most, 'trial')} each"


def _ends(one: Judged, study: Study | None) -> str:
    if one.low == one.high or not (math.isfinite(one.low) or math.isfinite(one.high)):
        return ""
    if not math.isfinite(one.low) or not math.isfinite(one.high):
        # A published bound, or a one-sided interval.
        end, word = (one.low, "least") if math.isfinite(one.low) else (one.high, "most")
        return f" (at {word} {_value(one, end, study)})"
    wide = _TOO_WIDE * abs(one.comparison.value)
    if one.comparison.is_tested and one.high > wide > 0:
        return f" (interval wider than a factor of {_TOO_WIDE:g})"
    low, high = (_value(one, end, study) for end in (one.low, one.high))
    digits = "rounding allows " if one.comparison.basis == "as printed" else ""
    return f" ({digits}{_without_unit(low, high)} … {high})"


def _without_unit(low: str, high: str) -> str:
    """The lower end without a unit that the upper end has too."""
    number, _, unit = low.partition(" ")
    return number if unit and high.endswith(f" {unit}") else low


def claim_text(one: Judged, study: Study | None) -> str:
    seen = one.comparison
    least = None if seen.least is None else _value(one, seen.least, study, chosen=True)
    most = None if seen.most is None else _value(one, seen.most, study, chosen=True)
    if least is not None and most is not None:
        if seen.least == -(seen.most or 0.0):
            return f"claimed within ± {most}"
        return f"claimed {_without_unit(least, most)} to {most}"
    if least is not None:
        return f"claimed {'above' if seen.is_strict else 'at least'} {least}"
    return f"claimed {'below' if seen.is_strict else 'at most'} {most}"


def _value(one: Judged, value: float, study: Study | None, *, chosen: bool = False) -> str:
    if not math.isfinite(value):
        return "any"
    unit = one.comparison.unit
    if unit == "share":
        return f"{plain(100 * value)} %" if chosen else percent(value)
    if unit == "ratio":
        return plain(float(f"{value:.4g}")) if chosen else number(value)
    shown = quantity(study, one.comparison.metric)
    if chosen:
        return f"{plain(shown.shown(value))} {shown.unit}".strip()
    return shown.text(value)


#: A factor with its levels in lanlab's units, or a metric.
_KEY = re.compile(
    r"\b(ip_version|stations|[a-z][a-z0-9_]*_(?:bps|ns|bytes|ratio|per_s|s))\b"
    r"(?: (\d[\d.e+]*(?:(?: \| | to )\d[\d.e+]*)*))?"
)
_MINUS = "\N{MINUS SIGN}"
_LEVEL = re.compile(r"\d[\d.e+]*")
#: Factors whose levels name them.
_SELF_TOLD = ("ip_version", "stations")


def readable(text: str, study: Study | None) -> str:
    """
    The text with display names in place of keys.

    Examples:
        >>> readable("(ip_version 4) / (ip_version 6) at os xp, message_size_bytes 384", None)
        '(IPv4) / (IPv6) at os xp, message size 384 B'
        >>> readable("no goodput_bps is published at message_size_bytes 2 | 500", None)
        'no goodput is published at message size 2 B or 500 B'
        >>> readable("only at stations 1 | 4 | 15", None)
        'only at 1, 4 or 15 stations'
        >>> readable("elapsed_wall_ns / elapsed_ns at test speedtest", None)
        'time by a wall clock / elapsed time at test speedtest'
    """
    text = _KEY.sub(lambda found: _named(found[1], found[2], study), text)
    if study is None:
        return text
    for key, titles in level_titles(study).items():
        any_of = "|".join(map(re.escape, sorted(titles, key=len, reverse=True)))
        listed = re.compile(rf"\b{re.escape(key)} ((?:{any_of})(?: \| (?:{any_of}))*)(?![\w-])")
        for found in reversed(list(listed.finditer(text))):
            named = joined([titles[level] for level in found[1].split(" | ")], "or")
            text = f"{text[: found.start()]}{named}{text[found.end() :]}"
    return text


def _named(key: str, levels: str | None, study: Study | None) -> str:
    name = quantity(study, key).name
    if levels is None:
        return name
    listed = _LEVEL.sub(lambda one: _level(key, one[0], study), levels).split(" | ")
    shown = joined(listed, "or")
    if key == "stations":
        return f"{shown} station{'' if levels == '1' else 's'}"
    return shown if key in _SELF_TOLD else f"{name} {shown}"


def _level(key: str, level: str, study: Study | None) -> str:
    if key == "ip_version":
        return f"IPv{level}"
    number = float(level)
    if key == "stations":
        return plain(number)
    if study is not None:
        return level_text(study, key, number)
    shown = quantity(None, key)
    return f"{shown.shown(number):g} {shown.unit}".strip()
