"""Runs as a plan orders them, with results from a model instead of a measurement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from copied_metrics import contents, copied
from planned_records import START, a_trial

from lanlab.analysis.comparison.runs import Paired, pair_sides, sides_of
from lanlab.analysis.comparison.sides import Run
from lanlab.analysis.links.limits import tcp_limit_bps, udp_limit_bps
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.model import RunsOn, Study
from lanlab.studies.published import Published
from lanlab.studies.runs_on import study_on

Metrics = dict[str, float | int]


@dataclass(frozen=True)
class PlannedRun:
    run: RunRecord
    trials: list[TrialRecord]
    published: Published

    def of(self, experiment: str) -> list[TrialRecord]:
        return [trial for trial in self.trials if trial.experiment == experiment]


def pair_runs(runs: Sequence[Run], **options: Any) -> Paired:
    return pair_sides(sides_of(runs), settings_differ=False, **options)


def a_run(study: Study, scale: str, link_rate_bps: int | None) -> RunRecord:
    return RunRecord(
        id="20261121-081500-planned-4f2a",
        study_id=study.id,
        study=study.model_dump(mode="json", exclude_none=True),
        scale=scale,
        seed=7,
        testbed={"name": "virtual", "link": "any", "link_rate_bps": link_rate_bps, "facts": {}},
        versions={"lanlab": "0.1.0"},
        status="done",
        started_at=START,
        ended_at=START,
    )


def planned_run(
    name: str,
    scale: str = "tiny",
    link_rate_bps: int | None = 10_000_000,
    fails: Callable[[PlannedTrial], bool] = lambda planned: False,
    where: RunsOn | None = None,
    carries: Callable[[PlannedTrial], float] = lambda planned: 1.0,
) -> PlannedRun:
    """A whole run of a study that comes with lanlab, or of its part on real or modelled hosts.

    Args:
        carries: Share of its rate that the link carries in a trial.
    """
    loaded = load_study(name)
    study = study_on(loaded.study, where) if where else loaded.study
    run = a_run(study, scale, link_rate_bps)
    plan = Plan(study, scale, run.seed)
    trials: list[TrialRecord] = []
    while (planned := plan.next_trial()) is not None:
        rate_bps = link_rate_bps and round(link_rate_bps * carries(planned))
        metrics = modelled(planned.workload, planned.parameters, rate_bps)
        trials.append(a_trial(run, planned, None if fails(planned) else metrics))
        plan.record(trials[-1])
    return PlannedRun(run, trials, loaded.published)


def modelled(workload: str, parameters: Mapping[str, Level], link_rate_bps: int | None) -> Metrics:
    """What a link brings that carries exactly its limit; one without a rate carries everything."""
    if workload == "copy":
        dataset = str(parameters["dataset"])
        octets, _ = contents(dataset)
        return copied(dataset, 8 * octets / tcp_limit_bps(link_rate_bps or 1e12, 4))
    if workload == "stations":
        stations = int(parameters["stations"])
        # Rises to 6 stations and falls again.
        return {"goodput_bps": 1e5 * stations / (1 + (stations / 6) ** 2), "response_mean_ns": 1e6}
    size, ip_version = int(parameters["message_size_bytes"]), int(parameters["ip_version"])
    if workload == "echo":
        return {"rtt_mean_ns": 30_000.0 + size}
    if parameters["transport"] == "tcp":
        return {"goodput_bps": tcp_limit_bps(link_rate_bps or 1e12, ip_version)}
    carried_bps = udp_limit_bps(link_rate_bps or 1e12, size, ip_version)
    offered_bps = float(parameters.get("rate_bps", 2 * carried_bps))
    goodput_bps = min(offered_bps, carried_bps)
    ratio = goodput_bps / offered_bps
    return {"goodput_bps": goodput_bps, "received_ratio": ratio, "goodput_ratio": ratio}


def without_rate(found: PlannedRun) -> PlannedRun:
    """The same run with a testbed that says nothing of its link's rate."""
    testbed = {key: value for key, value in found.run.testbed.items() if key != "link_rate_bps"}
    return replace(found, run=replace(found.run, testbed=testbed))
