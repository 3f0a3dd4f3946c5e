"""An embedded server serves its stations evenly, with few threads."""

import threading
from pathlib import Path

import pytest
from trial_running import LEAD_S, opened_pair

from lanlab.performers import perform_between
from lanlab.workloads import WORKLOADS, CounterChanges

#: Of the engine itself, those that serve, and those that read files; some begin and end meanwhile.
MOST_THREADS = 24


@pytest.mark.figures
def test_a_hundred_stations_are_served_evenly_by_few_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANLAB_CACHE", str(tmp_path))
    kind = WORKLOADS["stations"]
    asked = {"service": "nfs", "stations": 100, "message_size_bytes": 750, "time_s": 2.0}
    condition = kind.Parameters.model_validate(asked)
    with opened_pair() as pair:
        server, over, counts = pair.end(1).engine.pid, threading.Event(), [0]

        def count() -> None:
            while not over.wait(0.02):
                counts.append(len(list(Path(f"/proc/{server}/task").iterdir())))

        counting = threading.Thread(target=count)
        counting.start()
        try:
            exchange = perform_between(kind, condition, pair.end(0), pair.end(1), LEAD_S)
        finally:
            over.set()
            counting.join()
        metrics = kind.summarise(condition, exchange, CounterChanges())
    assert exchange.error is None
    assert 3 < max(counts) <= MOST_THREADS
    assert metrics["jain_index"] > 0.9
