"""Levels of a factor are ranked in groups, at each level of the other factors."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from copy_runs import copy_run, copy_study
from planned_runs import planned_run

from lanlab.analysis.comparison import Sample, compared
from lanlab.analysis.limits import tcp_limit_bps
from lanlab.analysis.ranking import Ranking, grouped, rankings
from lanlab.analysis.run_data import RunData
from lanlab.cli.results import run_as_json
from lanlab.report.answer.answers import sentences
from lanlab.report.answer.ranking_text import level_names, ranking_sentences
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies import Study
from lanlab.studies.machines import Simulation

LARGE, SMALL = "schomer-large", "schomer-many"
#: SMB and NFS 3 take as long for a byte, FTP 1.2 times; of many files SMB is slowest by far.
COSTS = {
    "smb": (1e-8, 9e-3, 0.0),
    "nfs": (1e-8, 1e-3, 0.0),
    "ftp": (1.2e-8, 1e-3, 0.0),
}
Run = tuple[RunRecord, list[TrialRecord]]


def made(
    costs: Mapping[str, Any] = COSTS, spread: float = 0.005, trials: int = 10, **changes: Any
) -> Run:
    study = copy_study(list(costs), [LARGE, SMALL], trials, **changes)
    return copy_run(study, costs, spread)


def groups(one: Ranking) -> list[list[Any]]:
    return [[ranked.level for ranked in group] for group in one.groups]


def said(run: Run) -> list[str]:
    return [*itertools.chain(*ranking_sentences(RunData(*run)))]


def test_each_condition_is_ranked_separately() -> None:
    large, small = rankings(*made(), ["copies"])["copies"]

    assert (large.condition, small.condition) == ({"dataset": LARGE}, {"dataset": SMALL})
    assert [set(group) for group in groups(large)] == [{"smb", "nfs"}, {"ftp"}]
    assert groups(small)[-1] == ["smb"]


def test_the_interval_of_a_slowdown_covers_the_truth() -> None:
    large, _ = rankings(*made(), ["copies"])["copies"]
    [ftp] = large.groups[1]

    assert ftp.worse == pytest.approx(1.2, rel=0.01)
    assert ftp.low is not None and ftp.high is not None
    assert ftp.low < 1.2 < ftp.high < 1.25
    best = large.groups[0][0]
    assert (best.worse, best.low, best.high) == (1.0, None, None)


def test_the_order_is_the_same_by_goodput() -> None:
    run, trials = made()
    study = {
        **run.study,
        "experiment": [{**run.study["experiment"][0], "metrics": ["goodput_bps"]}],
    }
    by_goodput = rankings(replace(run, study=study), trials, ["copies"])["copies"]
    by_time = rankings(run, trials, ["copies"])["copies"]

    for one, other in zip(by_goodput, by_time, strict=True):
        assert groups(one) == groups(other)
        assert [r.worse for g in one.groups for r in g] == pytest.approx(
            [r.worse for g in other.groups for r in g]
        )


def test_noise_gives_no_ranking() -> None:
    alike = dict.fromkeys(COSTS, (1e-8, 1e-3, 0.0))

    run = made(alike, spread=0.05)

    for one in rankings(*run, ["copies"])["copies"]:
        assert len(one.groups) == 1
    assert said(run)[0].startswith("Elapsed time: schomer-large: ")
    assert said(run)[0].count("(no difference shown)") == 2


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("metric", ["elapsed_ns", "goodput_bps"])
@pytest.mark.parametrize(
    ("differs", "limited", "least", "expected"),
    [
        # Two that are alike, and one behind both; then without one of the two comparisons.
        ({"ac", "bc"}, "", 1.0, "ab|c"),
        ({"ac"}, "", 1.0, "abc: c>a"),
        ({"ab", "ac", "bc"}, "", 1.0, "a|b|c"),
        (set(), "", 1.0, "abc"),
        # No difference counts between two that the network limits, but one to a third does.
        ({"ab", "ac", "bc"}, "ab", 1.0, "ab|c"),
        ({"ab", "ac", "bc"}, "abc", 1.0, "abc"),
        ({"ab", "ac", "bc"}, "b", 1.0, "a|b|c"),
        # Nor one within the error of a model: b is 1.1 times, c 1.5 times as slow as a.
        ({"ab", "ac", "bc"}, "", 1.11, "ab|c"),
        ({"ab", "ac", "bc"}, "", 1.4, "abc: c>a"),
        ({"ab", "ac", "bc"}, "", 1.6, "abc"),
    ],
)
def test_groups_do_not_depend_on_times_or_rates_or_the_side(
    differs: set[str], limited: str, least: float, expected: str, metric: str, is_turned: bool
) -> None:
    times = {"c": 1.5, "a": 1.0, "b": 1.1}
    turn = 1 if metric == "elapsed_ns" else -1
    noise = {"a": 1.001, "b": 1.002, "c": 1.0035}
    of = {name: (time**turn, (noise[name] * time) ** turn) for name, time in times.items()}
    sides = {name: Sample(own, (0, 1), 0, 0, 0, 1.0) for name, own in of.items()}
    against = {}
    for pair in combinations("abc", 2):
        one, other = reversed(pair) if is_turned else pair
        found = compared(
            sides[one], sides[other], experiment="e", metric=metric, factors={},
            names=(one, other), basis="levels",
        )  # fmt: skip
        against[one, other] = replace(found, p_holm=0.01 if "".join(pair) in differs else 0.9)

    groups = grouped(
        list(times), against, is_more_better=metric == "goodput_bps",
        at_limit=frozenset(limited), least_log=math.log(least),
    )  # fmt: skip
    within = [f"{r.level}>{''.join(map(str, r.behind))}" for g in groups for r in g if r.behind]
    told = "|".join("".join(str(r.level) for r in group) for group in groups)
    assert ": ".join([told, *within]) == expected
    for ranked in (one for group in groups for one in group):
        assert ranked.worse == pytest.approx(times[str(ranked.level)], rel=0.005)
        if ranked.level != "a":
            assert ranked.low is not None and ranked.high is not None
            assert ranked.low < ranked.worse < ranked.high


@pytest.mark.parametrize(
    ("first", "second", "is_shown"),
    [
        ((1.0, 1.0), (2.0, 2.0), True),
        ((1.0,), (2.0,), False),
        ((1.0, 1.0), (2.0,), False),
        ((1.0, 1.0), (2.0, 2.5), False),
        ((1.0, 1.0), (1.0, 1.0), False),
    ],
)
def test_repeated_values_without_any_spread_differ_exactly(
    first: tuple[float, ...], second: tuple[float, ...], is_shown: bool
) -> None:
    sides = [Sample(own, tuple(range(len(own))), 0, 0, 0, 1.0) for own in (first, second)]
    pair = compared(
        sides[0], sides[1], experiment="e", metric="elapsed_ns", factors={},
        names=("a", "b"), basis="levels",
    )  # fmt: skip
    found = grouped(["a", "b"], {("a", "b"): pair}, is_more_better=False)
    assert len(found) == 1 + is_shown


@pytest.mark.parametrize(
    ("services", "datasets", "is_ranked"),
    # 400 comparisons are the most.
    [(5, 40, True), (5, 41, False), (2, 401, False), (1, 3, False)],
)
def test_a_table_of_very_many_comparisons_is_no_ranking(
    services: int, datasets: int, is_ranked: bool
) -> None:
    names = ("smb", "nfs", "ftp", "sftp", "webdav")[:services]
    study = copy_study(names, [f"1x{size}kB" for size in range(1, datasets + 1)], 1)
    run = copy_run(study, dict.fromkeys(names, COSTS["nfs"]))
    found = rankings(*run, ["copies"]).get("copies", ())
    assert len(found) == is_ranked * datasets
    # Of single trials nothing is known.
    assert all(r.worse is None for one in found for group in one.groups for r in group)
    assert not any(one.is_tested for one in found)


def test_all_experiments_of_a_run_share_one_correction() -> None:
    costs = {"smb": (1e-8, 0, 0), "ftp": (1.03e-8, 0, 0)}
    run, trials = copy_run(copy_study(list(costs), [LARGE], 5), costs, 0.01)
    [copies] = run.study["experiment"]
    more = [f"again{number}" for number in range(9)]
    studied = {**run.study, "experiment": [copies, *({**copies, "id": name} for name in more)]}
    run = replace(run, study=studied)
    trials += [replace(trial, experiment=name) for name in more for trial in trials]

    [alone] = rankings(run, trials, ["copies"])["copies"]
    [among_ten] = rankings(run, trials, ["copies", *more])["copies"]
    assert groups(alone) == [["smb"], ["ftp"]]
    assert len(groups(among_ten)) == 1


def test_differences_within_a_group_are_reported() -> None:
    costs = {"smb": (1e-8, 0, 0), "nfs": (1.022e-8, 0, 0), "ftp": (1.044e-8, 0, 0)}
    run = made(costs, spread=0.02, trials=8)
    between = [one for one in rankings(*run, ["copies"])["copies"] if len(one.groups) == 1]

    assert between
    assert {ranked.behind for one in between for ranked in one.groups[0]} == {(), ("smb",)}
    assert "SMB, NFS 3 and FTP (shown: FTP slower than SMB; no other difference)" in said(run)[0]


def at_limit(costs: Mapping[str, Any], spread: float = 0.0001) -> Run:
    run, trials = copy_run(copy_study(list(costs), [LARGE], 5), costs, spread)
    return replace(run, testbed={**run.testbed, "link_rate_bps": 100_000_000}), trials


def test_services_at_the_network_limit_are_not_ranked() -> None:
    wire_s = 8 / tcp_limit_bps(100e6, 4)
    run = at_limit({"smb": (wire_s, 0, 0), "nfs": (1.004 * wire_s, 0, 0)})

    [one] = rankings(*run, ["copies"])["copies"]
    assert [ranked.behind for ranked in one.groups[0]] == [(), ()]
    assert one.at_limit == {"smb", "nfs"}
    assert said(run) == [
        "Elapsed time: schomer-large: both are as fast as the network (94.1 Mbit/s)."
    ]


def test_services_below_the_network_limit_rank_lower() -> None:
    wire_s = 8 / tcp_limit_bps(100e6, 4)
    run = at_limit({"smb": (wire_s, 0, 0), "nfs": (wire_s, 0, 0), "ftp": (2 * wire_s, 0, 0)})

    [sentence] = said(run)
    assert ", as fast as the network (94.1 Mbit/s), then FTP 2.00 " in sentence


def test_a_simulated_difference_within_the_models_error_shows_no_order() -> None:
    run, trials = made({"smb": (1e-8, 0, 0), "ftp": (1.2e-8, 0, 0)}, spread=0.0, trials=2)

    [wide, _] = rankings(run, trials, ["copies"], math.log(1.77))["copies"]
    [narrow, _] = rankings(run, trials, ["copies"], math.log(1.05))["copies"]
    assert groups(wide) == [["smb", "ftp"]]
    assert groups(narrow) == [["smb"], ["ftp"]]
    assert narrow.model_factor == pytest.approx(1.05 ** math.sqrt(2))


def test_a_simulated_ratio_has_the_models_error_and_the_best_has_none() -> None:
    costs = {"smb": (1e-8, 0, 0), "ftp": (2e-8, 0, 0)}
    run, trials = made(costs, spread=0.001, trials=3)
    study = Study.model_validate(run.study).model_copy(update={"simulation": Simulation()})
    experiments = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    simulated = study.model_copy(update={"experiment": experiments})
    run = replace(run, study=simulated.model_dump(mode="json", exclude_none=True))

    [one, _] = rankings(run, trials, ["copies"], math.log(1.1))["copies"]
    [[best], [ftp]] = one.groups
    error = 1.1 ** math.sqrt(2)
    assert (best.worse, best.low, best.high) == (1.0, None, None)
    assert ftp.worse == pytest.approx(2.0, rel=0.01)
    assert ftp.low == pytest.approx(ftp.worse / error)
    assert ftp.high == pytest.approx(ftp.worse * error)
    [unknown, _] = rankings(run, trials, ["copies"])["copies"]
    assert groups(unknown) == [["smb", "ftp"]]
    assert [(r.low, r.high) for group in unknown.groups for r in group] == [(None, None)] * 2
    assert unknown.model_factor is None


def test_a_level_without_trials_is_named() -> None:
    study = copy_study(list(COSTS), [LARGE])
    run = copy_run(study, COSTS, 0.005, lambda planned: planned.factors["service"] == "ftp")
    [one] = rankings(*run, ["copies"])["copies"]

    assert one.lacking == ("ftp",)
    assert said(run)[0].endswith("(no result of FTP).")


def test_the_ranking_comes_first_and_pools_no_datasets() -> None:
    run, trials = made()

    every = sentences(run, trials)

    assert every[0] == said((run, trials))[0]
    assert not any(" was between " in one for one in every)
    assert any(f"({LARGE}) and " in one and f"({SMALL})" in one for one in every)


def test_json_has_the_rankings() -> None:
    [large, small] = run_as_json(*made())["rankings"]

    assert large["condition"] == {"dataset": LARGE}
    assert [one["level"] for one in small["groups"][-1]] == ["smb"]
    assert large["groups"][1][0]["times_worse"] == pytest.approx(1.2, rel=0.01)


def test_a_failed_level_is_named_if_nothing_can_be_ranked() -> None:
    run, trials = made({"smb": COSTS["smb"], "ftp": COSTS["ftp"]})
    ended = [replace(t, status="failed", metrics={}) if _is_ftp(t) else t for t in trials]

    [sentence] = said((run, ended))
    assert sentence == "No ranking: there is no result of FTP."


def _is_ftp(trial: TrialRecord) -> bool:
    return trial.factors["service"] == "ftp"


def test_a_run_without_a_ranked_factor_has_no_ranking() -> None:
    found = planned_run("milanovic-srbljic", "quick")
    assert ranking_sentences(RunData(found.run, found.trials)) == ([], [])


def test_levels_are_at_the_network_limit_together_only_if_it_is_one_limit() -> None:
    """Trials of the model are alike: each version is as fast as its own headers allow."""
    found = planned_run("manford-kolahi", "quick")
    (rates, times), _ = ranking_sentences(RunData(found.run, found.trials))
    assert "128 B, 256 B, 384 B and 2 more: IPv4, as fast as the network, then IPv6." in rates
    assert times.endswith("8 more: IPv4 and IPv6 (no difference shown).")


@pytest.mark.parametrize(
    ("servers", "names"),
    [
        (("smb://me@nas/a", "nfs://nas/b"), ["SMB", "NFS 3"]),
        (("sftp://me@nas/a", "sftp://me@old:2222/a"), ["nas", "old:2222"]),
        (("smb://nas/a", "smb://nas/b"), ["SMB /a", "SMB /b"]),
        (("smb://nas/a", "smb://nas/b", "file:///a%20b"), ["SMB /a", "SMB /b", "/a b"]),
        (("smb://nas/a", "file:///mnt/a", "file:///mnt/b"), ["SMB", "/mnt/a", "/mnt/b"]),
    ],
)
def test_servers_are_named_by_their_differences(servers: tuple[str, ...], names: list[str]) -> None:
    study = copy_study(["smb"], [LARGE])

    assert list(level_names(study, "server", servers).values()) == names


def test_a_level_with_a_result_at_one_condition_has_a_result() -> None:
    run, trials = made()
    # Interrupted when each service had been copied to once, by one dataset or the other.
    first = {(t.factors["service"], t.factors["dataset"]): t for t in trials if t.block == 0}
    begun = [first["smb", LARGE], first["nfs", LARGE], first["ftp", SMALL]]

    *results, ranking, _ = sentences(replace(run, status="interrupted"), begun)
    assert ranking == (
        "SMB, NFS 3 and FTP are not ranked by elapsed time: a ranking takes two trials of each."
    )
    assert [one.rpartition(" (")[2] for one in results] == [
        f"{LARGE}).",
        f"{LARGE}).",
        f"{SMALL}).",
    ]


def test_unlike_amounts_of_a_condition_are_named() -> None:
    run, trials = made()
    grown = [
        replace(t, metrics={**t.metrics, "copied_bytes": 2 * t.metrics["copied_bytes"]})
        if t.block == 0 and t.factors == trials[0].factors
        else t
        for t in trials
    ]
    unlike = "of 1 condition copied unlike amounts"
    assert [unlike in " ".join(sentences(run, own)) for own in (trials, grown)] == [False, True]
