"""Findings on stored runs: which trials count, and what a run has and cannot have."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from copy_runs import copy_run
from planned_runs import PlannedRun, planned_run, without_rate

from lanlab.analysis.findings.judge import judge_run
from lanlab.analysis.findings.run_evidence import RunEvidence
from lanlab.analysis.findings.sample import Trials
from lanlab.analysis.findings.verdicts import Judgement, Verdicts, findings_of
from lanlab.analysis.simulation.model_error import model_error_log, of_metric, ratio_error_log
from lanlab.analysis.simulation.run import held_out_of, run_accuracies
from lanlab.analysis.trials.run_data import RunData
from lanlab.errors import LabError
from lanlab.plan.plan import PlannedTrial
from lanlab.report.findings.finding_text import (
    comparison_text,
    counts_sentence,
    evidence_lines,
    verdict_text,
)
from lanlab.store import TrialRecord
from lanlab.studies.findings import Finding
from lanlab.studies.load import load_study
from lanlab.studies.model import Study

#: Seconds a byte, a file and a trial of each service: cheap by the one, dear by the other.
_SERVICES = {
    "smb1": (8.7e-8, 9.5e-3, 0.0),
    "smb1+nbf": (8.7e-8, 9.5e-3, 0.0),
    "smb1+ipx": (8.9e-8, 9.5e-3, 0.0),
    "smb1+nbipx": (8.8e-8, 9.5e-3, 0.0),
    "smb": (8.5e-8, 9e-3, 0.0),
    "nfs": (8.8e-8, 5e-3, 0.0),
    "ftp": (9.1e-8, 3e-3, 0.0),
    "webdav": (9.4e-8, 2e-3, 0.0),
    "sftp": (9.9e-8, 1e-3, 0.0),
}


def _study(name: str) -> Study:
    return load_study(name).study


def finding(form: str, **statement: Any) -> Finding:
    whole = {"form": form, "metric": "goodput_bps", **statement}
    return Finding.model_validate({"id": "f", "claim": "So it is.", "statement": whole})


def judged(run: PlannedRun, form: str, **statement: Any) -> Judgement:
    return judge_run([finding(form, **statement)], RunData(run.run, run.trials)).judgements[0]


def scattered(trial: TrialRecord, share: float) -> TrialRecord:
    metrics = {key: value * (1 + share) for key, value in trial.metrics.items()}
    return replace(trial, metrics=metrics)


@pytest.fixture(scope="module")
def sweep() -> PlannedRun:
    """Ten blocks of a sweep on 10 Mbit/s; each trial off by a little of its own."""
    found = planned_run("milanovic-srbljic", "full")
    trials = [scattered(t, 1e-4 * (t.number * 7919 % 11 - 5)) for t in found.trials]
    return replace(found, trials=trials)


def test_levels_are_read_in_any_unit(sweep: PlannedRun) -> None:
    at = {"rate_bps": "500kB/s", "message_size_bytes": 500}
    found = judged(sweep, "value", at=at, min=3.99e6, max=4.01e6)

    assert found.verdict == "holds"
    assert found.comparisons[0].comparison.n == (10,)


def test_search_trials_are_not_conditions(sweep: PlannedRun) -> None:
    searched = {t.parameters["rate_bps"] for t in sweep.trials if t.purpose == "search"}
    swept = {t.parameters.get("rate_bps") for t in sweep.of("udp-500")}
    only = sorted(float(rate) for rate in searched - swept)
    assert only

    assert judged(sweep, "value", at={"rate_bps": only[0]}, min=1.0).verdict == "not tested"


def test_two_conditions_are_compared_within_blocks(sweep: PlannedRun) -> None:
    found = judged(sweep, "less", at={"message_size_bytes": 500},
                   a={"rate_bps": "500kB/s"}, b={"rate_bps": "800kB/s"})  # fmt: skip

    assert found.verdict == "holds"
    assert found.comparisons[0].comparison.test == "Student's t by block"
    assert found.comparisons[0].comparison.value == pytest.approx(5 / 8, rel=1e-3)


def test_the_maximum_of_a_sweep_is_compared_with_the_link(sweep: PlannedRun) -> None:
    at = {"transport": "udp", "message_size_bytes": 500, "take": "greatest"}
    found = judged(sweep, "share", at=at, min=0.99, max=1.01)

    assert found.verdict == "holds"
    # Every rate beyond the link's brings the same.
    assert found.comparisons[0].comparison.candidates > 3
    assert judged(without_rate(sweep), "share", at=at, min=0.99).verdict == "not tested"


def test_repeated_disturbed_trials_are_excluded_from_verdicts(sweep: PlannedRun) -> None:
    bad = next(t for t in sweep.of("udp-500") if t.parameters["rate_bps"] == 4_000_000)
    pollution = {"findings": [{"code": "load", "repeat_helps": True}]}
    disturbed = replace(scattered(bad, -0.5), raw={"pollution": pollution})
    again = replace(bad, number=max(t.number for t in sweep.trials) + 1)
    trials = [disturbed if t.number == bad.number else t for t in sweep.trials]
    at = {"rate_bps": "500kB/s", "message_size_bytes": 500}

    repeated = replace(sweep, trials=[*trials, again])
    assert judged(repeated, "value", at=at, min=3.99e6, max=4.01e6).verdict == "holds"
    kept = replace(sweep, trials=trials)
    assert judged(kept, "value", at=at, min=3.99e6, max=4.01e6).verdict == "undecided"


def test_a_condition_with_only_failed_trials_is_untested() -> None:
    def fails(planned: PlannedTrial) -> bool:
        return planned.parameters.get("message_size_bytes") == 512

    run = planned_run("manford-kolahi", "tiny", 100_000_000, fails)
    found = judged(run, "monotone", at={"ip_version": 4, "message_size_bytes": [128, 512, 1408]},
                   along="message_size_bytes", direction="rising")  # fmt: skip

    assert found.verdict == "not tested"
    assert "message_size_bytes 512" in found.reasons[0]


def test_the_time_to_decide_follows_from_completed_trials(sweep: PlannedRun) -> None:
    timed = [replace(trial, elapsed_s=30.0) for trial in sweep.trials]
    last = max(trial.number for trial in timed)
    failed = replace(timed[0], number=last + 1, status="failed", elapsed_s=900.0, metrics={})
    noisy = [scattered(t, 0.2 * (t.number * 7919 % 11 - 5)) for t in timed]
    run = replace(sweep, trials=[*noisy, failed])
    at = {"rate_bps": "500kB/s", "message_size_bytes": 500}
    mean = judged(run, "value", at=at, min=1.0).comparisons[0].comparison.value
    found = judged(run, "value", at=at, min=0.8 * mean)

    assert found.verdict == "undecided" and found.further is not None
    assert found.further.trials == found.further.trials_per_condition - 10 > 0
    assert found.further.minutes == found.further.trials / 2


def test_a_statement_about_another_system_is_reported_for_this_one_too() -> None:
    run = planned_run("manford-kolahi", "quick", 100_000_000)
    trials = [scattered(t, 1e-4 * (t.number * 7919 % 11 - 5)) for t in run.trials]
    verdicts = judge_run(load_study("manford-kolahi").findings, RunData(run.run, trials))
    by_id = {one.finding.id: one for one in verdicts.judgements}

    assert verdicts.count("not tested") == 21
    header = by_id["f16"]
    assert header.assumed == (("os", "vista"),)
    assert header.here is not None and header.here.verdict in ("holds", "undecided")
    assert by_id["f6"].here is None
    assert by_id["f6"].reasons[0].startswith("this run does not have os vista")


def test_a_finding_on_this_system_is_judged_once(
    sweep: PlannedRun,
) -> None:
    other = {"form": "value", "at": {"os": "vista", "message_size_bytes": 500}, "min": 1.0}
    own = {"form": "value", "at": {"message_size_bytes": 500}, "min": 1.0}
    alone = judged(sweep, "all", of=[other])
    assert (alone.verdict, alone.comparisons) == ("not tested", ())
    assert alone.here is not None and alone.here.verdict == "holds"
    assert alone.assumed == (("os", "vista"),)
    assert "os" not in alone.here.comparisons[0].comparison.what
    both = judged(sweep, "all", of=[other, own])
    assert both.comparisons and (both.here, both.assumed) == (None, ())
    # Nor where there is no number of this system either.
    nothing = judged(sweep, "all", of=[{**other, "metric": "rtt_mean_ns"}])
    assert (nothing.verdict, nothing.here, nothing.assumed) == ("not tested", None, ())


def test_a_finding_about_two_systems_is_not_tested_on_one() -> None:
    run, trials = copy_run(_study("schomer-claason"), _SERVICES, 0.002)
    verdicts = judge_run(load_study("schomer-claason").findings, RunData(run, trials))
    by_id = {one.finding.id: one for one in verdicts.judgements}

    assert verdicts.count("not tested") == 14
    assert by_id["f7"].here is None


def test_services_replace_protocols_as_levels() -> None:
    run, trials = copy_run(_study("schomer-claason"), _SERVICES, 0.002)
    verdicts = judge_run(load_study("schomer-claason").findings, RunData(run, trials))
    by_id = {one.finding.id: one for one in verdicts.judgements}

    slower = by_id["f13"]
    assert slower.verdict == "not tested"
    assert slower.here is not None and slower.here.verdict == "holds"
    assert len(slower.here.comparisons) == 9
    assert slower.assumed == (("os", "this system"),)
    order = by_id["f14"]
    # The model's orders differ: what costs least by the octet costs most by the file.
    assert order.here is not None and order.here.verdict == "does not hold"
    assert order.assumed == (("os", "w2ksp2"),)


def test_a_finding_may_name_a_level_of_the_study_or_of_ours() -> None:
    run, trials = copy_run(_study("schomer-claason"), _SERVICES, 0.002)
    sides = [("one-large-file", "many-small-files"),
             ("1x6230kB", "198x100B..400kB=4720kB")]  # fmt: skip
    for large, many in sides:
        own = finding("less", metric="elapsed_ns", at={"protocol": "nfs"},
                      a={"dataset": large}, b={"dataset": many})  # fmt: skip
        assert judge_run([own], RunData(run, trials)).judgements[0].verdict == "holds"


def test_a_speed_test_is_shown_next_to_ftp_in_both_directions_and_each_amount() -> None:
    study = _study("brutman-mtcp")
    run, trials = copy_run(study, {"ftp": (9.2e-7, 5e-3, 0.0)}, 0.002)
    slower = judge_run(load_study("brutman-mtcp").findings, RunData(run, trials)).judgements[0]

    assert slower.finding.id == "f1" and slower.verdict == "not tested"
    assert slower.here is not None and slower.here.verdict == "holds"
    assert len(slower.here.comparisons) == 8
    assert dict(slower.assumed) == {"machine": "this system", "adapter": "this system"}


def test_findings_are_read_from_study_or_record() -> None:
    run = planned_run("manford-kolahi").run
    own = finding("value", min=1.0)
    kept = replace(run, study_id="mine", study={**run.study, "finding": [own.model_dump()]})

    assert findings_of(run) == load_study("manford-kolahi").findings
    assert findings_of(kept) == (own,)
    assert findings_of(replace(run, study_id="mine")) == ()


def test_a_condition_without_the_metric_does_not_hide_the_others(sweep: PlannedRun) -> None:
    whole = RunEvidence.of(sweep.run, sweep.trials).cells("goodput_bps")
    first = sweep.trials[0].factors
    trials = [
        replace(trial, metrics={}) if trial.factors == first else trial for trial in sweep.trials
    ]
    left = RunEvidence.of(sweep.run, trials).cells("goodput_bps")
    assert len(left) == len(whole) - 1 > 1


@pytest.fixture(scope="module")
def tiny() -> PlannedRun:
    return planned_run("milanovic-srbljic", "tiny")


@pytest.fixture(scope="module")
def evidence(tiny: PlannedRun) -> RunEvidence:
    return RunEvidence.of(tiny.run, tiny.trials)


def test_a_run_names_missing_conditions(evidence: RunEvidence) -> None:
    assert evidence.title == f"run {evidence.run.id}"
    assert not evidence.can_lack and evidence.levels("transport") == ()
    assert evidence.ratio("goodput_bps", {}, {}) is None
    assert evidence.why_not("goodput_bps", {"os": ("xp",)}) == "this run does not have os xp"
    assert evidence.why_not("nothing_bps", {}) == "this run has no nothing_bps"
    other = evidence.why_not("goodput_bps", {"message_size_bytes": (7,)})
    assert other.startswith(
        "this run has no goodput_bps at message_size_bytes 7, only at message_size_bytes "
    )
    assert "500" in other
    sizes = {cell.levels["message_size_bytes"] for cell in evidence.cells("goodput_bps")}
    known = {"message_size_bytes": tuple(sizes), "transport": ("udp",)}
    assert evidence.why_not("goodput_bps", known).startswith("no trial of this run has goodput_bps")
    # One of several levels is enough to be looked at further.
    some = {"message_size_bytes": (500, 7)}
    assert evidence.why_not("goodput_bps", some).startswith("no trial of this run has goodput_bps")


def test_a_run_without_experiments_or_without_trials_has_no_conditions(tiny: PlannedRun) -> None:
    bare = replace(tiny.run, study={"schema": 1, "id": "mine", "title": "Mine"}, scale="gone")
    evidence = RunEvidence.of(bare, [])
    assert (evidence.conditions, evidence.factors) == ((), set())
    empty = judge_run([finding("value", min=1.0)], RunData(tiny.run, []))
    assert [one.verdict for one in empty.judgements] == ["not tested"]
    assert empty.judgements[0].is_repeatable


def test_a_run_has_the_levels_of_its_conditions(evidence: RunEvidence) -> None:
    assert evidence.speaks("goodput_bps", {"message_size_bytes": (500,)}, ("message_size_bytes",))
    assert not evidence.speaks("goodput_bps", {"message_size_bytes": (7,)}, ())
    # A factor that a run cannot have is passed over, unless it is gone through.
    assert evidence.speaks("goodput_bps", {"os": ("xp",)}, ("message_size_bytes",))
    assert not evidence.speaks("goodput_bps", {"os": ("xp",)}, ("os",))
    assert not evidence.speaks("nothing_bps", {}, ())


def test_the_level_of_this_system_applies_to_every_condition(
    evidence: RunEvidence,
) -> None:
    assumed = replace(evidence, assumed={"os": "xp"})
    assert assumed.levels("os") == ("xp",)
    assert {cell.levels["os"] for cell in assumed.cells("goodput_bps")} == {"xp"}
    assert "os" not in evidence.cells("goodput_bps")[0].levels
    assert assumed.speaks("goodput_bps", {"os": ("xp",)}, ())
    assert not assumed.speaks("goodput_bps", {"os": ("vista",)}, ())
    assert len(assumed.cells("goodput_bps")) == len(evidence.cells("goodput_bps"))


def test_shares_of_a_run_are_rates_divided_by_wire_capacity(evidence: RunEvidence) -> None:
    rates = {cell.name: cell for cell in evidence.cells("goodput_bps")}
    shares = evidence.shares("goodput_bps")

    assert len(shares) == len(rates) > 0
    for share in shares:
        rate = rates[share.name]
        size = share.levels["message_size_bytes"]
        assert share.varied == rate.varied
        if share.levels["transport"] == "udp" and size == 500:
            # Ethernet, IPv4 and UDP add 66 bytes.
            limit = 10e6 * 500 / 566
            assert share.sample.mean == pytest.approx(rate.sample.mean / limit)


def test_blocks_with_two_trials_of_a_condition_are_not_paired(tiny: PlannedRun) -> None:
    in_one = [replace(trial, block=0) for trial in tiny.trials]
    pairs = [
        [cell.sample for cell in RunEvidence.of(tiny.run, trials).cells("goodput_bps")]
        for trials in (tiny.trials, in_one)
    ]
    several = 0
    for planned, merged in zip(*pairs, strict=True):
        assert isinstance(planned, Trials) and isinstance(merged, Trials)
        assert planned.blocks == tuple(range(len(planned.values)))
        assert (merged.values, merged.positions) == (planned.values, planned.positions)
        assert merged.blocks == (() if len(merged.values) > 1 else (0,))
        several += len(merged.values) > 1
    assert several


def test_a_simulated_judgement_counts_fitted_conditions() -> None:
    found = planned_run("milanovic-srbljic", where="simulated")
    asked = [one for one in findings_of(found.run) if one.id in ("f7", "f10")]
    verdicts = judge_run(asked, RunData(found.run, found.trials))

    assert verdicts.is_simulated
    without, three = verdicts.judgements
    assert three.fitted == (2, 3)
    assert verdict_text(three).startswith(f"{three.verdict} in the simulation (model fitted to it)")
    unstated = replace(three, is_fitted_to=False)
    assert verdict_text(unstated).startswith(
        f"{three.verdict} in the simulation (model fitted to 2 of its 3"
    )
    said = counts_sentence(verdicts)
    assert "a simulation" in said and "Holm" not in said
    # Seeds of one model are no sample: no test, no p, no size of an effect.
    assert verdicts.family == 0 and three.comparisons and three.further is None
    for one in three.comparisons:
        assert (one.p_holm, one.comparison.hedges_g) == (None, None)
        assert one.low == pytest.approx(one.comparison.value / one.comparison.model_factor)
        assert one.comparison.model_factor > 1
    # Without a comparison there is no share.
    assert without.comparisons == () and without.fitted is None
    real = planned_run("milanovic-srbljic", where="real")
    measured = judge_run(asked, RunData(real.run, real.trials))
    assert not measured.is_simulated
    assert {one.fitted for one in measured.judgements} == {None}
    assert not any("simulation" in verdict_text(one) for one in measured.judgements)


def test_a_value_fitted_under_another_load_is_not_fitted_to_the_finding() -> None:
    """What is printed of the 486 is read under the highest load, the finding is of any."""
    found = planned_run("milanovic-srbljic", "quick", where="simulated")
    highest = max(int(one.parameters.get("rate_bps", 0)) for one in found.trials)
    peaked = [
        replace(one, metrics={**one.metrics, "goodput_bps": 1e6})
        if one.parameters.get("rate_bps") == highest
        else one
        for one in found.trials
    ]
    asked = [one for one in findings_of(found.run) if one.id == "f2"]
    for trials, how in ((found.trials, "to it"), (peaked, "to 1 of its 2 conditions")):
        (judged,) = judge_run(asked, RunData(found.run, trials)).judgements
        assert f"(model fitted {how})" in verdict_text(judged)
        assert judged.is_fitted_to == (how == "to it")


def test_missing_mechanisms_are_reported_with_contradicted_findings() -> None:
    found = planned_run("milanovic-srbljic", where="simulated")
    study = Study.model_validate(found.run.study)
    verdicts = judge_run(findings_of(found.run), RunData(found.run, found.trials))
    assert verdicts.count("does not hold") and study.simulation is not None
    known = {one.finding: one.mechanism for one in study.simulation.missing}
    for one in verdicts.judgements:
        said = [line for line in evidence_lines(one, study) if line.startswith("missing in the")]
        is_contradicted = one.verdict == "does not hold"
        mechanism = known.get(one.finding.id, "not known")
        # The means contradict more findings, but not by more than the model's error.
        is_said = is_contradicted or (one.means == "does not hold" and one.finding.id in known)
        assert said == [f"missing in the model: {mechanism}"] * is_said


@pytest.mark.parametrize("name", ["manford-kolahi", "milanovic-srbljic"])
def test_missing_mechanisms_name_existing_findings(name: str) -> None:
    loaded = load_study(name)
    assert loaded.study.simulation is not None
    named = {one.finding for one in loaded.study.simulation.missing}
    assert named and named <= {one.id for one in loaded.findings}


def test_a_number_chosen_for_a_finding_counts_as_fitted_to_it() -> None:
    found = planned_run("milanovic-srbljic", where="simulated")
    asked = [one for one in findings_of(found.run) if one.id in ("f9", "f10")]
    simulation = found.run.study["simulation"]
    first, *others = simulation["machine"]
    (name, number), *rest = first["numbers"].items()
    numbers = {name: {**number, "chosen_for": ["f10"]}, **dict(rest)}
    changed = {**simulation, "machine": [{**first, "numbers": numbers}, *others]}
    run = replace(found.run, study={**found.run.study, "simulation": changed})

    other, ours = judge_run(asked, RunData(run, found.trials)).judgements
    # A value that states f10 is fitted anyway.
    assert (other.is_fitted_to, ours.is_fitted_to) == (False, True)
    assert verdict_text(ours).endswith("(model fitted to it)")
    published = load_study("poo-tan")
    assert published.study.simulation is not None
    fitted = [one.id for one in published.findings if published.study.simulation.is_fitted_to(one)]
    assert fitted == ["f8", "f9", "f13", "f14", "f15", "f16", "f18", "f20", "f22", "f23"]


def test_a_fitted_maximum_belongs_to_every_number_of_stations() -> None:
    """The order of response times with 15 stations follows from the fitted ratios of the greatest
    throughputs, whatever numbers of stations a scale has.
    """
    found = planned_run("poo-tan", "quick", where="simulated")
    verdicts = judge_run(findings_of(found.run), RunData(found.run, found.trials))
    judged = {one.finding.id: one for one in verdicts.judgements}
    assert judged["f6"].fitted == (4, 8)
    assert "(model fitted to 4 of its 8 conditions)" in verdict_text(judged["f6"])


def test_a_greatest_value_needs_all_levels() -> None:
    """Of 1, 4 and 15 stations, one alone is fastest: 2 or 3 were not tried."""
    found = planned_run("poo-tan", "quick", where="simulated")
    falling = [
        replace(one, metrics={**one.metrics, "goodput_bps": 1e6 / int(one.parameters["stations"])})
        for one in found.trials
    ]
    [f11] = [one for one in findings_of(found.run) if one.id == "f11"]
    [judged] = judge_run([f11], RunData(found.run, falling)).judgements
    assert judged.verdict == "not tested"
    assert judged.reasons == ("the greatest may be at a value of stations that this scale omits",)


def test_a_greatest_value_is_not_read_off_one_level() -> None:
    """Stations' response times differ most at 2 to 15 stations; here only 3 of them were tried."""
    found = planned_run("poo-tan", "tiny", where="simulated")
    [f25] = [one for one in findings_of(found.run) if one.id == "f25"]
    several = [
        replace(one, metrics={**one.metrics, "response_stations_cv_ratio": 0.03})
        for one in found.trials
        if one.parameters["stations"] == 3
    ]
    [judged] = judge_run([f25], RunData(found.run, several)).judgements
    assert judged.verdict == "not tested"
    assert judged.reasons == ("the greatest may be at a value of stations that this scale omits",)
    study = load_study("poo-tan")
    read = [
        one.value.id
        for one in run_accuracies(RunData(found.run, several, published=study.published))
    ]
    assert "st.fair" not in read


