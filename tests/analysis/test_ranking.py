"""Levels of a factor are ranked in groups, at each level of the other factors."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from answered import sentences
from copy_runs import copy_run, copy_study
from model_errors import erring
from planned_runs import planned_run

from lanlab.analysis.comparison.compare import Sample, compared
from lanlab.analysis.comparison.ranking import Ranking, grouped, rankings
from lanlab.analysis.links.limits import tcp_limit_bps
from lanlab.analysis.simulation.accuracy import Accuracy
from lanlab.analysis.simulation.run import held_out_of
from lanlab.analysis.trials.run_data import RunData
from lanlab.cli.results.printing import run_as_json
from lanlab.report.answer.ranking_text import level_names, ranking_sentences
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.machines import Simulation
from lanlab.studies.model import Study

LARGE, SMALL = "schomer-large", "schomer-many"
LARGE_TEXT, SMALL_TEXT = "1 file of 623 MB", "198 files, 472 MB together"
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
    large, small = rankings(RunData(*made()))["copies"]

    assert (large.condition, small.condition) == ({"dataset": LARGE}, {"dataset": SMALL})
    assert [set(group) for group in groups(large)] == [{"smb", "nfs"}, {"ftp"}]
    assert groups(small)[-1] == ["smb"]


def test_the_interval_of_a_slowdown_covers_the_truth() -> None:
    large, _ = rankings(RunData(*made()))["copies"]
    [ftp] = large.groups[1]

    assert ftp.worse == pytest.approx(1.2, rel=0.01)
    assert ftp.low is not None and ftp.high is not None
    assert ftp.low < 1.2 < ftp.high < 1.25
    best = large.groups[0][0]
    assert (best.worse, best.low, best.high) == (1.0, None, None)


def test_two_trials_give_no_interval() -> None:
    large, _ = rankings(RunData(*made(trials=2)))["copies"]
    every = [ranked for group in large.groups for ranked in group]
    assert {(one.low, one.high) for one in every} == {(None, None)}
    assert [one.worse for one in every if one.level == "ftp"] == [pytest.approx(1.2, rel=0.02)]


def test_the_order_is_the_same_by_goodput() -> None:
    run, trials = made()
    study = {
        **run.study,
        "experiment": [{**run.study["experiment"][0], "metrics": ["goodput_bps"]}],
    }
    by_goodput = rankings(RunData(replace(run, study=study), trials))["copies"]
    by_time = rankings(RunData(run, trials))["copies"]

    for one, other in zip(by_goodput, by_time, strict=True):
        assert groups(one) == groups(other)
        assert [r.worse for g in one.groups for r in g] == pytest.approx(
            [r.worse for g in other.groups for r in g]
        )


def test_noise_gives_no_ranking() -> None:
    alike = dict.fromkeys(COSTS, (1e-8, 1e-3, 0.0))

    run = made(alike, spread=0.05)

    for one in rankings(RunData(*run))["copies"]:
        assert len(one.groups) == 1
    assert said(run)[0] == "Elapsed time: FTP, NFS 3 and SMB (no difference shown)."


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
    noise = {"a": (1, 1.001, 1, 1, 1), "b": (1, 1.002, 1.001, 1, 1), "c": (1, 1.0035, 1, 1, 1)}
    of = {name: tuple((one * time) ** turn for one in noise[name]) for name, time in times.items()}
    sides = {name: Sample(own, tuple(range(5)), 0, 0, 0, 1.0) for name, own in of.items()}
    against = {}
    for pair in combinations("abc", 2):
        one, other = reversed(pair) if is_turned else pair
        found = compared(
            sides[one], sides[other], experiment="e", metric=metric, factors={},
            names=(one, other), basis="levels",
        )  # fmt: skip
        p_holm = 0.01 if "".join(pair) in differs else 0.9
        against[one, other] = replace(found, p_holm=p_holm, model_factor=least)

    groups = grouped(
        list(times), against, is_more_better=metric == "goodput_bps",
        at_limit=frozenset(limited),
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
        ((1.0,) * 5, (2.0,) * 5, True),
        ((1.0,) * 4, (2.0,) * 5, False),
        ((1.0,), (2.0,), False),
        ((1.0,) * 5, (2.0,), False),
        ((1.0,) * 5, (2.0, 2.5, 2.1, 9.0, 2.2), False),
        ((1.0,) * 5, (1.0,) * 5, False),
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
    found = rankings(RunData(*run)).get("copies", ())
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

    [alone] = rankings(RunData(run, [t for t in trials if t.experiment == "copies"]))["copies"]
    [among_ten] = rankings(RunData(run, trials))["copies"]
    assert groups(alone) == [["smb"], ["ftp"]]
    assert len(groups(among_ten)) == 1


def test_differences_within_a_group_are_reported() -> None:
    costs = {"smb": (1e-8, 0, 0), "nfs": (1.022e-8, 0, 0), "ftp": (1.044e-8, 0, 0)}
    run = made(costs, spread=0.02, trials=8)
    between = [one for one in rankings(RunData(*run))["copies"] if len(one.groups) == 1]

    assert between
    assert {ranked.behind for one in between for ranked in one.groups[0]} == {(), ("smb",)}
    assert "SMB, NFS 3 and FTP (shown: FTP slower than SMB; no other difference)" in said(run)[0]


def at_limit(costs: Mapping[str, Any], spread: float = 0.0001) -> Run:
    run, trials = copy_run(copy_study(list(costs), [LARGE], 5), costs, spread)
    return replace(run, testbed={**run.testbed, "link_rate_bps": 100_000_000}), trials


def test_services_at_the_network_limit_are_not_ranked() -> None:
    wire_s = 8 / tcp_limit_bps(100e6, 4)
    run = at_limit({"smb": (wire_s, 0, 0), "nfs": (1.004 * wire_s, 0, 0)})

    [one] = rankings(RunData(*run))["copies"]
    assert [ranked.behind for ranked in one.groups[0]] == [(), ()]
    assert one.at_limit == {"smb", "nfs"}
    assert said(run) == [
        "Elapsed time, with 1 file of 623 MB: both are as fast as the network (94.1 Mbit/s)."
    ]


def test_services_below_the_network_limit_rank_lower() -> None:
    wire_s = 8 / tcp_limit_bps(100e6, 4)
    run = at_limit({"smb": (wire_s, 0, 0), "nfs": (wire_s, 0, 0), "ftp": (2 * wire_s, 0, 0)})

    [sentence] = said(run)
    assert ", as fast as the network (94.1 Mbit/s), then FTP 2.00 " in sentence


def as_simulated(run: Run) -> Run:
    study = Study.model_validate(run[0].study).model_copy(update={"simulation": Simulation()})
    experiments = tuple(one.model_copy(update={"on": ("simulated",)}) for one in study.experiment)
    simulated = study.model_copy(update={"experiment": experiments})
    return replace(run[0], study=simulated.model_dump(mode="json", exclude_none=True)), run[1]


def by_model(
    run: RunRecord, trials: Sequence[TrialRecord], held_out: Sequence[Accuracy]
) -> tuple[Ranking, ...]:
    data = RunData(run, trials)
    data.found[held_out_of] = held_out
    return rankings(data)["copies"]


def test_a_simulated_difference_within_the_models_error_shows_no_order() -> None:
    costs = {"smb": (1e-8, 0, 0), "ftp": (1.2e-8, 0, 0)}
    run, trials = as_simulated(made(costs, spread=0.0, trials=2))

    [wide, _] = by_model(run, trials, erring(math.log(1.77), "elapsed_ns"))
    [narrow, _] = by_model(run, trials, erring(math.log(1.05), "elapsed_ns"))
    assert groups(wide) == [["smb", "ftp"]]
    assert groups(narrow) == [["smb"], ["ftp"]]
    assert narrow.model_factor == pytest.approx(1.05 ** math.sqrt(2))


def test_a_simulated_ratio_has_the_models_error_and_the_best_has_none() -> None:
    costs = {"smb": (1e-8, 0, 0), "ftp": (2e-8, 0, 0)}
    run, trials = as_simulated(made(costs, spread=0.001, trials=3))

    [one, _] = by_model(run, trials, erring(math.log(1.1), "elapsed_ns"))
    [[best], [ftp]] = one.groups
    error = 1.1 ** math.sqrt(2)
    assert (best.worse, best.low, best.high) == (1.0, None, None)
    assert ftp.worse == pytest.approx(2.0, rel=0.01)
    assert ftp.low == pytest.approx(ftp.worse / error)
    assert ftp.high == pytest.approx(ftp.worse * error)
    [unknown, _] = rankings(RunData(run, trials))["copies"]
    assert groups(unknown) == [["smb", "ftp"]]
    assert [(r.low, r.high) for group in unknown.groups for r in group] == [(None, None)] * 2
    assert unknown.model_factor is None


def test_a_level_without_trials_is_named() -> None:
    study = copy_study(list(COSTS), [LARGE])
    run = copy_run(study, COSTS, 0.005, lambda planned: planned.factors["service"] == "ftp")
    [one] = rankings(RunData(*run))["copies"]

    assert one.lacking == ("ftp",)
    assert said(run)[0].endswith("(no result of FTP).")


def test_the_ranking_comes_first_and_pools_no_datasets() -> None:
    run, trials = made()

    every = sentences(run, trials)

    assert every[0] == said((run, trials))[0]
    assert not any(one.startswith("Copies: ") for one in every)


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
    found = planned_run("manford-kolahi", "standard")
    (rates, times), _ = ranking_sentences(RunData(found.run, found.trials))
    assert "; up to 640 B: IPv4, as fast as the network, then IPv6." in rates
    assert times == "UDP round-trip time: IPv4 and IPv6 (no difference shown)."


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

    extremes, ranking, _ = sentences(replace(run, status="interrupted"), begun)
    assert ranking == (
        "SMB, NFS 3 and FTP are not ranked by elapsed time: 1 trial each cannot show an order; run "
        "at least 5 (`--trials 5`, or `trials` of a study)."
    )
    assert extremes.endswith(f"(NFS 3, {LARGE_TEXT}).")


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


@pytest.mark.parametrize(("trials", "is_shown"), [(2, False), (4, False), (5, True)])
def test_fewer_than_five_trials_show_no_order(trials: int, is_shown: bool) -> None:
    """Equal services differ in up to 22 % of runs of two or three trials, and in 5.4 % of four."""
    run = made({"smb": (1e-8, 0, 0), "ftp": (2e-8, 0, 0)}, trials=trials)
    [large, _] = rankings(RunData(*run))["copies"]
    assert large.is_tested == is_shown and large.trials == trials
    assert groups(large) == ([["smb"], ["ftp"]] if is_shown else [["smb", "ftp"]])
    assert (f". {trials} trials each cannot show an order; run " in said(run)[0]) != is_shown
    assert "fastest mean first, with 1 file of 623 MB: SMB, FTP 2.0" in said(run)[0] or is_shown
