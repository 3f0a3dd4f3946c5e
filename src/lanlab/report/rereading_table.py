"""The numbers behind the reading of published data, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from lanlab.analysis.rereading_doubts import Doubt
from lanlab.analysis.rereading_order import OrderDrift
from lanlab.analysis.rereading_pairs import PrintedPair
from lanlab.analysis.rereading_rates import CheckedRate
from lanlab.figures.number_text import number
from lanlab.figures.published_values import level_title
from lanlab.figures.wording import quantity
from lanlab.report.comparison_text import p_text
from lanlab.report.rereading_text import at_text, printed_text
from lanlab.report.table import EMPTY, Cell, Column, Table, words
from lanlab.studies import Published, Study


def drift_table(study: Study, published: Published, found: Sequence[OrderDrift]) -> Table:
    """The slope of every group of conditions."""
    columns = (
        Column("metric", is_number=False),
        Column("conditions of", "conditions of", is_number=False),
        Column("conditions", "conditions"),
        Column("trials", "trials"),
        Column("slope (SI unit a trial)"),
        Column("slope 95 % low"),
        Column("slope 95 % high"),
        Column("", "slope a trial, 95 %"),
        Column("p", "p"),
        Column("p, Holm", "p, Holm"),
        Column("Kendall's tau", "Kendall's tau"),
        Column("p of tau", "p of tau"),
        Column("why not", "", is_number=False),
    )
    rows = []
    for one in found:
        shown, drift = quantity(study, one.metric), one.drift
        where = words(at_text(published, one.common))
        count = Cell(len(one.trials), str(len(one.trials)))
        if drift is None:
            n = sum(len(trials.values) for trials in one.trials)
            rows.append(
                (
                    words(one.metric),
                    where,
                    count,
                    Cell(n, str(n)),
                    *[EMPTY] * 3,
                    words(f"none: {one.why}"),
                    *[EMPTY] * 4,
                    words(one.why),
                )
            )
            continue
        text = " … ".join(number(shown.shown(end), 3) for end in (drift.low, drift.high))
        slope = f"{number(shown.shown(drift.slope), 3)} ({text}) {shown.unit}".strip()
        rows.append(
            (
                words(one.metric),
                where,
                count,
                Cell(drift.n, str(drift.n)),
                *(Cell(value, "") for value in (drift.slope, drift.low, drift.high)),
                Cell(None, slope),
                Cell(drift.p, p_text(drift.p)),
                Cell(one.p_holm, p_text(one.p_holm)),
                Cell(drift.tau, number(drift.tau, 2)),
                Cell(drift.tau_p, p_text(drift.tau_p)),
                EMPTY,
            )
        )
    return Table("reread-drift", "Drift of printed trials", columns, tuple(rows))


def pair_table(study: Study, published: Published, found: Sequence[PrintedPair]) -> Table:
    """Every pair of printed means that could be tested."""
    columns = (
        Column("metric", "metric", is_number=False),
        Column("factor", "factor", is_number=False),
        Column("at", "at", is_number=False),
        Column("a", "a", is_number=False),
        Column("b", "b", is_number=False),
        Column("mean a (SI unit)"),
        Column("mean b (SI unit)"),
        Column("a - b (SI unit)"),
        Column("95 % low"),
        Column("95 % high"),
        Column("", "a less b, 95 %"),
        Column("p", "p"),
        Column("p, Holm", "p, Holm"),
        Column("least p with lost trials"),
        Column("greatest p with lost trials"),
        Column("", "p with any lost trial"),
        Column("from", "from", is_number=False),
    )
    rows = []
    for one in found:
        shown, test = quantity(study, one.metric), one.test
        text = one.why
        if test is not None:
            ends = " … ".join(number(shown.shown(end), 3) for end in (test.low, test.high))
            text = f"{number(shown.shown(test.effect), 3)} ({ends}) {shown.unit}".strip()
        ps = one.p_range or (None, None)
        rows.append(
            (
                words(one.metric),
                words(one.factor),
                words(at_text(published, one.at)),
                words(level_title(published, one.factor, one.a)),
                words(level_title(published, one.factor, one.b)),
                Cell(one.mean_a, ""),
                Cell(one.mean_b, ""),
                *(
                    Cell(value, "")
                    for value in (
                        (None, None, None) if test is None else (test.effect, test.low, test.high)
                    )
                ),
                Cell(None, text),
                EMPTY if test is None else Cell(test.p_two_sided, p_text(test.p_two_sided)),
                Cell(one.p_holm, p_text(one.p_holm)),
                Cell(ps[0], ""),
                Cell(ps[1], ""),
                Cell(None, " to ".join(p_text(p) for p in one.p_range or ())),
                words(one.source),
            )
        )
    return Table("reread-pairs", "Pairs of printed means", columns, tuple(rows))


def rate_table(study: Study, published: Published, found: Sequence[CheckedRate]) -> Table:
    """Every printed rate with the rate that amount and time make."""
    columns = (
        Column("condition", "condition", is_number=False),
        Column("amount (bytes)", "bytes"),
        Column("time as printed", "time", is_number=False),
        Column("rate as printed", "printed rate", is_number=False),
        Column("rate (bit/s)"),
        Column("from amount and time, least (bit/s)"),
        Column("from amount and time, greatest (bit/s)"),
        Column("", "from amount and time"),
        Column("follows", "follows", is_number=False),
        Column("follows with 1000", is_number=False),
    )
    rows = []
    for one in found:
        per = one.rate.si / one.rate.value
        ends = [number(end / per, 4) for end in (one.low_bps, one.high_bps)]
        between = ends[0] if ends[0] == ends[1] else " to ".join(ends)
        time = "the mean of its trials" if one.from_trials else printed_text(one.time)
        rows.append(
            (
                words(at_text(published, one.rate.condition)),
                Cell(one.amount_bytes, number(one.amount_bytes, 12).split(".")[0]),
                words(time),
                words(printed_text(one.rate)),
                Cell(one.rate.si, ""),
                Cell(one.low_bps, ""),
                Cell(one.high_bps, ""),
                Cell(None, f"{between} {one.rate.unit}"),
                Cell(one.follows, "yes" if one.follows else "no"),
                Cell(one.follows_with_1000, ""),
            )
        )
    return Table("reread-rates", "Rates from amounts and times", columns, tuple(rows))


def doubt_table(found: Sequence[Doubt]) -> Table:
    """Every discrepancy with its place."""
    headings = ("id", "kind", "severity", "where", "the study says", "but", "correct")
    columns = (
        *(Column(name, name, is_number=False) for name in headings),
        Column("the printed numbers show it", "the printed numbers show it", is_number=False),
    )
    rows = []
    for doubt in found:
        one = doubt.discrepancy
        texts = (one.id, one.kind, one.severity, one.where, one.stated, one.evidence)
        shown = {True: "yes", False: "no", None: "nothing to compute"}[doubt.shown]
        rows.append((*map(words, texts), words(one.correct or ""), Cell(doubt.shown, shown)))
    return Table(
        "reread-discrepancies", "Places where the study contradicts itself", columns, tuple(rows)
    )
