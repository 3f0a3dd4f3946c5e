"""The plan: which trial comes next."""

from typing import TYPE_CHECKING

from lanlab.lazily import names_of
from lanlab.plan.conditions import Condition, expand
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.plan.running import Estimate, Outcome

if TYPE_CHECKING:
    from lanlab.plan.random_loss import Observation, RandomLoss
    from lanlab.plan.search import SearchState
    from lanlab.plan.search_rule import GoalResult, SearchResult, SearchRule
else:
    __getattr__ = names_of(
        __name__,
        {
            "random_loss": ("Observation", "RandomLoss"),
            "search": ("SearchState",),
            "search_rule": ("GoalResult", "SearchResult", "SearchRule"),
        },
    )

__all__ = [
    "Condition",
    "Estimate",
    "GoalResult",
    "Observation",
    "Outcome",
    "Plan",
    "PlannedTrial",
    "RandomLoss",
    "SearchResult",
    "SearchRule",
    "SearchState",
    "expand",
]
