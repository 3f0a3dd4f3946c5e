"""A condition is validated once, and travels validated from the study to its trials."""

from typing import Any

import pytest

from lanlab.plan.conditions import expand
from lanlab.plan.plan import Plan
from lanlab.studies.load import parse_study
from lanlab.workloads import WORKLOADS

STUDY = {
    "schema": 1,
    "id": "sizes",
    "title": "Sizes",
    "testbed": {"hosts": 2},
    "experiment": [
        {
            "id": "one",
            "title": "One",
            "workload": "stream",
            "metrics": ["goodput_bps"],
            "parameters": {"time_s": 0.125, "rate_bps": "3M"},
            "factors": {"message_size_bytes": [77, "1KiB"]},
        }
    ],
    "scale": {"quick": {"trials": {"min": 1, "max": 1}}},
}


def test_loading_planning_and_running_validate_each_condition_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    validated: list[Any] = []
    model = WORKLOADS["stream"].Parameters
    validate = model.model_validate

    def counted(given: Any, **settings: Any) -> Any:
        validated.append(given["message_size_bytes"])
        return validate(given, **settings)

    monkeypatch.setattr(model, "model_validate", counted)

    study = parse_study(STUDY, "sizes.toml")
    plan = Plan(study, "quick", 1)
    expand(study, "quick")
    planned = plan.next_trial()

    assert validated == [77, "1KiB"]
    assert planned is not None
    assert any(planned.values is condition.values for condition in plan.conditions())
    assert planned.parameters == planned.values.model_dump(exclude_none=True)


def test_levels_that_compare_equal_are_validated_separately() -> None:
    from pydantic import ValidationError

    from lanlab.studies.scaling import validated

    assert validated("stream", {"time_s": 0.375, "message_size_bytes": 1})
    with pytest.raises(ValidationError):
        validated("stream", {"time_s": 0.375, "message_size_bytes": True})
