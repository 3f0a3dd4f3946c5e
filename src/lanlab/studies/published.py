"""
The published part of a study: numbers, tables, figures, and their errors.

All are in `published.toml` next to the study. It quotes no sentence of a publication, only numbers
as they were printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from lanlab.studies.base import Data, DottedIdentifier, Level, Several, is_level

#: The kind of number. A `trial` number names its trial in its condition. A ratio of 2 is "twice as
#: fast", a gain of 0.15 "15 % faster", a deficit of 0.15 "15 % slower"; each names the two compared
#: series in its condition. A mean is the number that represents a condition, whether from one trial
#: or several.
Statistic = Literal[
    "trial",
    "mean",
    "sd",
    "minimum",
    "maximum",
    "difference",
    "ratio",
    "gain",
    "deficit",
    "share_of_link",
    "level",
    "fact",
]

#: Where the number is: in a table; in the text; repeated in the text (abstract or conclusion); in
#: the test bed's description; in related work; on the cover page; or only derived from others.
Kind = Literal["table", "text", "restated", "testbed", "related", "cover", "derived"]

Status = Literal["approximate", "heading lost", "OCR repaired", "wrong", "column uncertain"]


class _Printed(Data):
    id: DottedIdentifier
    #: Key of a trial's results if there is one (`goodput_bps`, `rtt_mean_ns`), else a descriptive
    #: name of the quantity.
    metric: str
    statistic: Statistic
    #: The number exactly as printed; empty for a derived number.
    published: str
    #: The printed or implied unit; empty for a bare number.
    unit: str
    where: str
    kind: Kind = "text"
    #: Levels that the number belongs to. Keys that are not parameters of a workload (`os`, `host`)
    #: name a published series; `numerator` and `denominator` name the two sides of a ratio.
    condition: dict[str, Level] = Field(default_factory=dict)
    note: str | None = None


class PublishedValue(_Printed):
    value: float
    #: In lanlab's units: bit/s, ns, bytes, Hz, ratio, or a count.
    si: float
    si_unit: str
    #: Value of `si` if a published kilo is 1024, for studies that do not define it.
    si_if_1024: float | None = None
    status: Status | None = None
    #: Set if the number is a bound rather than a value; `<~` is "almost".
    bound: Literal[">=", "<=", "<", ">", "~", "<~"] | None = None
    #: The corresponding experiment of the study; absent: any experiment with this metric.
    experiment: str | None = None


class MissingValue(_Printed):
    """
    A number of the study that is lost.

    It has its own key in the file, `missing`, so that nothing can compute with it.
    """

    status: Literal["missing"]
    #: Range in `unit` that other numbers imply.
    feasible: Several[float] | None = Field(default=None, min_length=2, max_length=2)
    #: The same range, if the other numbers were truncated and not rounded.
    feasible_if_truncated: Several[float] | None = Field(default=None, min_length=2, max_length=2)


class PublishedLevel(Data):
    level: Level
    title: str


class PublishedFactor(Data):
    name: str
    title: str
    #: In the order of the study; empty for numbers that the study does not list.
    levels: Several[PublishedLevel] = ()
    note: str | None = None


class PublishedMetric(Data):
    name: str
    title: str
    #: lanlab's unit.
    unit: str
    note: str | None = None


class TablePart(Data):
    """A row or a column of a table, with what its cells have in common."""

    title: str
    metric: str | Several[str] | None = None
    statistic: Statistic | None = None
    at: dict[str, Level] = Field(default_factory=dict)


class PublishedTable(Data):
    """A table of the study in its published layout. Its cells are numbers, matched by condition."""

    id: DottedIdentifier
    title: str
    #: The `where` of the table's numbers equals this, or begins with this and a comma.
    where: str
    #: Either: a row for each combination of these factors' levels in the table.
    row_factors: Several[str] = ()
    rows: Several[TablePart] = ()
    columns: Several[TablePart] = Field(min_length=1)
    note: str | None = None

    @model_validator(mode="after")
    def _has_rows_of_one_sort(self) -> PublishedTable:
        if bool(self.row_factors) == bool(self.rows):
            raise ValueError("exactly one of `row_factors` and `rows`")
        return self


class PublishedFigure(Data):
    number: str
    shows: str
    x: str = ""
    y: str = ""
    series: Several[str] = ()
    plot: Literal["lost"]


class Lost(Data):
    what: str
    consequence: str


class Discrepancy(Data):
    id: DottedIdentifier
    kind: Literal[
        "unit", "arithmetic", "precision", "physics", "logic", "design", "text", "citation", "scan"
    ]
    where: str
    stated: str
    evidence: str
    correct: str | None = None
    #: A `major` one changes a conclusion, a `minor` one a number or a name; a `note` limits the
    #: possible conclusions; a `scan` error is only in the surviving copy.
    severity: Literal["major", "minor", "note", "scan"]
    #: A true expression over published numbers (`lanlab.studies.expressions`) as evidence.
    recompute: str | None = None


class Published(Data):
    """A whole `published.toml`."""

    schema_version: Literal[1] = Field(alias="schema")
    value: Several[PublishedValue] = ()
    missing: Several[MissingValue] = ()
    metric: Several[PublishedMetric] = ()
    factor: Several[PublishedFactor] = ()
    table: Several[PublishedTable] = ()
    figure: Several[PublishedFigure] = ()
    lost: Several[Lost] = ()
    discrepancy: Several[Discrepancy] = ()

    @property
    def printed(self) -> Iterator[PublishedValue | MissingValue]:
        yield from self.value
        yield from self.missing

    def named_level(self, factor: str, level: Level) -> PublishedLevel | None:
        """The description of a level; `None` if it was not published."""
        for one in self.factor:
            if one.name == factor:
                return next((each for each in one.levels if is_level(each.level, level)), None)
        return None

    def numbers(self) -> dict[str, float]:
        return {value.id: value.value for value in self.value}
