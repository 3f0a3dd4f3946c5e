"""`bench/soak.py`: that it finds what grows, takes nothing else for it."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from soak_conditions import is_refused, soak_study
from soak_growth import Life, judge_commits, judge_count, judge_memory

from lanlab.plan import expand

pytestmark = pytest.mark.long

KIB = 1024


@dataclass(frozen=True)
class Noise:
    """What a soak of ten minutes that found nothing had; of an engine, its longest life."""

    lives: dict[str, Life]


@pytest.fixture(scope="module")
def ten_minutes() -> Noise:
    """Recorded on the machine that bench/results/reliability.md names."""
    data = json.loads((Path(__file__).parent / "soak_of_ten_minutes.json").read_text())
    return Noise({name: Life(each["trials"], each["values"]) for name, each in data.items()})


def life(values: list[float]) -> Life:
    return Life(range(len(values)), values)


# The rule


@pytest.mark.parametrize(
    "series", ["lanlab: heap in use", "source engine: memory", "target engine: memory"]
)
def test_a_leak_of_1_kib_a_trial_is_found_in_the_noise_of_ten_minutes(
    ten_minutes: Noise, series: str
) -> None:
    seen = ten_minutes.lives[series]
    assert judge_memory(series, [seen]).finding is None
    leaking = [value + KIB * n for n, value in zip(seen.trials, seen.values, strict=True)]
    found = judge_memory(series, [Life(seen.trials, leaking)])
    assert found.finding is not None and found.finding.startswith(series)
    assert found.slope is not None and found.slope[0] == pytest.approx(KIB, rel=0.1)


@pytest.mark.parametrize("at", [420, 500, 600, 700, 780])
def test_allocator_steps_are_not_a_leak(at: int) -> None:
    values = [2_000_000.0 + 1_000_000 * (trial >= at) for trial in range(800)]
    assert judge_memory("memory", [life(values)]).finding is None


def test_warm_up_growth_is_not_a_leak() -> None:
    values = [2e6 * (1 - 0.98**trial) for trial in range(800)]
    assert judge_memory("memory", [life(values)]).finding is None


def test_random_memory_changes_rarely_count_as_a_leak() -> None:
    draw = random.Random(11)
    taken = 0
    for _ in range(200):
        level, values = 0.0, []
        for _ in range(800):
            # Settles back, as what is held between trials does.
            level = 0.9 * level + draw.gauss(0, 20_000)
            values.append(3e7 + level)
        taken += judge_memory("memory", [life(values)]).finding is not None
    assert taken < 2


def test_one_descriptor_that_stays_is_found() -> None:
    draw = random.Random(5)
    kept = [17 + (trial >= 600) + draw.choice((0, 0, 3)) for trial in range(800)]
    found = judge_count("descriptors", [life(list(map(float, kept)))])
    assert found.finding == (
        "descriptors: never below 17 from trial 400, never below 18 up to trial 799"
    )
    passing = [17.0 + draw.choice((0, 0, 3)) for _ in range(800)]
    assert judge_count("descriptors", [life(passing)]).finding is None


def test_a_leak_in_one_life_of_an_engine_is_found_among_short_ones() -> None:
    short = [life([5.0] * 30) for _ in range(3)]
    leaking = Life(range(90, 290), [5.0 + trial // 20 for trial in range(200)])
    assert judge_count("descriptors", [*short, leaking]).finding is not None
    assert judge_count("descriptors", short).samples == 0


def test_commits_that_take_three_times_as_long_at_the_end_are_found(ten_minutes: Noise) -> None:
    seen = ten_minutes.lives["commit of a trial"]
    assert judge_commits("commit", seen).finding is None
    last = seen.trials[-1]
    slower = [value * (1 + 2 * n / last) for n, value in zip(seen.trials, seen.values, strict=True)]
    assert judge_commits("commit", Life(seen.trials, slower)).finding is not None


# Conditions and faults


def test_a_seed_gives_the_same_conditions_of_every_kind() -> None:
    study = soak_study(3, ip_versions=(4, 6), link="unshaped")
    assert study == soak_study(3, ip_versions=(4, 6), link="unshaped")
    seen = [dict(condition.parameters) for condition in expand(study, "soak")]
    for key, kinds in {
        "transport": {"udp", "tcp"},
        "ip_version": {4, 6},
        "receive": {"block", "poll", "spin", "auto"},
        "io": {"single", "batch", "segment", "auto"},
        "timestamps": {"program", "kernel"},
    }.items():
        assert kinds <= {parameters.get(key) for parameters in seen}, key
    assert any(is_refused(parameters) for parameters in seen)
    sizes = [int(parameters["message_size_bytes"]) for parameters in seen]
    assert min(sizes) < 10 and max(sizes) > 30_000
    assert max(int(parameters.get("flows", 1)) for parameters in seen) > 50


@pytest.mark.parametrize("seed", range(20))
def test_no_condition_is_refused_before_the_run(seed: int) -> None:
    for link in ("unshaped", "100M+tbf"):
        for condition in expand(soak_study(seed, ip_versions=(4, 6), link=link), "soak"):
            # An amount without a rate is expected to take a second.
            assert condition.expected_time_s < 1.1
            assert link == "unshaped" or condition.parameters.get("io") != "segment"