def test_numbers_are_chosen_for_existing_findings(tmp_path: Path) -> None:
    folder = tmp_path / "poo"
    shutil.copytree(load_study("poo-tan").path.parent, folder)
    machines = folder / "machines.toml"
    machines.write_text(machines.read_text().replace('chosen_for = ["f22"', 'chosen_for = ["f99"'))

    with pytest.raises(LabError, match=r"chosen_for.*f99"):
        load_study(str(folder))


@pytest.fixture(scope="module")
def simulated() -> PlannedRun:
    return planned_run("manford-kolahi", "quick", where="simulated")


@pytest.fixture(scope="module")
def by_model(simulated: PlannedRun) -> Verdicts:
    return judge_run(findings_of(simulated.run), RunData(simulated.run, simulated.trials))


def test_a_run_takes_the_error_of_each_metric(simulated: PlannedRun, by_model: Verdicts) -> None:
    """Manford & Kolahi's four throughputs were held out, but only two round trips."""
    held_out = held_out_of(RunData(simulated.run, simulated.trials))
    error = model_error_log(of_metric(held_out, "goodput_bps"))
    assert error is not None
    factors: dict[str, list[float]] = {}
    for judgement in by_model.judgements:
        for one in judgement.comparisons:
            if one.comparison.measure == "ratio":
                factors.setdefault(one.comparison.metric, []).append(one.comparison.model_factor)
    of_ratios = math.exp(ratio_error_log(error))
    assert all(one == pytest.approx(of_ratios) for one in factors["goodput_bps"])
    assert set(factors["rtt_mean_ns"]) == {math.inf}


def test_the_verdict_says_what_the_means_show_and_how_right_the_model_is(
    simulated: PlannedRun, by_model: Verdicts
) -> None:
    study = Study.model_validate(simulated.run.study)
    open_ones = [one for one in by_model.judgements if one.verdict == "undecided" and one.means]
    reasons = {verdict_text(one).partition(", but ")[2] for one in open_ones}
    assert "the model's error is not known" in reasons
    assert any(one.startswith("the model may err by a factor of 1.") for one in reasons)
    for one in open_ones:
        means = "agree" if one.means == "holds" else "disagree"
        assert f"): the means {means}, but the model" in verdict_text(one)
        lines = evidence_lines(one, study)
        assert "more seeds would not decide it: they share the model's error" in lines
        assert "(means over seeds; the model" in comparison_text(one.comparisons[0], study)
