"""What people write in study files is taken, or the word that is meant is named."""

from typing import Any

import pytest

from lanlab.errors import BadStudy
from lanlab.studies.load import parse_study


def a_study(**statement: Any) -> dict[str, Any]:
    sides = {"a": {"rate_bps": "1M"}, "b": {"rate_bps": "2M"}}
    along = {"along": "rate_bps"}
    parts = along if statement["form"] in ("trend", "no_trend", "extreme") else sides
    return {
        "schema": 1,
        "id": "own",
        "title": "Own",
        "experiment": [
            {
                "id": "rates",
                "title": "Rates",
                "workload": "stream",
                "metrics": ["goodput_bps"],
                "parameters": {"time_s": 1},
                "factors": {"rate_bps": ["1M", "2M"]},
            }
        ],
        "scale": {"quick": {"trials": {"relative_ci": "2.5%", "min": 3, "max": 9}}},
        "finding": [
            {
                "id": "f",
                "claim": "C.",
                "statement": {"metric": "goodput_bps", **parts, **statement},
            }
        ],
    }


@pytest.mark.parametrize("form", ["equivalent", "no_trend"])
def test_a_margin_may_be_written_in_per_cent(form: str) -> None:
    study = parse_study(a_study(form=form, margin_ratio="5%"), "own.toml")

    statement: Any = study.finding[0].statement
    assert statement.margin_ratio == 0.05
    assert study.scale["quick"].trials.relative_ci == 0.025


@pytest.mark.parametrize(
    ("statement", "found", "hint"),
    [
        ({"form": "equal"}, "'equal'", "did you mean `equivalent` with `margin_ratio`?"),
        ({"form": "within"}, "'within'", "did you mean `equivalent` with `margin_ratio`?"),
        (
            {"form": "greater"},
            "'greater'",
            "did you mean `less` with `a` and `b` the other way round?",
        ),
        ({"form": "between"}, "'between'", "did you mean `value` with `min`, `max` or both?"),
        ({"form": "equivalant"}, "'equivalant'", "did you mean `equivalent`?"),
        ({"form": "equivalent", "tolerance": 0.1}, "unknown key", "did you mean `margin_ratio`?"),
        ({"form": "ratio", "at_least": 2}, "unknown key", "did you mean `min`?"),
        ({"form": "trend", "direction": "increasing"}, "'increasing'", "did you mean `rising`?"),
        (
            {"form": "extreme", "at_level": "1M", "kind": "max"},
            "'max'",
            "did you mean `greatest`?",
        ),
        ({"form": "ratio", "min": "5M"}, "'5M'", "write a number, in the metric's SI unit"),
        ({"form": "equivalent", "margin_ratio": "five"}, "'five'", "a share such as `5%`"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unknown_word_gets_a_suggestion(
    statement: dict[str, Any], found: str, hint: str
) -> None:
    with pytest.raises(BadStudy) as caught:
        parse_study(a_study(**statement), "own.toml")

    said = f"{caught.value.message}\n{caught.value.hint}"
    assert found in said
    assert hint in said
