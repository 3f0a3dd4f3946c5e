"""Single measurements whose trials fail: what is said, what is kept, and how the command ends."""

from pathlib import Path

import pytest
from command_line import Lanlab
from noted_engines import NotedEngines

from lanlab.cli.running.watch import RunWatch
from lanlab.plan.plan import PlannedTrial
from lanlab.workloads import Progress

QUICK = ("--testbed", "loopback", "--warmup", "0", "--rate", "1M", "--size", "100")


@pytest.fixture
def _dying_sender(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender's engine is killed once, when the receiver reports messages."""
    engines, shows = NotedEngines(folder), RunWatch.trial_progress
    monkeypatch.setenv("LANLAB_ENGINE", str(engines.program))

    def kills(watch: RunWatch, trial: PlannedTrial, progress: Progress) -> None:
        if progress.messages:
            monkeypatch.setattr(RunWatch, "trial_progress", shows)
            engines.kill(0)

    monkeypatch.setattr(RunWatch, "trial_progress", kills)


@pytest.mark.usefixtures("_dying_sender")
def test_a_failed_measurement_shows_reason_and_partial_counts(lanlab: Lanlab) -> None:
    said = lanlab("stream", *QUICK, "--time", "2")

    assert said.code == 1
    error, seen = [line for line in said.err.splitlines() if not line.startswith("warning")][-2:]
    assert error == "error: host0: the engine was ended by signal 9"
    word, count = seen.removeprefix("before the failure: ").split()[:2]
    assert word == "received" and 0 < int(count.rstrip(",")) < 2 * 1e6 / 800
    assert "goodput" not in said.out
    assert "saved as" in said.out
    assert lanlab("show", "last").out.startswith("1 of 1 trials failed and are in no mean.\n")


@pytest.mark.usefixtures("_dying_sender")
def test_a_mean_with_failed_trials_states_its_count(lanlab: Lanlab) -> None:
    said = lanlab("stream", *QUICK, "--time", "1", "--trials", "3")

    assert said.code == 1
    assert "2 of 3, 1 failed" in said.out
    assert "error: 1 of 3 trials failed; the last: host0: the engine was ended" in said.err
    runs = lanlab("runs", "--json").json()["runs"]
    assert [(r["trials"], r["failed_trials"], r["missing_trials"]) for r in runs] == [(3, 1, 1)]


@pytest.mark.usefixtures("_dying_sender")
def test_json_counts_the_trials_of_its_means(lanlab: Lanlab) -> None:
    told = lanlab("stream", *QUICK, "--time", "1", "--trials", "2", "--json").json()

    assert (told["n"], told["failed_trials"]) == (1, 1)
    first, second = told["trials"]
    assert (first["status"], first["error"]["end"]) == ("failed", "sender")
    assert first["failure"]["fate"] == "missing" and first["failure"]["seen"]
    assert told["goodput_bps"] == second["goodput_bps"]
