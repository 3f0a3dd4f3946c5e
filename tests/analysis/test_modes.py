"""What trials were measured with, in words."""

from dataclasses import replace
from typing import Any

from planned_runs import planned_run

from lanlab.analysis.traffic.loss_places import PLACES, place_words
from lanlab.analysis.trials.modes import modes_of
from lanlab.store import TrialRecord
from lanlab.workloads.stream.losses import LOST_IN_THE_MEDIUM, NOT_RECEIVED


def trial(source: dict[str, Any], target: dict[str, Any], **changes: Any) -> TrialRecord:
    template = planned_run("milanovic-srbljic").of("udp-500")[0]
    return replace(template, raw={"sender": source, "receiver": target}, **changes)


def polled(reason: str | None, io: str = "single") -> TrialRecord:
    choice = None if reason is None else {"reason": reason}
    return trial({"io": io}, {"receive": "poll", "receive_choice": choice})


def test_a_mode_is_named_with_its_reason() -> None:
    found = modes_of(polled("it is quick"))
    assert found is not None
    assert found.words() == "one message per call, receiver polls every 200 µs (it is quick)"
    assert found.words(with_reasons=False) == "one message per call, receiver polls every 200 µs"


def test_trials_of_other_programs_have_no_modes() -> None:
    foreign = trial({"output": "text"}, {})
    assert modes_of(foreign) is None
    assert modes_of(replace(foreign, raw={})) is None


def test_every_place_of_loss_is_named_in_path_order() -> None:
    assert tuple(place for place in PLACES if place not in LOST_IN_THE_MEDIUM) == NOT_RECEIVED
    assert tuple(PLACES)[4:8] == LOST_IN_THE_MEDIUM


def test_the_link_is_blamed_only_if_all_other_places_count() -> None:
    counted = trial({}, {}, metrics=dict.fromkeys(PLACES, 0))
    blind = {key: 0 for key in PLACES if key != "lost_socket_buffer_messages"}
    assert place_words([counted]) == {"received": "received", **PLACES}
    assert place_words([counted, trial({}, {}, metrics=blind)])["lost_link_messages"] == (
        "lost on the link, or dropped in the receiver's socket buffer"
    )
