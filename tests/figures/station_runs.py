"""A run of stations that was never measured: trials of simulated queues, summed as if they were."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "workloads"))

from made_up_stations import OUTCOMES, closed_queue

from lanlab.plan.conditions import expand
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.load import load_study
from lanlab.studies.model import Study
from lanlab.studies.published import Published
from lanlab.studies.runs_on import study_on
from lanlab.workloads.stations.steady import steady_part
from lanlab.workloads.stations.sums import station_sums

_START = "2026-11-21T08:15:00.000000+00:00"
#: Of an operation at the server: alone, and of an octet, nanoseconds.
_SERVICE_NS, _PER_BYTE_NS = 400_000.0, 20.0
_WRITES_COST = 1.5
_STATIONS = [1, 2, 4, 8, 15]


@dataclass(frozen=True)
class StationRun:
    run: RunRecord
    trials: list[TrialRecord]
    study: Study
    published: Published


def service_ns(operation: str, size: int) -> float:
    return (_WRITES_COST if operation == "write" else 1.0) * (_SERVICE_NS + _PER_BYTE_NS * size)


def station_run(*, errors: bool = False, trials: int = 2, operations: int = 600) -> StationRun:
    """
    The study `poo-tan` with one service: M/M/1//N, each trial with a seed of its own.

    Args:
        errors: Whether every 50th operation of the third station was timed out.
        trials: Of each condition.
        operations: Of each trial.
    """
    loaded = load_study("poo-tan")
    changed: dict[str, Any] = loaded.study.model_dump(mode="json", exclude_none=True, by_alias=True)
    own = changed["scale"]["quick"]["experiment"]["read-write"]
    own["factors"] = {
        "service": ["smb"],
        "message_size_bytes": [750, 6000, 30_000],
        "stations": _STATIONS,
    }
    study = study_on(Study.model_validate(changed), "real", "quick")
    run = RunRecord(
        id="20261121-081500-poo-tan-4f2a",
        study_id=study.id,
        study=study.model_dump(mode="json", exclude_none=True),
        scale="quick",
        seed=7,
        testbed={"name": "virtual", "link": "1G", "link_rate_bps": None, "facts": {"hosts": {}}},
        versions={"lanlab": "0.1.0"},
        status="done",
        started_at=_START,
        ended_at=_START,
    )
    made = []
    for condition in expand(study, "quick"):
        parameters = condition.parameters
        number = int(parameters["stations"])
        for block in range(trials):
            mean_ns = service_ns(
                str(parameters["operation"]), int(parameters["message_size_bytes"])
            )
            readings = closed_queue(
                number,
                operations,
                service_ns=mean_ns,
                latency_ns=1e6,
                size=int(parameters["message_size_bytes"]),
                seed=len(made),
            )
            if errors and number > 2:
                struck = (readings["station"] == 2).nonzero()[0][::50]
                readings["outcome"][struck] = OUTCOMES.index("timed_out")
            sums = station_sums(readings, steady_part(readings, number), OUTCOMES, stations=number)
            made.append(
                TrialRecord(
                    run_id=run.id,
                    number=len(made),
                    experiment=condition.experiment,
                    workload=condition.workload,
                    factors=dict(condition.factors),
                    parameters=dict(parameters),
                    block=block,
                    purpose="trial",
                    status="done",
                    started_at=_START,
                    elapsed_s=0.5,
                    metrics=sums.metrics,
                    raw={"client": {"station_sums": sums.record}, "facts": {}},
                    error=None,
                )
            )
    return StationRun(run, made, study, loaded.published)
