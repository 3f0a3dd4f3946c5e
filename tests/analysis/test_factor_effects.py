"""Effects of crossed factors, beside a model whose effects are known."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from answered import sentences
from planned_records import a_trial
from planned_runs import PlannedRun, a_run

from lanlab.analysis.comparison.factor_effects import (
    FactorEffects,
    crossed_experiments,
    factor_effects,
)
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import UsageError
from lanlab.figures.registry import build_figure
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.report.answer.ranking_text import factor_effects_sentences
from lanlab.studies.base import Level
from lanlab.studies.counterparts import place_at
from lanlab.studies.load import load_study
from lanlab.studies.machines import known_machine
from lanlab.studies.model import Study
from lanlab.studies.runs_on import study_on

TIMES = "\N{MULTIPLICATION SIGN}"
SOFTWARE = {"netware": 6.0, "3plus": 3.0, "pc-lan": 2.0}
NETWORK = {"bus-10": 1.0, "broadband-2": 0.8, "bus-100": 1.0}


def product(planned: PlannedTrial) -> float:
    """Software counts most, but with 30 kbyte the hardware does; a block is slower than another."""
    levels = planned.factors
    hardware = 9.0 if levels["message_size_bytes"] == 30000 else 1.5
    return (
        1e5
        * SOFTWARE[str(levels["software"])]
        * NETWORK[str(levels["network"])]
        * (hardware if levels["hardware"] == "3server" else 1.0)
        * (1 + planned.block / 10)
    )


def a_swapped_run(
    goodput_bps: Callable[[PlannedTrial], float] = product,
    fails: Callable[[PlannedTrial], bool] = lambda planned: False,
) -> PlannedRun:
    loaded = load_study("poo-tan")
    study = study_on(loaded.study, "simulated", "factors")
    run, plan = a_run(study, "factors", 10_000_000), Plan(study, "factors", 7)
    trials = []
    for planned in plan.upcoming(10_000):
        metrics = None if fails(planned) else {"goodput_bps": goodput_bps(planned)}
        trials.append(a_trial(run, planned, metrics))
    return PlannedRun(run, trials, loaded.published)


@pytest.fixture(scope="module")
def swapped() -> PlannedRun:
    return a_swapped_run()


def effects_of(found: PlannedRun) -> FactorEffects:
    effects = factor_effects(RunData(found.run, found.trials))
    assert effects is not None
    return effects


def test_each_effect_matches_the_model(swapped: PlannedRun) -> None:
    found = {(one.factor, one.level): one for one in effects_of(swapped).effects}

    assert found["software", "3plus"].ratio == pytest.approx(0.5)
    assert found["software", "pc-lan"].ratio == pytest.approx(1 / 3)
    assert found["network", "broadband-2"].ratio == pytest.approx(0.8)
    assert found["network", "bus-100"].ratio == pytest.approx(1)
    assert found["adapter", "pc-network"].ratio == pytest.approx(1)
    hardware = found["hardware", "3server"]
    assert hardware.ratio == pytest.approx((1.5 * 9) ** 0.5)
    assert [hardware.least, hardware.greatest] == pytest.approx([1.5, 9])


def test_interactions_of_factors_are_reported(swapped: PlannedRun) -> None:
    found = effects_of(swapped)
    first = {case.at["message_size_bytes"]: case.spreads[0].factor for case in found.cases}
    assert first == {750: "software", 30000: "hardware"}

    said = sentences(swapped.run, swapped.trials, swapped.published)
    assert said[0] == (
        "Simulated, all else equal, throughput differs by a factor of 3.67 by hardware (1.50 to "
        "9.00 by condition), 3.00 by software (in every condition), 1.25 by network (in every "
        "condition) and 1.00 by adapter (in every condition)."
    )
    small = [f"{operation}, 0.75 kbyte, {count}" for operation in ("read", "write") for count in
             ("1 station", "15 stations")]  # fmt: skip
    at = [f"{one} (software, a factor of 3.00)" for one in small]
    assert said[1] == (
        "The hardware changes the mean most in 4 of 8 cases; another factor does with "
        f"{', '.join(at[:3])} and {at[3]}."
    )
    assert [one.partition("; the effect is greatest with ")[0] for one in said[2:6]] == [
        f"Throughput relative to hardware pc-at: hardware 3server 3.674 {TIMES} (1.50 to 9.00 by "
        "condition)",
        f"Throughput relative to software netware: software 3plus 0.5000 {TIMES} (in every "
        f"condition) and software pc-lan 0.3333 {TIMES} (in every condition)",
        f"Throughput relative to network bus-10: network broadband-2 0.8000 {TIMES} (in every "
        f"condition) and network bus-100 1.000 {TIMES} (in every condition)",
        f"Throughput relative to adapter etherlink: adapter pc-network 1.000 {TIMES} (in every "
        "condition)",
    ]
    assert said[6] == "These are simulated means: the model's error of throughput is not known."
    assert "30 kbyte" in said[2] and "software" in said[2] and "hardware 3server, " not in said[2]


def test_cases_beyond_four_are_counted_and_the_greatest_effect_is_named() -> None:
    """One case of 30 kbyte makes the hardware first of all; the network's best is at one server."""

    def goodput(planned: PlannedTrial) -> float:
        levels = planned.factors
        is_large_read = (levels["message_size_bytes"], levels["operation"]) == (30000, "read")
        is_fast = levels["hardware"] == "3server" and is_large_read
        slow = 0.5 if levels["network"] == "broadband-2" and is_fast else 1.0
        return SOFTWARE[str(levels["software"])] * (9000.0 if is_fast else 10.0) * slow

    found = a_swapped_run(goodput)
    said = factor_effects_sentences(RunData(found.run, found.trials))
    assert said[1].startswith(
        "The hardware changes the mean most in 2 of 8 cases; another factor does with read, "
    )
    assert said[1].endswith(" (software, a factor of 3.00) and 2 more.")
    network = next(one for one in said if one.startswith("Throughput relative to network bus-10: "))
    assert f"{TIMES} (0.500 to 1.00 by condition)" in network
    assert "; the effect is greatest with software " in network
    assert "hardware 3server, adapter " in network and ", read, 30 kbyte, " in network


