"""The plan: which trial comes next."""

from lanlab.plan.conditions import Condition, expand
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.plan.random_loss import Observation, RandomLoss
from lanlab.plan.running import Estimate, Outcome
from lanlab.plan.search import SearchState
from lanlab.plan.search_rule import GoalResult, SearchResult, SearchRule

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
