"""What disturbed a trial, judged from made-up records."""

from typing import Any

import pytest

from lanlab.analysis.disturbances.detect import Finding, Judgement, judge, judgement_of
from lanlab.analysis.disturbances.words import flags, seen, warning

SECOND = 1_000_000_000
HOST = {"processors_online": 2, "boot_id": "b"}
SOURCE, TARGET = {**HOST, "name": "host0"}, {**HOST, "name": "host1"}


def window(elapsed_s: float = 1.0, **changes: Any) -> dict[str, Any]:
    """Two processors with the engine at work for 0.4 of one, and nobody else."""
    times = {"idle_ns": 1.6, "soft_interrupt_ns": 0.0, "steal_ns": 0.0}
    times |= {key: changes.pop(key) for key in tuple(changes) if key in times}
    return {
        "elapsed_ns": round(elapsed_s * SECOND),
        # What the kernel samples at its ticks is far too high, as was seen: it must not be used.
        "processors": {"user_ns": round(1.9 * SECOND), "system_ns": 0, "interrupt_ns": 0}
        | {key: round(value * elapsed_s * SECOND) for key, value in times.items()},
        "engine_cpu_ns": round(0.2 * elapsed_s * SECOND),
        "softnet_dropped": 0,
        "clock_step_ns": 0,
        **changes,
    }