def test_only_trials_of_crossed_experiments_count(swapped: PlannedRun) -> None:
    one = swapped.trials[-1]
    ignored = [
        replace(one, experiment="other", metrics={"goodput_bps": 1.0}),
        replace(one, purpose="warmup", metrics={"goodput_bps": 1.0}),
        replace(one, block=17, metrics={"goodput_bps": 0.0}),
        replace(one, block=18, metrics={}),
    ]
    found = effects_of(swapped)
    assert effects_of(replace(swapped, trials=[*swapped.trials, *ignored])) == found
    assert found.metric == "goodput_bps"
    assert [one.factor for one in found.overall] == ["hardware", "software", "network", "adapter"]
    assert [list(case.at.values()) for case in found.cases][3:5] == [
        ["read", 30000, 15],
        ["write", 750, 1],
    ]


@pytest.mark.parametrize(
    ("varied", "is_crossed"),
    [
        (("software", "hardware"), True),
        (("software",), False),
        (("hardware",), False),
        ((), False),
    ],
)
def test_one_varied_factor_is_not_crossed(varied: tuple[str, ...], is_crossed: bool) -> None:
    study = study_on(load_study("poo-tan").study, "simulated", "factors")
    single: dict[str, tuple[Level, ...]] = {"software": ("netware",), "hardware": ("pc-at",)}
    single = {name: levels for name, levels in single.items() if name not in varied}
    experiments = []
    for one in study.experiment:
        levels = {k: v for k, v in one.factors.items() if k not in ("network", "adapter")}
        experiments.append(one.model_copy(update={"factors": levels | single}))
    changed = study.model_copy(update={"experiment": tuple(experiments)})
    assert bool(crossed_experiments(changed, "factors")) is is_crossed


