"""What in a publication does not fit, each recomputed from its printed numbers."""

from __future__ import annotations

from lanlab.frozen import dataclass
from lanlab.studies import Published
from lanlab.studies.expressions import BadExpression, evaluate
from lanlab.studies.published import Discrepancy

#: Units first, as an error there changes every number; then the gravest kinds.
KINDS = (
    "unit",
    "arithmetic",
    "precision",
    "physics",
    "logic",
    "design",
    "text",
    "citation",
    "scan",
)
SEVERITIES = ("major", "minor", "note", "scan")


@dataclass(frozen=True)
class Doubt:
    """A discrepancy, and whether the printed numbers still show it."""

    discrepancy: Discrepancy
    #: Whether its expression holds over the printed numbers; `None` where there is none, or it
    #: cannot be computed.
    shown: bool | None


def doubts(published: Published) -> tuple[Doubt, ...]:
    """Every discrepancy, by kind and then the gravest first."""
    ordered = sorted(
        published.discrepancy,
        key=lambda one: (KINDS.index(one.kind), SEVERITIES.index(one.severity)),
    )
    numbers = published.numbers()
    return tuple(Doubt(one, _recomputed(one, numbers)) for one in ordered)


def _recomputed(one: Discrepancy, numbers: dict[str, float]) -> bool | None:
    if one.recompute is None:
        return None
    try:
        return evaluate(one.recompute, numbers.__getitem__) is True
    except BadExpression:
        return None
