"""The plan: which trial comes next."""

from lanlab.plan.conditions import Condition, expand, searched
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.plan.running import Estimate, Outcome
from lanlab.plan.search import GoalResult, SearchResult, SearchRule, SearchState

__all__ = [
    "Condition",
    "Estimate",
    "GoalResult",
    "Outcome",
    "Plan",
    "PlannedTrial",
    "SearchResult",
    "SearchRule",
    "SearchState",
    "expand",
    "searched",
]
