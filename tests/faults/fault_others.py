"""Faults of clocks, of engines that never answer, of readers that go away, of changed files."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from fault import Outcome, Plays, completed
from fault_scene import Scene
from fault_studies import SLOW_TIME_S
from preloadable_engine import preloadable_engine
from waiting import until

from lanlab.engine import engine_path

_SHIMS = Path(__file__).parent / "shims"


def _clock_stepped(scene: Scene, step_s: int) -> Outcome:
    """The calendar clock of lanlab and of both engines is stepped in mid-trial: the record says so,
    and no figure changes by it."""
    library, moment = scene.folder / "clock_step.so", scene.folder / "stepped"
    source = str(_SHIMS / "clock_step.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), source], check=True)
    scene.environment |= {
        "LANLAB_ENGINE": str(preloadable_engine()),
        "LD_PRELOAD": str(library),
        "FAULT_CLOCK_FILE": str(moment),
        "FAULT_CLOCK_STEP_S": str(step_s),
    }
    command = scene.run_to_mid_trial(measuring=True)
    moment.touch()
    command.end_with(0)
    stepped = {}
    for trial in scene.trials():
        findings = trial.raw["pollution"]["findings"]
        stepped[trial.number] = [f["found"] for f in findings if f["code"] == "clock_step"]
        assert SLOW_TIME_S <= trial.elapsed_s < 1000, trial.elapsed_s
        # Whatever this machine does meanwhile; an hour in any of these would show.
        if trial.workload == "stream":
            assert trial.raw["receiver"]["window_ns"] == round(1e9 * SLOW_TIME_S)
            assert 0 < trial.metrics["goodput_bps"] <= 1.2e6, trial.metrics["goodput_bps"]
        else:
            assert 0 < trial.metrics["rtt_mean_ns"] < 1e12, trial.metrics["rtt_mean_ns"]
        times = {key: trial.metrics[key] for key in trial.metrics if key.endswith("_ns")}
        assert all(0 <= value < 1e12 for value in times.values()), times
    assert {number for number, found in stepped.items() if found} == {scene.before}, stepped
    (found,) = stepped[scene.before]
    assert abs(found - step_s * 1e9) < 1e9, found
    # The record goes on in the order of its numbers, whatever its times say.
    started = [trial.started_at for trial in scene.trials()]
    assert (started == sorted(started)) == (step_s > 0), started
    return completed(scene)


def _silent_engine(scene: Scene) -> None:
    program = scene.folder / "lanlab-engine"
    shim = str(_SHIMS / "mute_engine.py")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{shim}" "$@"\n')
    program.chmod(0o755)
    scene.environment |= {
        "LANLAB_ENGINE": str(program),
        "FAULT_ENGINE": str(engine_path()),
        "FAULT_MUTE_FILE": str(scene.folder / "mute"),
    }


def _dead_from_the_start(scene: Scene) -> Outcome:
    """Engines that never say a word: refused in time, and nothing is in the store."""
    _silent_engine(scene)
    (scene.folder / "mute").touch()
    said = scene.run().end_with(1)
    assert "did not begin to speak within 10 s" in said.err, said
    assert not scene.store.exists()
    scene.environment.clear()
    assert scene.run().end().code == 0
    scene.before = len(scene.trials()) - 1
    return completed(scene)


def _dead_in_mid_trial(scene: Scene) -> Outcome:
    """Both engines measure on and answer nothing any more: the trial ends by its time-outs."""
    _silent_engine(scene)
    mute = scene.folder / "mute"
    command = scene.run_to_mid_trial(after=1, measuring=True)
    mute.touch()
    command.trials.let_go()
    # New engines may speak again.
    until(
        lambda: (
            len(scene.engines) < 2
            or len(scene.trials()) > scene.before
            or command.process.poll() is not None
        ),
        "the silent engines to be given up",
    )
    mute.unlink(missing_ok=True)
    command.end_with(0)
    error = scene.trials()[scene.before].error or {}
    assert error["code"] == "EngineLost", error
    assert "did not answer within" in error["message"], error
    return completed(scene)


def _output_closed(scene: Scene, with_errors: bool) -> Outcome:
    """Nobody reads what the run says, as with `| head`; with `2>&1 |`, nobody its progress."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        errors = {"stderr": writing} if with_errors else {}
        command = scene.run("--scale", "quick", stdout=writing, **errors)
    finally:
        os.close(writing)
    said = command.end_with(1)
    assert "Traceback" not in said.err, said
    scene.before = len(scene.trials()) - 1
    return completed(scene)


def _study_changed(scene: Scene) -> Outcome:
    """The study's file is another when the run is gone on with: a run keeps its own copy."""
    command = scene.run_to_mid_trial()
    command.send(signal.SIGINT)
    command.end()
    text = scene.study_file.read_text()
    scene.study_file.write_text(text.replace("max = 2", "max = 9").replace("[100]", "[300]"))
    return completed(scene)


OTHERS: Plays = {
    "clock-forward": partial(_clock_stepped, step_s=3600),
    "clock-back": partial(_clock_stepped, step_s=-3600),
    "dead-engines": _dead_from_the_start,
    "mute-engines": _dead_in_mid_trial,
    "output-closed": partial(_output_closed, with_errors=False),
    "all-output-closed": partial(_output_closed, with_errors=True),
    "study-changed": _study_changed,
}
