"""What an engine gets of a machine, number by number, and what a machine has from another."""

from typing import Any

import pytest
from pydantic import ValidationError

from lanlab.engine import contract
from lanlab.studies import machine_numbers
from lanlab.studies.machine_numbers import NUMBERS, REQUIRED
from lanlab.studies.machines import (
    KnownMachine,
    Simulation,
    ids,
    known_machine,
    origin_text,
    place_factors,
    place_of,
)

STEPS = ("interrupt", "protocol", "receive_call", "send_call", "transmit")
FILE_STEPS = ("open_ns", "read", "write", "close_ns", "other_ns")
WHY = {"assumed": "made up for this test"}
LEAST = {name: NUMBERS[name].least for name in REQUIRED}


def known(**numbers: float) -> KnownMachine:
    return known_machine(simulation(pc={**LEAST, **numbers}), "pc")


def simulation(**machines: dict[str, Any]) -> Simulation:
    """Machines by name, with plain numbers, or numbers with an origin, or another to be like."""
    made = []
    for name, given in machines.items():
        numbers = {
            key: value if isinstance(value, dict) else {"value": value, **WHY}
            for key, value in given.items()
            if key != "like"
        }
        own = {"id": name, "title": f"the {name}", "numbers": numbers}
        made.append({**own, "like": given["like"]} if "like" in given else own)
    return Simulation.model_validate({"machine": made})


def test_omitted_machine_numbers_are_zero_or_unlimited() -> None:
    free = {"each_ns": 0, "per_byte_ps": 0}
    assert known().request() == {
        **dict.fromkeys(STEPS, free),
        "ring_frames": 1,
        "queue_frames": 1,
        "transmit_queue_frames": 1,
        "receive_buffer_bytes": 1,
        "send_buffer_bytes": 1,
        "adapter_rate_ratio": 1.0,
        "jitter_ratio": 0.0,
        "tcp": {"window_bytes": 536, "delayed_ack_ns": 0, "nagle": False},
    }
    assert known().outstanding_requests == 1


def test_each_number_of_a_machine_is_sent_in_the_units_of_an_engine() -> None:
    costs = {f"{step}_us": place + 2 for place, step in enumerate(STEPS)}
    costs |= {f"{step}_ns_per_byte": place + 12 for place, step in enumerate(STEPS)}
    sizes = {"ring_frames": 31, "queue_frames": 32, "transmit_queue_frames": 33}
    sizes |= {"receive_buffer_bytes": 34, "send_buffer_bytes": 35}
    tcp = {"mss_bytes": 536, "window_bytes": 4096, "delayed_ack_ms": 200.5, "nagle": 1}
    more = {"message_bytes": 1000, "adapter_rate_ratio": 0.5, "jitter_ratio": 0.25}
    times = {"freeze_after_ms": 20, "freeze_ms": 3, "outstanding_requests": 7}
    machine = known(**costs, **sizes, **tcp, **more, **times)
    assert machine.request() == {
        **{
            step: {"each_ns": 1000 * (place + 2), "per_byte_ps": 1000 * (place + 12)}
            for place, step in enumerate(STEPS)
        },
        **sizes,
        "message_bytes": 1000,
        "freeze": {"after_ns": 20_000_000, "for_ns": 3_000_000},
        "adapter_rate_ratio": 0.5,
        "jitter_ratio": 0.25,
        "tcp": {
            "mss_bytes": 536,
            "window_bytes": 4096,
            "delayed_ack_ns": 200_500_000,
            "nagle": True,
        },
    }
    assert machine.outstanding_requests == 7
    # An hour, in which all that waits has given up.
    assert known(freeze_after_ms=1).request()["freeze"]["for_ns"] == 3_600 * 10**9


