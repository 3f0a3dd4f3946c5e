"""Runs on modelled machines by the engine: repeated exactly, continued, and refused in time."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from modelled_studies import modelled_study
from small_runs import Interrupting, Watching, a_store

from lanlab.errors import RunInterrupted, StoreError, UsageError
from lanlab.run import RunRequest, new_run, resume_run
from lanlab.store import TrialRecord
from lanlab.testbeds import worlds


def study(
    sizes: tuple[int, ...] = (64, 512), trials: dict[str, Any] | None = None, **parameters: Any
) -> Any:
    return modelled_study(
        "stream",
        "goodput_bps",
        {"send_call_us": 30, "jitter_ratio": 0.2},
        {"time_s": 0.05, "warmup_s": 0.01, **parameters},
        {"message_size_bytes": list(sizes)},
        "100M",
        trials or {"min": 3, "max": 3},
    )


def told(trials: list[TrialRecord]) -> list[Any]:
    """What of trials must not depend on when or how often they were run."""
    return [
        (trial.factors, trial.block, trial.metrics, trial.raw["setup"]["world"]) for trial in trials
    ]


def test_a_seed_gives_the_same_results_and_blocks_differ(tmp_path: Path) -> None:
    found = []
    for seed in (1, 1, 2):
        with a_store(tmp_path) as store:
            run = new_run(RunRequest(study(), "quick", "simulated", None, seed), store, Watching())
            assert run.status == "done"
            found.append(told(store.trials(run.id)))
    assert found[0] == found[1] != found[2]
    assert len({str(metrics) for _, _, metrics, _ in found[0]}) == 6
    one = found[0][0][2]
    assert one["goodput_bps"] == pytest.approx(
        8 * found[0][0][0]["message_size_bytes"] / 30e-6, 0.05
    )
    assert one["lost_messages"] == 0


def record_of(trial: TrialRecord) -> dict[str, Any]:
    """All of a record but the identity of its run and the time of day."""
    record = asdict(trial)
    for name in ("run_id", "started_at", "elapsed_s"):
        del record[name]
    return record


@pytest.mark.parametrize("interrupted", [False, True], ids=["whole", "resumed"])
def test_parallel_worlds_give_the_same_record_as_sequential_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    ends_early = {"min": 3, "max": 40, "relative_ci": 0.02}
    asked = RunRequest(study((64, 100, 512), ends_early), "quick", "simulated", None, 3)
    found, at_once = [], []
    simulate = worlds.Worlds._simulate

    def counted(self: worlds.Worlds, request: Any) -> dict[str, Any]:
        at_once.append(len(self._engines))
        return simulate(self, request)

    monkeypatch.setattr(worlds.Worlds, "_simulate", counted)
    for processors in (1, 3):
        monkeypatch.setattr(worlds, "usable_processors", lambda n=processors: n)
        with a_store(tmp_path) as store:
            if interrupted:
                with pytest.raises(RunInterrupted):
                    new_run(asked, store, Interrupting(5))
                (name,) = [run.id for run in store.runs() if run.status == "interrupted"]
                run = resume_run(name, store, Watching())
            else:
                run = new_run(asked, store, Watching())
            assert run.status == "done"
            trials = store.trials(run.id)
            found.append(json.dumps([record_of(trial) for trial in trials], sort_keys=True))
            assert 9 < len(trials) < 3 * 40
        assert max(at_once) == processors
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"flows": 2}, "flows: found `2`; allowed on testbed `simulated`: 1"),
        ({"io": "batch"}, "io: found `batch`"),
        ({"kind": "fast"}, "which is at no place"),
    ],
)
def test_unsupported_simulations_are_refused_before_anything_is_stored(
    tmp_path: Path, parameters: dict[str, Any], said: str
) -> None:
    with a_store(tmp_path) as store, pytest.raises(UsageError) as refused:
        request = RunRequest(study(**parameters), "quick", "simulated", None, 1)
        new_run(request, store, Watching())
    assert said in refused.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_study_with_only_real_hosts_is_not_simulated(tmp_path: Path) -> None:
    with a_store(tmp_path) as store, pytest.raises(UsageError, match="only simulated experiments"):
        new_run(RunRequest(study(), "quick", "loopback", None, 1), store, Watching())


_RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from modelled_studies import modelled_study
from small_runs import Watching, a_store
from test_simulated_worlds import study
from lanlab.run import RunRequest, new_run
with a_store(Path({folder!r})) as store:
    new_run(RunRequest(study(tuple(range(64, 64 + {count}))), "quick", "simulated", None, 7),
            store, Watching())
"""


def test_a_resumed_simulation_gives_the_same_results(tmp_path: Path) -> None:
    """30 conditions here; `LANLAB_SIMULATED_CONDITIONS=500` for all that the claim says."""
    count = int(os.environ.get("LANLAB_SIMULATED_CONDITIONS", "30"))
    sizes = tuple(range(64, 64 + count))
    script = _RUN.format(here=str(Path(__file__).parent), folder=str(tmp_path), count=count)
    with subprocess.Popen([sys.executable, "-c", script]) as child:
        with a_store(tmp_path) as store:
            until = time.monotonic() + 120
            while time.monotonic() < until:
                time.sleep(0.05)
                # It is made with the first run.
                with contextlib.suppress(StoreError):
                    runs = store.runs()
                    if runs and len(store.trials(runs[0].id)) >= count // 2:
                        break
        child.send_signal(signal.SIGKILL)
        child.wait()
    with a_store(tmp_path) as store:
        (run,) = store.runs()
        before = len(store.trials(run.id))
        assert count // 2 <= before < 3 * count
        done = resume_run(run.id, store, Watching())
        assert done.status == "done"
        resumed = told(store.trials(run.id))
        whole = new_run(RunRequest(study(sizes), "quick", "simulated", None, 7), store, Watching())
        assert resumed == told(store.trials(whole.id))
    assert len(resumed) == 3 * count
