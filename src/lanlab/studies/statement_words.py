"""Statements of findings in words: short, exact, and the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from lanlab.studies import findings as forms
from lanlab.studies.base import Level
from lanlab.studies.findings import Statement
from lanlab.studies.plain_level import plain_level
from lanlab.studies.selection import Selection


def in_words(statement: forms.Statement, units: Mapping[str, str], metric: str = "") -> str:
    """
    A statement in words.

    Args:
        units: lanlab's unit of each metric.
        metric: The metric of the enclosing statement; a metric is named only if it differs.

    Examples:
        >>> finding = forms.Finding.model_validate({"id": "f", "claim": "", "statement": {
        ...     "form": "less", "metric": "goodput_bps", "a": {"os": "xp"}, "b": {"os": "vista"},
        ...     "for_each": ["ip_version"]}})
        >>> in_words(finding.statement, {})
        'goodput_bps: (os xp) below (os vista); for each ip_version'
    """
    own = statement.at.metric or statement.metric or metric
    parts = [
        own if own != metric else "",
        f"at {_selection(statement.at)}" if _selection(statement.at) else "",
    ]
    opening = " ".join(filter(None, parts))
    closing = f"; for each {', '.join(statement.for_each)}" if statement.for_each else ""
    core = _core(statement, units, own)
    return f"{opening}: {core}{closing}" if opening else f"{core}{closing}"


def _core(statement: Statement, units: Mapping[str, str], metric: str) -> str:
    unit = units.get(metric, "")
    pair = (_side(getattr(statement, "a", None)), _side(getattr(statement, "b", None)))
    match statement:
        case forms.Less(by_ratio=ratio):
            more = f" by a factor of {ratio:g}" if ratio > 1 else ""
            return f"{pair[0]} below {pair[1]}{more}"
        case forms.Order(along=along, levels=levels):
            return f"in the order {along} {_levels(along, levels, f' < {along} ')}"
        case forms.Ratio():
            return f"{pair[0]} / {pair[1]} {_bounds(statement)}"
        case forms.Difference():
            return f"{pair[0]} - {pair[1]} {_bounds(statement, unit)}"
        case forms.Equivalent(margin_ratio=ratio, margin=margin):
            within = _quantity(margin, unit) if margin is not None else _percent(ratio)
            return f"{pair[0]} and {pair[1]} alike within {within}"
        case forms.Value():
            return _bounds(statement, unit)
        case forms.Share():
            return f"as a share of what the link can carry {_bounds(statement)}"
        case forms.Monotone(along=along, direction=direction):
            return f"{direction} with each step of {along}"
        case forms.Trend(along=along, direction=direction):
            return f"{direction} along {along} on the whole"
        case forms.NoTrend(along=along, margin_ratio=ratio):
            return f"no drift along {along} of more than {_percent(ratio)}"
        case forms.PeakThenDecline(along=along, peak_at_most=level, decline_ratio=ratio):
            where = "" if level is None else f" up to {along} {_levels(along, level)}"
            falls = f" by {_percent(ratio)} at least" if ratio else ""
            return f"a peak along {along}{where}, then a fall{falls}"
        case forms.Extreme(along=along, at_level=level, kind=kind, only=only, a=a):
            what = f" {pair[0]} - {pair[1]}" if a is not None else ""
            where = f"{along} {_levels(along, level)}{', and nowhere else' if only else ''}"
            return f"{kind}{what} at {where}"
        case forms.Sign(along=along, positive=above, negative=below):
            signs = [
                f"{word} at {along} {_levels(along, levels)}"
                for word, levels in (("positive", above), ("negative", below))
                if levels
            ]
            return f"{pair[0]} - {pair[1]} {', '.join(signs)}"
        case forms.SameOrder(along=along, across=across):
            return f"the same order along {along} at every {across}"
        case forms.Clusters(along=along, groups=groups, by_ratio=ratio):
            more = f", by a factor of {ratio:g}" if ratio > 1 else ""
            each = (f"({along} {_levels(along, group)})" for group in groups)
            return f"{' below '.join(each)}{more}"
        case forms.Widens(along=along, direction=direction, by=by):
            sign = "-" if by == "difference" else "/"
            return f"{pair[0]} {sign} {pair[1]} {direction} along {along}"
        case forms.Count(of=inner, over=over):
            said = in_words(inner, units, metric)
            return f"of the combinations of {', '.join(over)} {_bounds(statement)} with: {said}"
        case forms.AllOf(of=inner):
            return "; and ".join(f"({in_words(one, units, metric)})" for one in inner)
        case forms.AnyOf(of=inner):
            return "; or ".join(f"({in_words(one, units, metric)})" for one in inner)
        case forms.Untestable(why=why):
            return f"nothing to compute: {why}"
        case forms.Former(form=form):
            return f"form `{form}` of an earlier version"
    raise TypeError(f"unknown statement form {statement!r}")


def _selection(selection: Selection) -> str:
    said = [f"{key} {_levels(key, levels)}" for key, levels in selection.levels.items()]
    if selection.take in ("least", "greatest"):
        said.append(f"the {selection.take}")
    return ", ".join(said)


def _side(selection: Selection | None) -> str:
    if selection is None:
        return ""
    said = " ".join(filter(None, (selection.metric, _selection(selection))))
    return f"({said})" if said else "each"


def _levels(factor: str, levels: Level | tuple[Level, ...], between: str = " | ") -> str:
    each = levels if isinstance(levels, tuple) else (levels,)
    return between.join(str(plain_level(factor, level)) for level in each)


def _bounds(statement: forms.Bounded, unit: str = "") -> str:
    least, most = statement.min, statement.max
    if least is not None and most is not None:
        return f"{_quantity(least, '')} to {_quantity(most, unit)}"
    if most is not None:
        return f"at most {_quantity(most, unit)}"
    assert least is not None
    return f"at least {_quantity(least, unit)}"


def _quantity(number: float, unit: str) -> str:
    return f"{number:,.10g} {unit}".rstrip()


def _percent(ratio: float | None) -> str:
    return f"{100 * (ratio or 0):g} %"