def test_incomplete_pairs_are_omitted() -> None:
    lacking = a_swapped_run(
        fails=lambda one: one.block == 1 and one.factors["software"] == "pc-lan"
    )
    found = {(one.factor, one.level): one for one in effects_of(lacking).effects}
    assert found["software", "pc-lan"].ratio == pytest.approx(1 / 3)
    assert found["software", "3plus"].ratio == pytest.approx(0.5)

    whole = a_swapped_run()
    apart = [replace(one, block=number) for number, one in enumerate(whole.trials)]
    assert factor_effects(RunData(whole.run, apart)) is None

    alone = a_swapped_run(fails=lambda one: one.factors["hardware"] == "3server")
    assert not [one for one in effects_of(alone).effects if one.factor == "hardware"]


def test_the_figure_has_a_row_for_each_case_and_a_series_for_each_factor(
    swapped: PlannedRun,
) -> None:
    study = Study.model_validate(swapped.run.study)
    figure = next(one for one in study.figure if one.figure == "factor_effects")
    chart = build_figure(RunData(swapped.run, swapped.trials, study, swapped.published), figure)

    # In the order of the study, not of the run.
    assert chart.x.categories[:2] == (
        "read, 0.75 kbyte, 1 station",
        "read, 0.75 kbyte, 15 stations",
    )
    assert len(chart.x.categories) == 8 and "write, 30 kbyte, 15" in chart.x.categories[7]
    assert [one.name for one in chart.series] == ["software", "network", "hardware", "adapter"]
    assert {round(point.y, 9) for point in chart.series[0].points} == {3.0}
    assert {round(point.y, 9) for point in chart.series[2].points} == {1.5, 9.0}


def test_a_run_at_another_scale_has_no_factor_effects() -> None:
    study = load_study("poo-tan").study
    usual = study_on(study, "simulated", "tiny")
    assert not [one.id for one in usual.experiment if one.scales]
    assert not [one for one in usual.figure if one.figure == "factor_effects"]
    swaps = study_on(study, "simulated", "factors")
    assert {one.id.partition("-")[0] for one in swaps.experiment} == {"swap"}
    assert factor_effects(RunData(a_run(usual, "tiny", None), [])) is None


def test_the_network_is_a_separate_factor() -> None:
    study = study_on(load_study("poo-tan").study, "simulated", "factors")
    simulation = study.simulation
    assert simulation is not None
    links: dict[Level, set[str | None]] = {}
    for planned in Plan(study, "factors", 7).upcoming(1000):
        place = place_at(study, planned.parameters, planned.experiment)
        assert place is not None
        links.setdefault(planned.factors["network"], set()).add(
            simulation.link_of(place, planned.parameters)
        )
    assert links == {
        "bus-10": {"10M:bus"},
        "broadband-2": {"2M:broadband"},
        "bus-100": {"100M:bus"},
    }


def test_hypothetical_servers_follow_the_fitted_ones() -> None:
    simulation = load_study("poo-tan").study.simulation
    assert simulation is not None

    def number(machine: str, name: str) -> float:
        return known_machine(simulation, machine).numbers[name].value

    for one in simulation.machine:
        if one.id.endswith("-pcn"):
            assert number(one.id, "receive_call_us") == number("pc-at-pc-lan", "receive_call_us")
        if one.id.startswith("3server"):
            assert number(one.id, "disk_overhead_us") == number("3server", "disk_overhead_us")
            assert number(one.id, "disk_turn_ms") == 0


def test_a_scale_of_simulated_experiments_is_refused_on_real_hosts() -> None:
    study = load_study("poo-tan").study
    with pytest.raises(UsageError, match="has only simulated experiments at scale `factors`"):
        study_on(study, "real", "factors")
    assert "factors" not in study_on(study, "real").scale


def test_adapters_that_are_no_factor_are_held() -> None:
    """Brutman's Pentium has a faster adapter than his PCjr, so not only the machine varies."""
    study = study_on(load_study("brutman-mtcp").study, "simulated", "quick")
    kept = crossed_experiments(study, "quick")
    assert [one.experiment.id for one in kept] == ["speed-test-xircom-simulated"]
