"""Runs that were never measured: the plan's own trials, with results drawn from a seeded model."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from copied_metrics import contents, copied
from planned_records import START, a_trial

from lanlab.analysis.disturbances.detect import Judgement
from lanlab.analysis.links.limits import tcp_limit_bps, udp_limit_bps
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.roles import ROLES
from lanlab.store import Level, RunRecord, TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.model import Study
from lanlab.studies.published import Published
from lanlab.studies.runs_on import RunsOn, study_on

Metrics = dict[str, float | int]


@dataclass(frozen=True)
class SyntheticRun:
    run: RunRecord
    trials: list[TrialRecord]
    study: Study
    published: Published

    def pair(self) -> tuple[RunRecord, list[TrialRecord]]:
        return self.run, self.trials


def synthetic_run(
    name: str,
    scale: str = "tiny",
    *,
    link_rate_bps: int | None = 10_000_000,
    shape: str = "tbf",
    fails: Callable[[PlannedTrial], bool] = lambda planned: False,
    judged: Callable[[PlannedTrial], Judgement] | None = None,
    lacks: frozenset[str] = frozenset(),
    distorts: Callable[[Metrics, float], Metrics] = lambda metrics, rate_bps: metrics,
    most_trials: int | None = None,
    title: str | None = None,
    where: RunsOn | None = None,
) -> SyntheticRun:
    """A run of a study as the plan orders it.

    Args:
        name: A study that comes with lanlab.
        scale: One of its scales.
        link_rate_bps: Of the link; the model carries 99.9 % of what such an Ethernet can.
        shape: How the link keeps it.
        fails: Whether a trial fails.
        judged: What disturbed a trial that ended well; without, its record does not say.
        lacks: Metrics that no trial has.
        distorts: What becomes of the metrics of a stream that was asked for that rate.
        most_trials: After so many the run was interrupted.
        title: In place of the study's.
        where: Only the study's experiments there.
    """
    loaded = load_study(name)
    study = loaded.study if title is None else loaded.study.model_copy(update={"title": title})
    study = study if where is None else study_on(study, where, scale)
    run = _run(study, scale, link_rate_bps, shape)
    plan, rng = Plan(study, scale, run.seed), random.Random(7)
    trials: list[TrialRecord] = []
    while (planned := plan.next_trial()) is not None and len(trials) != most_trials:
        metrics = None
        if not fails(planned):
            found = _metrics(planned.workload, planned.parameters, link_rate_bps, rng)
            if "rate_bps" in planned.parameters:
                found = distorts(found, float(planned.parameters["rate_bps"]))
            metrics = {key: value for key, value in found.items() if key not in lacks}
        load = {"facts": {"before": {"hosts": {"host0": {"load_average": 0.25}}}}}
        trial = a_trial(run, planned, metrics, {**load, **_ends(planned)})
        if judged is not None and metrics is not None:
            raw = trial.raw | {"pollution": judged(planned).to_json()}
            trial = replace(trial, raw=raw)
        trials.append(trial)
        plan.record(trials[-1])
    if plan.next_trial() is not None:
        run = replace(run, status="interrupted", ended_at=None)
    return SyntheticRun(run, trials, study, loaded.published)


def _run(study: Study, scale: str, link_rate_bps: int | None, shape: str) -> RunRecord:
    host = {"processor": "test", "processors": 2, "memory_bytes": 2**33, "kernel": "6.1"}
    return RunRecord(
        id=f"20261121-081500-{study.id}-4f2a",
        study_id=study.id,
        study=study.model_dump(mode="json", exclude_none=True),
        scale=scale,
        seed=7,
        testbed={
            "name": "virtual",
            "link": "unshaped" if link_rate_bps is None else f"{link_rate_bps // 10**6}M",
            "link_rate_bps": link_rate_bps,
            "link_facts": {"shape": shape, "topology": "cable", "framing": "ethernet"},
            "facts": {"hosts": {"host0": host, "host1": host}},
        },
        versions={"lanlab": "0.1.0", "lanlab-engine": "0.1.0", "python": "3.11.2"},
        status="done",
        started_at=START,
        ended_at=START,
    )


def _ends(planned: PlannedTrial) -> dict[str, Any]:
    """What both ends tell beside what they counted: as much as tables and figures look at."""
    if planned.workload == "echo":
        return {role: {"receive": "block"} for role in ROLES[planned.workload]}
    if planned.workload == "stations":
        # What a trial keeps of its stations is tried in tests/figures/test_station_charts.py.
        return {"client": {"service": planned.parameters["service"]}}
    if planned.workload == "copy":
        manner = {"in_order": True, "depth": 1, "block_bytes": 262_144}
        facts = {"protocol": str(planned.parameters["service"]).upper(), "protection": "none"}
        return {
            "client": {"facts": facts, "manner": manner, "faults": {}, "stalls": []},
            "setup": {"checked": {"verified": {"how": "content"}}},
        }
    flows = int(planned.parameters["flows"])
    # Of two flows the first has twice as much as the second, and so on.
    shares = [2 if flow % 2 == 0 else 1 for flow in range(flows)]
    return {
        "sender": {
            "io": "single",
            "io_choice": {"reason": "single messages follow this rate"},
            "burst_messages": 1,
            "threads": 1,
        },
        "receiver": {
            "receive": "poll",
            "receive_choice": {"reason": "it took the most"},
            "threads": 1,
            "timestamps": "program",
            "read_bytes": 262_144,
            "flows": [{"window_bytes": 125_000 * s, "window_ns": 10**9} for s in shares],
        },
    }


def _metrics(
    workload: str,
    parameters: Mapping[str, Level],
    link_rate_bps: int | None,
    rng: random.Random,
) -> dict[str, float | int]:
    noise = rng.gauss(1, 0.003)
    if workload == "copy":
        return _copied(str(parameters["dataset"]), link_rate_bps or 10**9, noise)
    size, ip_version = int(parameters["message_size_bytes"]), int(parameters.get("ip_version", 4))
    if workload == "stations":
        return _served(int(parameters["stations"]), size, noise)
    if workload == "echo":
        mean_ns = (30_000 + 40 * size + 2_000 * ip_version) * noise
        return {"rtt_mean_ns": mean_ns, "rtt_p50_ns": 0.98 * mean_ns, "timeouts": 0}
    rate_bps = link_rate_bps or 10**9
    if parameters["transport"] == "tcp":
        goodput_bps = 0.999 * tcp_limit_bps(rate_bps, ip_version) * noise
        return {"goodput_bps": goodput_bps, "retransmitted_segments": 0, "start_skew_ns": 1500}
    carried_bps = 0.999 * udp_limit_bps(rate_bps, size, ip_version) * noise
    offered_bps = float(parameters.get("rate_bps", 1.1 * carried_bps))
    goodput_bps = min(offered_bps, carried_bps)
    return {
        "goodput_bps": goodput_bps,
        "received_ratio": goodput_bps / offered_bps,
        "goodput_ratio": goodput_bps / offered_bps,
        "offered_bps": offered_bps,
        "sent_bps": offered_bps,
        **_counts(goodput_bps / offered_bps),
        "start_skew_ns": 1500,
        "max_lateness_ns": 20_000,
    }


def _copied(dataset: str, rate_bps: int, noise: float) -> Metrics:
    octets, files = contents(dataset)
    elapsed_s = (8 * octets / (0.999 * tcp_limit_bps(rate_bps, 4)) + 0.002 * files) * noise
    return {**copied(dataset, elapsed_s), "retries": 0, "stall_ratio": 0.0}


def _served(stations: int, size: int, noise: float) -> Metrics:
    """A server that takes 0.1 ms and 10 ns an octet, one after another, on a way of 0.2 ms."""
    service_s = 1e-4 + 1e-8 * size
    response_s = max(service_s + 2e-4, stations * service_s) * noise
    rate = stations / response_s
    return {
        "stations": stations,
        "operations_per_s": rate,
        "goodput_bps": 8 * size * rate,
        "response_mean_ns": 1e9 * response_s,
        "response_p99_ns": 3e9 * response_s,
        "jain_index": 0.99,
        "errors": 0,
        "little_ratio": 1.0,
    }


def _counts(received_ratio: float) -> dict[str, float | int]:
    """Of ten thousand messages: of four that are lost one is at the receiver, three before."""
    received = round(10_000 * received_ratio)
    at_receiver = (10_000 - received) // 4
    return {
        "offered_messages": 10_000,
        "sent_messages": 10_000,
        "received_messages": received,
        "lost_messages": 10_000 - received,
        "loss_ratio": 1 - received / 10_000,
        "refused_messages": 0,
        "unsent_messages": 0,
        "skipped_messages": 0,
        "lost_sender_queue_messages": 10_000 - received - at_receiver,
        "lost_link_messages": 0,
        "lost_backlog_messages": 0,
        "lost_socket_buffer_messages": at_receiver,
        "lost_late_messages": 0,
    }