def sent(host: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    counts = {"offered_messages": 1000, "unsent_messages": 0, "late_messages": 0}
    times = {"elapsed_ns": SECOND, "max_lateness_ns": 500_000, "blocked_ns": 0}
    return {"host": host, **counts, **times, **changes}


HOSTS = {"sender": SOURCE, "receiver": TARGET}


def over_a_medium(late: int, **lateness: int) -> dict[str, Any]:
    """A trial of a second over a medium that handed `late` of 1000 frames over late."""
    raw = a_trial()
    raw["requester"] = {"elapsed_ns": SECOND}
    none = {"p50_ns": 0, "p99_ns": 0, "longest_ns": 0, "longest_gap_ns": 0}
    counted = {"deliveries": 1000, "late_deliveries": late, **none, **lateness}
    raw["facts"]["after"] = {"medium": {"lateness": counted, "collisions": 0}}
    return raw


ECHO = {"requester": SOURCE, "responder": TARGET}


def of_echo(raw: dict[str, Any], rtt_p50_ns: float = 1_000_000, **others: float) -> Judgement:
    return judge(raw, {"rtt_p50_ns": rtt_p50_ns, **others}, ECHO)


@pytest.mark.parametrize(
    ("late", "p99_ns", "found"),
    [
        (11, 5_000_001, ["medium_shift"]),
        # Throughput follows the schedule: only what comes after the end of the time is missed.
        (11, 5_000_000, []),
        # So few frames are in no 99th percentile.
        (10, 900_000_000, []),
        (0, 0, []),
    ],
)
def test_frames_that_arrive_after_the_end_disturb_a_stream(
    late: int, p99_ns: int, found: list[str]
) -> None:
    judgement = of(over_a_medium(late, p99_ns=p99_ns))
    assert codes(judgement) == found
    assert all(finding.repeat_helps for finding in judgement.findings)
    # A medium that had nothing to hand over.
    idle = over_a_medium(late, p99_ns=p99_ns)
    idle["facts"]["after"]["medium"]["lateness"]["deliveries"] = 0
    assert codes(of(idle)) == []


@pytest.mark.parametrize(
    ("p50_ns", "rtt_p50_ns", "found"),
    [
        (10_001, 1_000_000, ["medium_shift"]),
        (10_000, 1_000_000, []),
        # Of short round trips what a quiet medium is late by is more than 2 %.
        (5_000, 60_000, []),
        (5_001, 60_000, ["medium_shift"]),
        (5_001, 0, []),
    ],
)
def test_late_frames_that_change_the_median_disturb_round_trips(
    p50_ns: int, rtt_p50_ns: int, found: list[str]
) -> None:
    assert codes(of_echo(over_a_medium(500, p50_ns=p50_ns), rtt_p50_ns)) == found
    assert codes(of_echo(over_a_medium(1, p50_ns=p50_ns), rtt_p50_ns)) == found


@pytest.mark.parametrize("key", ["longest_gap_ns", "longest_ns"])
def test_a_pause_of_the_medium_disturbs_round_trips_by_its_share_of_the_time(key: str) -> None:
    paused = over_a_medium(1, **{key: 20_000_001})
    assert codes(of_echo(paused)) == ["medium_shift"]
    assert codes(of(paused)) == []
    assert codes(of_echo(over_a_medium(1, **{key: 20_000_000}))) == []
    # No longer than the longest round trip shows: it may have come before the first.
    assert codes(of_echo(paused, rtt_max_ns=21_000_001)) == ["medium_shift"]
    assert codes(of_echo(paused, rtt_max_ns=21_000_000)) == []


def test_a_late_medium_is_described_in_words() -> None:
    judgement = of_echo(over_a_medium(25, p50_ns=50_000))
    (late,) = judgement.findings
    assert seen(late) == (
        "frames that the medium handed over late moved the result by 10 % (limit 2 %)"
    )
    assert flags(judgement) == "medium late"


def test_processor_time_of_the_medium_belongs_to_the_trial() -> None:
    at_work = window(idle_ns=1.1)
    busy = a_trial(sent(at_work), {"host": at_work})
    assert codes(of(busy)) == ["foreign_cpu"]
    for when, cpu_ns in (("before", 7_000_000_000), ("after", 7_500_000_000)):
        busy["facts"].setdefault(when, {})["medium"] = {
            "cpu_ns": cpu_ns,
            "lateness": {"deliveries": 0},
        }
    assert codes(of(busy)) == []


def a_trial(
    source: dict[str, Any] | None = None,
    target: dict[str, Any] | None = None,
    **facts: Any,
) -> dict[str, Any]:
    """A trial in which both ends' hosts measured their windows, unless told otherwise."""
    before = {"load_average": 0.5, "clock_source": "tsc", "governor": None, **facts}
    return {
        "sender": sent(window()) if source is None else source,
        "receiver": {"host": window(1.1)} if target is None else target,
        "facts": {"before": {"hosts": {"host0": before, "host1": before}}},
    }


def of(
    raw: dict[str, Any], source: dict[str, Any] = SOURCE, target: dict[str, Any] = TARGET, **m: int
) -> Judgement:
    return judge(
        raw,
        {"lost_messages": 0, "start_skew_ns": 1000, **m},
        {"sender": source, "receiver": target},
    )


def codes(judgement: Judgement) -> list[str]:
    return [finding.code for finding in judgement.findings]


def both(**changes: Any) -> dict[str, Any]:
    return a_trial(sent(window(**changes)), {"host": window(1.1, **changes)})


def test_a_quiet_trial_is_clean_despite_tick_sampling() -> None:
    """The kernel's samples show 0.95 of both processors at work; their idle time says 0.4 of one,
    and both engines used that."""
    assert of(a_trial()) == Judgement((), ())


def test_a_sender_that_waited_for_a_reply_is_reported() -> None:
    trial = a_trial(sent(window(), paused_ns=300_000_000, unsent_messages=9))
    (finding,) = of(trial).findings

    assert (finding.code, finding.end, finding.found) == ("sender_paused", "receiver", 300_000_000)
    assert seen(finding) == "the sender heard nothing from the receiver and paused for 300 ms"


def test_foreign_processor_time_is_measured() -> None:
    (finding,) = of(both(idle_ns=0.6)).findings

    assert finding.code == "foreign_cpu"
    # Over the longer window of 1.1 s; the source's engine is taken for idle in the last tenth.
    assert finding.found == pytest.approx(1.4 - 0.2 - 0.2 / 1.1)
    assert finding.allowed == pytest.approx(0.1 + 0.02 / 1.1)
    assert finding.repeat_helps


def test_ends_on_one_kernel_do_not_count_as_foreign_load() -> None:
    raw = both(idle_ns=1.6)

    assert codes(of(raw)) == []
    apart = of(raw, target={**TARGET, "boot_id": "another"})
    assert [(f.code, f.end) for f in apart.findings] == [
        ("foreign_cpu", "sender"),
        ("foreign_cpu", "receiver"),
    ]


def of_three_hosts(boots: tuple[str, str, str], **third: Any) -> Judgement:
    """Stations on three hosts with the boots named, and a server on the first; each host's engine
    uses 0.2 of a processor, and nothing else runs but as said of the third host."""
    names = ("pc1", "pc2", "pc3")
    on_one = len(set(boots)) == 1
    idle_ns = 2 - 0.2 * len(names) if on_one else 1.8
    parts = [
        {"name": name, "host": window(**{"idle_ns": idle_ns, **(third if name == "pc3" else {})})}
        for name in names
    ]
    raw = {"client": {**parts[0], "hosts": parts}, "server": {}, "facts": {}}
    every = {
        name: {**HOST, "name": name, "boot_id": boot}
        for name, boot in zip(names, boots, strict=True)
    }
    roles = {"client": every["pc1"], "server": {**HOST, "name": "pc4", "boot_id": "of the server"}}
    return judge(raw, {}, roles, every)


def test_each_host_of_stations_is_judged_and_named() -> None:
    assert codes(of_three_hosts(("a", "b", "c"))) == []
    (finding,) = of_three_hosts(("a", "b", "c"), idle_ns=0.6).findings
    assert (finding.code, finding.end, finding.host) == ("foreign_cpu", "client", "pc3")
    assert seen(finding).startswith("on pc3: other processes used 1.2 of a CPU")


def test_station_hosts_on_one_kernel_do_not_count_as_foreign_load() -> None:
    assert codes(of_three_hosts(("a", "a", "a"))) == []
    (finding,) = of_three_hosts(("a", "a", "a"), idle_ns=0.6, elapsed_s=1.1).findings
    assert (finding.code, finding.host) == ("foreign_cpu", None)


def test_soft_interrupts_belong_to_the_trial() -> None:
    assert codes(of(both(idle_ns=1.2))) == ["foreign_cpu"]
    assert codes(of(both(idle_ns=1.2, soft_interrupt_ns=0.4))) == []


def test_the_load_of_a_responder_is_measured_by_its_threads() -> None:
    answered = {"cpu": {"user_ns": SECOND // 10, "system_ns": SECOND // 10}}

    assert codes(of(a_trial({"host": window()}, answered), timeouts=0)) == []
    unknown = of(a_trial({"host": window()}, {"answered_messages": 5}))
    assert (codes(unknown), unknown.unknown) == ([], ("foreign_cpu",))


@pytest.mark.parametrize(("steal", "found"), [(0.03, False), (0.032, True)])
def test_stolen_time_above_one_percent_plus_rounding_disturbs(steal: float, found: bool) -> None:
    """A second of two processors: 20 ms, and one reading of 10 ms more."""
    raw = a_trial(
        sent(window(steal_ns=steal, idle_ns=1.5)), {"host": window(steal_ns=steal, idle_ns=1.5)}
    )

    assert codes(of(raw)) == (["steal"] if found else [])


def test_a_short_trial_is_not_judged_by_the_rounding_of_its_readings() -> None:
    """In 50 ms one reading of 10 ms is a tenth of all there is."""
    short = window(0.05, idle_ns=1.3, steal_ns=0.2)

    assert codes(of(a_trial(sent(short), {"host": short}))) == []


def test_drops_explained_by_the_trial_are_results() -> None:
    raw = both(softnet_dropped=500)

    assert codes(of(raw, lost_messages=500)) == []
    (finding,) = of(raw, lost_messages=400).findings
    assert (finding.code, finding.found) == ("foreign_drops", 100)
    # Over TCP nothing is lost but segments are sent again.
    assert codes(of(raw, retransmitted_segments=495)) == []
    assert judge(raw, {}, HOSTS).unknown == ("foreign_drops",)
    # Nobody's were dropped: whose they would have been needs no telling.
    assert judge(both(), {}, HOSTS).unknown == ()


def test_a_step_of_the_calendar_clock_is_detected_in_both_directions() -> None:
    assert codes(of(both(clock_step_ns=-200_000_000))) == ["clock_step"]
    assert codes(of(both(clock_step_ns=200_000_000))) == ["clock_step"]
    assert codes(of(both(clock_step_ns=2_000_000))) == []


def test_a_blocked_sender_is_distinguished_from_a_slow_one() -> None:
    held_up = {"max_lateness_ns": 30_000_000, "late_messages": 60}

    assert codes(of(a_trial(sent(window(), **held_up)))) == ["sender_stalled", "sender_late"]
    assert codes(of(a_trial(sent(window(), **held_up, unsent_messages=1)))) == []
    assert codes(of(a_trial(sent(window(), **held_up, blocked_ns=20_000_000)))) == []


def test_slow_schedules_tolerate_late_messages() -> None:
    slow = sent(window(), offered_messages=10, max_lateness_ns=30_000_000)

    assert codes(of(a_trial(slow))) == []


def test_a_late_start_is_reported() -> None:
    assert codes(of(a_trial(), start_skew_ns=12_000_000)) == ["start_late"]
    many = {"stations": 10_000, "operations_per_s": 5_000.0}
    assert codes(of(a_trial(), start_skew_ns=1_900_000_000, **many)) == []
    assert codes(of(a_trial(), start_skew_ns=2_100_000_000, **many)) == ["start_late"]


def test_lasting_disturbances_are_remarks() -> None:
    judgement = of(a_trial(load_average=3.5, clock_source="hpet", governor="powersave"))

    assert codes(judgement) == ["load", "clock_source", "governor"]
    assert not any(finding.repeat_helps for finding in judgement.findings)
    assert flags(judgement) == ""


def test_missing_readings_are_unknown_rather_than_clean() -> None:
    assert of(a_trial(sent(None), {"host": None})).unknown == (
        "steal", "foreign_cpu", "foreign_drops", "clock_step",
    )  # fmt: skip
    no_count = {"name": "host0", "boot_id": "b"}
    assert of(a_trial(), source=no_count).unknown == ("steal", "foreign_cpu")
    raw = a_trial()
    raw["facts"] = {"before": {"hosts": {"host0": {"unknown": "host0: lost"}}}}
    assert of(raw) == Judgement((), ())


def test_a_judgement_can_be_read_back_from_a_record() -> None:
    judgement = of(both(idle_ns=0.6))

    assert judgement_of({"pollution": judgement.to_json()}) == judgement
    assert judgement_of({}) is None


def test_a_warning_has_observation_consequence_and_remedy() -> None:
    finding = Finding("foreign_cpu", "sender", 0.7312, 0.12, True)

    assert warning(finding) == (
        "other processes used 0.731 of a CPU (limit 0.12); rates may be too low and times too "
        "long: stop other programs on this machine"
    )
    slow = Finding("clock_source", "sender", "hpet", "tsc, kvm-clock", False)
    assert warning(slow).endswith("boot with clock source tsc, kvm-clock if the machine has it")


def test_a_flag_that_both_hosts_have_is_reported_once() -> None:
    findings = tuple(Finding("steal", end, 0.5, 0.01, True) for end in ("sender", "receiver"))

    assert flags(Judgement(findings, ())) == "other virtual machines"
