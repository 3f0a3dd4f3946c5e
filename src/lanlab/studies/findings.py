"""
Findings: conclusions of a study as statements that can be checked.

A statement has a form (`less`, `order`, …) and refers to a metric at levels of factors. The set of
forms is fixed, so that each has one meaning for any source of numbers. `docs/studies.md` explains
each form.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, model_validator

from lanlab.studies.base import Data, DottedIdentifier, Several, ShareRatio
from lanlab.studies.selection import OneLevel, Selection

MAX_STATEMENT_DEPTH = 4

Direction = Literal["rising", "falling"]


class _Statement(Data):
    metric: str | None = None
    at: Selection = Selection()
    #: The statement is judged for each combination of these factors' levels, and holds if it is
    #: true for all.
    for_each: Several[str] = ()


class _Pair(_Statement):
    a: Selection
    b: Selection


class _Along(_Statement):
    #: The factor to loop over; numeric levels ascending, others in the order of the study.
    along: str


class Bounded(_Statement):
    #: In the metric's SI unit, or a ratio; either bound may be absent.
    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Bounded:
        if self.min is None and self.max is None:
            raise ValueError("`min`, `max` or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` at most `max`")
        return self


class Less(_Pair):
    """`a` is below `b`, by at least the factor `by_ratio`."""

    form: Literal["less"]
    by_ratio: float = Field(default=1.0, ge=1)


class Order(_Along):
    form: Literal["order"]
    levels: Several[OneLevel] = Field(min_length=2)


class Ratio(Bounded):
    """`a` divided by `b` lies within bounds."""

    form: Literal["ratio"]
    a: Selection
    b: Selection


class Difference(Bounded):
    """`a` minus `b` lies within bounds."""

    form: Literal["difference"]
    a: Selection
    b: Selection


class Equivalent(_Pair):
    """`a` and `b` differ by at most a margin that is declared in advance."""

    form: Literal["equivalent"]
    #: Share of `b`.
    margin_ratio: ShareRatio | None = Field(default=None, gt=0, lt=1)
    #: In the metric's SI unit.
    margin: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_one_margin(self) -> Equivalent:
        if (self.margin_ratio is None) == (self.margin is None):
            raise ValueError("exactly one of `margin_ratio` and `margin`")
        return self


class Value(Bounded):
    form: Literal["value"]


class Share(Bounded):
    form: Literal["share"]
    of: Literal["link_limit"] = "link_limit"


class Monotone(_Along):
    form: Literal["monotone"]
    direction: Direction


class Trend(_Along):
    form: Literal["trend"]
    direction: Direction


class NoTrend(_Along):
    """From the first level to the last the metric drifts by at most a share of its mean."""

    form: Literal["no_trend"]
    margin_ratio: ShareRatio = Field(gt=0, lt=1)


class PeakThenDecline(_Along):
    form: Literal["peak_then_decline"]
    peak_at_most: OneLevel | None = None
    #: Minimum share of the peak that is lost at the last level.
    decline_ratio: ShareRatio = Field(default=0.0, ge=0, lt=1)


class Extreme(_Along):
    """The maximum (minimum) is at one level; with `a` and `b`, that of `a - b`."""

    form: Literal["extreme"]
    at_level: OneLevel
    kind: Literal["greatest", "least"]
    only: bool = False
    a: Selection | None = None
    b: Selection | None = None

    @model_validator(mode="after")
    def _has_both_or_none(self) -> Extreme:
        if (self.a is None) != (self.b is None):
            raise ValueError("`a` and `b` together, or neither")
        return self


class Sign(_Pair):
    """`a - b` is positive at some levels and negative at others."""

    form: Literal["sign"]
    along: str
    positive: Several[OneLevel] = ()
    negative: Several[OneLevel] = ()

    @model_validator(mode="after")
    def _has_levels(self) -> Sign:
        if not self.positive and not self.negative:
            raise ValueError("levels in `positive`, `negative` or both")
        return self


class SameOrder(_Along):
    """The levels of `along` have the same order at each level of `across`."""

    form: Literal["same_order"]
    across: str


class Clusters(_Along):
    """Every value of a group is below every value of the next, by the factor `by_ratio`."""

    form: Literal["clusters"]
    groups: Several[Several[OneLevel]] = Field(min_length=2)
    by_ratio: float = Field(default=1.0, ge=1)


class Widens(_Pair):
    """The difference between `a` and `b` grows (or shrinks) along a factor."""

    form: Literal["widens"]
    along: str
    direction: Direction
    by: Literal["difference", "ratio"] = "difference"


class Count(Bounded):
    """The statement holds for a bounded number of the combinations of factors' levels."""

    form: Literal["count"]
    of: Statement
    over: Several[str] = Field(min_length=1)


class AllOf(_Statement):
    form: Literal["all"]
    of: Several[Statement] = Field(min_length=1)


class AnyOf(_Statement):
    form: Literal["any"]
    of: Several[Statement] = Field(min_length=1)


class Untestable(_Statement):
    form: Literal["untestable"]
    why: str


class Former(_Statement):
    """A form of earlier versions, which the record of a user's study may have. Nothing judges it,
    and a study file must not have it.
    """

    model_config = ConfigDict(extra="ignore")

    form: Literal["knee", "threshold", "effect"]


Statement = Annotated[
    Less
    | Order
    | Ratio
    | Difference
    | Equivalent
    | Value
    | Share
    | Monotone
    | Trend
    | NoTrend
    | PeakThenDecline
    | Extreme
    | Sign
    | SameOrder
    | Clusters
    | Widens
    | Count
    | AllOf
    | AnyOf
    | Untestable
    | Former,
    Discriminator("form"),
]

FORMS: dict[str, type[Data]] = {
    get_args(form.model_fields["form"].annotation)[0]: form
    for form in get_args(get_args(Statement)[0])
    if form is not Former
}

Verdict = Literal["holds", "does not hold", "undecided", "not tested"]


class Expected(Data):
    verdict: Verdict
    #: The result by the published means alone, if random variation or a gap leaves it undecided.
    means: Literal["holds", "does not hold"] | None = None
    because: str
    #: A true expression over published numbers (`lanlab.studies.expressions`) as evidence.
    recompute: str | None = None


class Finding(Data):
    id: DottedIdentifier
    claim: str
    statement: Statement
    where: str | None = None
    note: str | None = None
    #: Source of the finding: the publication's text; its tables, if the text does not comment on
    #: them; or lanlab's own inference.
    origin: Literal["text", "tables", "ours"] = "text"
    #: Published numbers that state the claim itself, and so are not evidence for it.
    stated_by: Several[DottedIdentifier] = ()
    #: What can decide it: the published numbers; a run or a simulation; or nothing.
    decided_by: Literal["published", "simulation", "text"] | None = None
    #: Why published values do not decide it, unless `decided_by` implies the reason: the plotted
    #: numbers are lost, or nothing was measured.
    lacks: Literal["lost", "unmeasured"] | None = None
    expected: Expected | None = None


class Findings(Data):
    """A whole `findings.toml`."""

    schema_version: Literal[1] = Field(alias="schema")
    finding: Several[Finding] = ()
