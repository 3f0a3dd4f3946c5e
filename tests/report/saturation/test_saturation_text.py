"""A search on a disturbed host gives a lower bound; nothing lies above what the link carries."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from lanlab.analysis.saturation.capacity import Load
from lanlab.analysis.saturation.search import GoalFound, Saturation, _possible
from lanlab.plan.search_rule import GoalResult
from lanlab.report.saturation.saturation_text import saturation_sentence
from lanlab.studies.load import load_study

_STUDY = load_study("milanovic-srbljic").study
#: bit/s of 500-byte UDP messages on an Ethernet of 10 Mbit/s.
_LIMIT = 8.8339e6


def _trial(number: int, *, disturbed: bool) -> Any:
    parameters = {"transport": "udp", "message_size_bytes": 500}
    return SimpleNamespace(
        number=number, purpose="search", is_disturbed=disturbed, status="done",
        parameters=parameters, experiment="udp-500-saturation", factors={}, block=number, raw={},
    )  # fmt: skip


def _search(goal: GoalFound, disturbed: int) -> Saturation:
    steps = tuple(_trial(number, disturbed=number < disturbed) for number in range(10))
    return Saturation(
        experiment="udp-500-saturation", factor="rate_bps", metric="goodput_ratio", goals=(goal,),
        sender_limit=None, limit=_LIMIT, capacity=None, random_loss=None, is_gradual=False,
        steps=steps,
    )  # fmt: skip


def test_a_disturbed_host_gives_a_lower_bound_first() -> None:
    result = GoalResult(0.0, "found", lower=8.752e6, upper=9e6)
    found = _search(GoalFound(result, "found", None, None), disturbed=6)
    assert saturation_sentence(_STUDY, found).startswith(
        "The network carries at least 1,094 kB/s of 500-byte UDP messages without loss "
        "(99.1 % of what this Ethernet can carry); an exact limit needs a quieter machine: the "
        "host was disturbed in 6 of the 10 trials"
    )
    quiet = _search(GoalFound(result, "found", None, None), disturbed=5)
    assert "quieter" not in saturation_sentence(_STUDY, quiet)


def test_a_disturbed_host_without_a_bound_gives_no_answer() -> None:
    goal = GoalFound(GoalResult(0.0, "below_low", upper=8e5), "below_low", None, None)
    assert "is not known" in saturation_sentence(_STUDY, _search(goal, disturbed=10))


def test_bounds_never_exceed_the_link() -> None:
    result = GoalResult(0.0, "found", lower=8.8e6, upper=9e6)
    goal = GoalFound(result, "found", Load(8.9e6, 8.7e6, 9.4e6, 0.01), None)
    assert _possible(goal, _LIMIT).load == Load(_LIMIT, 8.7e6, _LIMIT, 0.01)
    # Where a hundredth may be lost, as much more may be sent.
    lossy = replace(goal, result=replace(result, loss_ratio=0.01))
    assert _possible(lossy, _LIMIT).load == Load(8.9e6, 8.7e6, _LIMIT / 0.99, 0.01)
    assert "(100 % of what this Ethernet can carry)" in saturation_sentence(
        _STUDY, _search(_possible(lossy, _LIMIT), disturbed=0)
    )
