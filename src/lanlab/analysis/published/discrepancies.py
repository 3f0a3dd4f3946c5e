"""Where a publication contradicts itself, each case recomputed from its published values."""

from __future__ import annotations

from typing import get_args

from lanlab.frozen import dataclass
from lanlab.studies.expressions import BadExpression, evaluate
from lanlab.studies.published import Discrepancy, Published

KINDS: tuple[str, ...] = get_args(Discrepancy.model_fields["kind"].annotation)
SEVERITIES: tuple[str, ...] = get_args(Discrepancy.model_fields["severity"].annotation)


@dataclass(frozen=True)
class Checked:
    discrepancy: Discrepancy
    #: Whether its expression holds for the published values; `None` if it has no expression, or the
    #: expression cannot be computed.
    shown: bool | None


def checked_discrepancies(published: Published) -> tuple[Checked, ...]:
    ordered = sorted(
        published.discrepancy,
        key=lambda one: (KINDS.index(one.kind), SEVERITIES.index(one.severity)),
    )
    numbers = published.numbers()
    return tuple(Checked(one, _recomputed(one, numbers)) for one in ordered)


def _recomputed(one: Discrepancy, numbers: dict[str, float]) -> bool | None:
    if one.recompute is None:
        return None
    try:
        return evaluate(one.recompute, numbers.__getitem__) is True
    except BadExpression:
        return None
