"""Records for the store's tests."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lanlab.store import RunRecord, TrialRecord, open_store
from lanlab.store.database import Store

RUN = RunRecord(
    id="20261121-081500-small-4f2a",
    study_id="small",
    study={"schema": 1, "id": "small", "experiment": [{"id": "rates"}]},
    scale="quick",
    seed=2**62,
    testbed={"name": "virtual", "link": "10M", "link_rate_bps": 10_000_000, "facts": {}},
    versions={"lanlab": "0.1.0"},
    status="running",
    started_at="2026-11-21T08:15:00.000001+00:00",
)
TRIAL = TrialRecord(
    run_id=RUN.id,
    number=0,
    experiment="rates",
    workload="stream",
    factors={"rate_bps": 10_000, "ip_version": 6, "batched": True, "transport": "udp", "x": 0.1},
    parameters={"time_s": 1.5},
    block=0,
    purpose="trial",
    status="done",
    started_at="2026-11-21T08:15:01.000001+00:00",
    elapsed_s=1.7,
    metrics={"goodput_bps": 9_123_456.789012345, "received_messages": 2**60},
    raw={"requests": [{"id": 1, "note": "µ\ud800"}], "before": None},
)


def a_run(**changes: Any) -> RunRecord:
    return dataclasses.replace(RUN, **changes)


def a_trial(number: int = 0, **changes: Any) -> TrialRecord:
    return dataclasses.replace(TRIAL, number=number, **changes)


@contextmanager
def store_with_run(where: str | Path) -> Iterator[Store]:
    """An open store in which `a_run` was started."""
    with open_store(str(where)) as store:
        store.start_run(a_run()).release()
        yield store