def test_a_store_has_the_defaults_that_the_documentation_states() -> None:
    free = {"each_ns": 0, "per_byte_ps": 0}
    assert known(file_open_us=4).request()["store"] == {
        "open_ns": 4000,
        "read": free,
        "write": free,
        "close_ns": 0,
        "other_ns": 0,
        "overlaps": True,
        "block_bytes": 4096,
        "cache_blocks": 0,
        "cache_of_client": False,
        "read_ahead_blocks": 0,
        "write_behind_blocks": 0,
        "write_behind_ns": 1_000_000_000,
        "writes_full": False,
        "keeps_parts": False,
        "name_sectors": 0,
        "change_sectors": 0,
        "disk": {
            "cylinders": 1024,
            "heads": 64,
            "sectors_per_track": 64,
            "interleave": 1,
            "turn_ns": 0,
            "seek_each_ns": 0,
            "seek_per_root_ns": 0,
            "overhead_ns": 0,
            "per_byte_ps": 0,
            "elevator": False,
            "verifies": False,
        },
    }


def test_each_number_of_a_store_is_sent_in_its_own_field() -> None:
    numbers = {"files_overlap": 0, "cache_block_bytes": 512, "cache_blocks": 9}
    numbers |= {"cache_of_client": 1, "read_ahead_blocks": 2, "write_behind_blocks": 3}
    numbers |= {"write_behind_ms": 250, "write_behind_full": 1, "write_behind_parts": 1}
    numbers |= {"name_sectors": 4, "change_sectors": 5, "disk_cylinders": 615, "disk_heads": 6}
    numbers |= {"disk_sectors_per_track": 17, "disk_interleave": 7, "disk_turn_ms": 16.7}
    numbers |= {"disk_seek_ms": 8, "disk_seek_root_ms": 1.5, "disk_overhead_us": 80}
    numbers |= {"disk_ns_per_byte": 3, "disk_elevator": 1, "disk_verifies": 1}
    store = known(**numbers).request()["store"]
    assert {key: value for key, value in store.items() if key not in FILE_STEPS} == {
        "overlaps": False,
        "block_bytes": 512,
        "cache_blocks": 9,
        "cache_of_client": True,
        "read_ahead_blocks": 2,
        "write_behind_blocks": 3,
        "write_behind_ns": 250_000_000,
        "writes_full": True,
        "keeps_parts": True,
        "name_sectors": 4,
        "change_sectors": 5,
        "disk": {
            "cylinders": 615,
            "heads": 6,
            "sectors_per_track": 17,
            "interleave": 7,
            "turn_ns": 16_700_000,
            "seek_each_ns": 8_000_000,
            "seek_per_root_ns": 1_500_000,
            "overhead_ns": 80_000,
            "per_byte_ps": 3_000,
            "elevator": True,
            "verifies": True,
        },
    }


def test_an_engine_row_defines_a_number_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name, unit, range, default and help, and its place in a request."""
    toy = {"type": "integer", "default": 2000, "minimum": 0, "maximum": 9000, "help": "A toy."}
    rows = contract.properties("SimulatedTcp") | {"toy_ns": {**toy, "study": "toy_us"}}
    monkeypatch.setattr(machine_numbers, "properties", lambda _: rows)
    found = dict(machine_numbers._of_engine("SimulatedTcp", path=("tcp",)))
    kind = found["toy_us"]
    assert (kind.unit, kind.range) == ("µs", "a number, 0 to 9 µs")
    assert (kind.help, kind.default) == ("A toy. Default: 2.", 2)
    monkeypatch.setitem(NUMBERS, "toy_us", kind)
    assert known().request()["tcp"]["toy_ns"] == 2000
    assert known(toy_us=3.5).request()["tcp"]["toy_ns"] == 3500


def test_inherited_costs_are_scaled_once_with_their_source() -> None:
    slow = {"cost_ratio": 5, "protocol_us": {"value": 8, "fitted": ["a.b"]}, "ring_frames": 7}
    fast = {"like": "slow", "cost_ratio": {"value": 0.5, "fitted": ["c.d"]}, "queue_frames": 9}
    found = simulation(slow=slow, fast=fast, same={"like": "fast", "ring_frames": 3})
    slow_, fast_, same = (known_machine(found, name).numbers for name in ("slow", "fast", "same"))
    assert slow_["protocol_us"].value == 8
    assert fast_["protocol_us"].value == same["protocol_us"].value == 4
    assert fast_["protocol_us"].fitted == same["protocol_us"].fitted == {"a.b", "c.d"}
    assert fast_["protocol_us"].origin == "as of slow, by the ratio 0.5; fitted to a.b"
    assert same["protocol_us"].origin == "as of fast; as of slow, by the ratio 0.5; fitted to a.b"
    assert (fast_["ring_frames"].value, same["ring_frames"].value) == (7, 3)
    assert fast_["ring_frames"].fitted == frozenset()
    assert fast_["ring_frames"].origin == "as of slow; assumed: made up for this test"
    assert "cost_ratio" not in same and same["queue_frames"].value == 9
    assert known_machine(found, "fast").fitted == {"a.b", "c.d"}
    assert (known_machine(found, "fast").id, known_machine(found, "fast").title) == (
        "fast",
        "the fast",
    )


def test_inherited_costs_scale_with_clock_and_exponent() -> None:
    slow = {"protocol_us": 9, "clock_mhz": {"value": 50, "published": "x.clock"}, "ring_frames": 7}
    exponent = {"value": 2, "fitted": ["e.f"]}
    clock = {"like": "slow", "clock_mhz": 150}
    for own, other in (({"clock_exponent": exponent}, {}), ({}, {"clock_exponent": exponent})):
        found = simulation(slow={**slow, **other}, fast={**clock, **own, "cost_ratio": 4})
        numbers = known_machine(found, "fast").numbers
        assert numbers["protocol_us"].value == pytest.approx(9 * 4 / 9)
        assert numbers["protocol_us"].fitted == {"e.f"}
        assert numbers["protocol_us"].origin == (
            "as of slow, by the ratio 4, by the clocks, (50 / 150)^2; "
            "assumed: made up for this test"
        )
        assert numbers["ring_frames"].value == 7 and numbers["clock_mhz"].value == 150
    # Its own exponent is the one that counts.
    both = simulation(
        slow={**slow, "clock_exponent": 3}, fast={**clock, "clock_exponent": {"value": 1, **WHY}}
    )
    assert known_machine(both, "fast").numbers["protocol_us"].value == pytest.approx(3)


@pytest.mark.parametrize("lacking", ["clock_mhz", "clock_exponent", "own"])
def test_costs_stay_unscaled_if_a_clock_or_exponent_is_unknown(lacking: str) -> None:
    slow = {"protocol_us": 9, "clock_mhz": 50, "clock_exponent": 2}
    slow.pop(lacking, None)
    fast = {"like": "slow"} if lacking == "own" else {"like": "slow", "clock_mhz": 150}
    found = known_machine(simulation(slow=slow, fast=fast), "fast").numbers["protocol_us"]
    assert (found.value, found.origin) == (9, "as of slow; assumed: made up for this test")


def test_a_scaled_cost_depends_on_the_fitted_clocks() -> None:
    clocks = [{"value": 50, "fitted": ["a.b"]}, {"value": 100, "fitted": ["c.d"]}]
    slow = {"protocol_us": 9, "clock_exponent": 1, "clock_mhz": clocks[0]}
    found = simulation(slow=slow, fast={"like": "slow", "clock_mhz": clocks[1]})
    assert known_machine(found, "fast").numbers["protocol_us"].fitted == {"a.b", "c.d"}


def test_origins_are_described_in_words() -> None:
    origins = {
        "published (a.b)": {"published": "a.b"},
        "fitted to a.b, c.d": {"fitted": ["a.b", "c.d"]},
        "fitted by hand to a.b": {"fitted": ["a.b"], "by_hand": "it was near"},
        "assumed: made up for this test": WHY,
    }
    for said, origin in origins.items():
        (machine,) = simulation(pc={"protocol_us": {"value": 1, **origin}}).machine
        number = machine.numbers["protocol_us"]
        assert origin_text(number) == said
        assert number.kinds == [key for key in origin if key != "by_hand"]


PLACES = {
    "medium": [
        {"id": "bus", "link": "10M:hub", "when": {"os": "dos"}, **WHY},
        {"id": "fast", "link": "100M", **WHY},
        {"id": "never", "link": "1G", **WHY},
    ],
    "place": [
        {"when": {}, "machines": ["pc", "pc"]},
        {"when": {"transport": "udp"}, "machines": ["pc", "pc"], "medium": "fast"},
        {"when": {"nodelay": True}, "machines": ["pc", "pc"]},
    ],
    "machine": [{"id": name, "title": name} for name in ("pc", "at")],
}


def test_the_most_specific_place_sets_the_medium() -> None:
    found = Simulation.model_validate(PLACES)
    rest, udp, nodelay = found.place
    assert place_of(found, {"os": "dos"}) is rest
    assert place_of(found, {"os": "dos", "transport": "udp"}) is udp
    assert found.link_of(udp, {"os": "dos", "transport": "udp"}) == "100M"
    assert found.link_of(rest, {"os": "dos"}) == "10M:hub"
    assert found.link_of(rest, {"os": "xp"}) is None
    assert found.link_of(rest) is None and found.link_of(udp) == "100M"
    # True is not 1, which Python takes it for.
    assert place_of(found, {"nodelay": True}) is nodelay
    assert place_of(found, {"nodelay": 1}) is rest
    assert place_factors(found) == {"os", "transport", "nodelay"}
    assert place_factors(None) == frozenset()
    assert place_of(Simulation(), {"os": "dos"}) is None


def test_machines_are_named() -> None:
    found = Simulation.model_validate(PLACES)
    assert ids(found.machine) == ["at", "pc"]
    (_, at) = found.machine
    assert found.machine_named("at") is at and found.machine_named("xt") is None


@pytest.mark.parametrize(
    ("part", "one", "most"),
    [
        ("medium", {"id": "a", "link": "10M", **WHY}, 64),
        ("machine", {"id": "a", "title": ""}, 256),
        ("place", {"machines": ["a", "b"]}, 256),
        ("reading", {"value": "a", "at": {"os": "xp"}, "because": "12345678"}, 4096),
        ("held_out", "a.b", 4096),
        ("prediction", {"value": "a", "simulated": 1e-9}, 4096),
        ("baseline", {"value": "a", "guess": "1", "because": "12345678"}, 4096),
        ("range", {"value": "a", "low": 1, "high": 2}, 4096),
        ("ensemble", {"metric": "m", "numbers": ["a.b"], "members": [[1.0]]}, 64),
        ("missing", {"finding": "a", "mechanism": "12345678"}, 4096),
    ],
)
def test_machine_files_are_limited_in_size(part: str, one: Any, most: int) -> None:
    assert len(getattr(Simulation.model_validate({part: [one] * most}), part)) == most
    with pytest.raises(ValidationError) as refused:
        Simulation.model_validate({part: [one] * (most + 1)})
    assert refused.value.errors()[0]["loc"] == (part,)
    assert getattr(Simulation(), part) == ()


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("schema", 2),
        ("medium", {"id": "a", "link": "10M", "assumed": "1234567"}),
        ("machine", {"id": "a", "title": "", "numbers": {"n": {"value": 1, "assumed": "1234567"}}}),
        ("machine", {"id": "a", "title": "", "numbers": {"n": {"value": 1, "by_hand": "1234567"}}}),
        ("place", {"machines": ["a"]}),
        ("place", {"machines": ["a", "b", "c"]}),
        ("place", {}),
        ("reading", {"value": "a", "at": {}, "because": "12345678"}),
        ("reading", {"value": "a", "at": {"os": "xp"}, "because": "1234567"}),
        ("prediction", {"value": "a", "simulated": 0}),
        ("baseline", {"value": "a", "guess": "1", "because": "1234567"}),
        ("missing", {"finding": "a", "mechanism": "1234567"}),
    ],
)
def test_incomplete_machines_are_refused(part: str, wrong: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        Simulation.model_validate({part: wrong if part == "schema" else [wrong]})
    assert refused.value.errors()[0]["loc"][0] == part


def test_reasons_of_eight_characters_are_accepted() -> None:
    numbers = {"n": {"value": 1, "fitted": ["a"], "by_hand": "12345678"}}
    numbers["m"] = {"value": 1, "assumed": "12345678"}
    machine = {"id": "a", "title": "", "numbers": numbers}
    found = Simulation.model_validate({"schema": 1, "machine": [machine]})
    assert found.machine[0].numbers["n"].by_hand == "12345678"
    assert found.machine[0].note is None and found.machine[0].like is None
    assert found.note is None and found.schema_version == 1
