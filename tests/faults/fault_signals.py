"""Faults by signals: to the command line, and to the engines."""

import os
import signal
import time
from collections.abc import Callable

from fault import Outcome, Plays, completed
from fault_counting import beside_a_used_store
from fault_scene import Scene
from waiting import until

from lanlab.roles import ROLES

_KILL, _STOP, _CONTINUE = signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT


def _ended(scene: Scene, *numbers: signal.Signals) -> Outcome:
    command = scene.run_to_mid_trial()
    for number in numbers:
        command.send(number)
        time.sleep(0.03)
    said = command.end_with(1)
    assert "was interrupted; the trials that had ended are saved" in said.err, said
    assert "Traceback" not in said.err, said
    assert scene.status() == "interrupted"
    assert scene.left().count == 0, scene.left()
    return completed(scene)


def _killed(scene: Scene) -> Outcome:
    command = scene.run_to_mid_trial()
    command.send(_KILL)
    assert command.end().code == -_KILL
    kept = beside_a_used_store(scene.store)
    assert scene.left(kept).count == 0, scene.left(kept)
    rows = scene.said("runs").out
    assert "interrupted" in rows and "running" not in rows, rows
    return completed(scene)


def _all_killed(scene: Scene) -> Outcome:
    """The command line and both engines at once, as when memory is short."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    for pid in (command.process.pid, *(engine.pid for engine in scene.known_engines)):
        os.kill(pid, _KILL)
    command.end()
    kept = beside_a_used_store(scene.store)
    assert scene.left(kept).count == 0, scene.left(kept)
    return completed(scene)


def _engines_killed(scene: Scene, *which: int) -> Outcome:
    """Its trial fails, by the cause; new engines run what is left, a retry included."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    killed = [scene.known_engines[index].pid for index in which]
    for pid in killed:
        os.kill(pid, _KILL)
    command.end_with(0)
    failed = scene.trials()[scene.before]
    error = failed.error or {}
    assert error["code"] == "EngineLost" and "signal 9" in error["message"], error
    assert error["host"] in {f"host{index}" for index in which}, error
    if len(which) == 1:
        # What the other end had measured until then.
        other = failed.raw[ROLES[failed.workload][1 - which[0]]]
        assert other is not None and other["kind"], failed.raw
    return completed(scene)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


def _engines_stopped(scene: Scene, goes_on: bool, *which: int) -> Outcome:
    command = scene.run_to_mid_trial(measuring=True)
    stopped = [scene.known_engines[index].pid for index in which]
    _signal(stopped, _STOP)
    command.trials.let_go()
    if goes_on:
        time.sleep(3.0)
        _signal(stopped, _CONTINUE)
    command.end_with(0)
    failed = scene.trials()[scene.before]
    assert failed.status == "failed", failed.metrics
    error = failed.error or {}
    if not goes_on:
        # An engine that does not even answer that it is cancelled is not worth waiting for.
        assert error["code"] == "EngineLost" and "did not answer" in error["message"], error
    return completed(scene)


def _lanlab_stopped(scene: Scene) -> Outcome:
    """As by Ctrl-Z: the trial under way measures on, and the run goes on when it may."""
    command = scene.run_to_mid_trial()
    command.send(_STOP)
    command.trials.let_go()
    time.sleep(2.0)
    command.send(_CONTINUE)
    command.end_with(0)
    return completed(scene)


def _killed_with_a_stopped_engine(scene: Scene) -> Outcome:
    """The engine that cannot notice is ended when the next virtual LAN is made."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    stopped = scene.known_engines[0].pid
    os.kill(stopped, _STOP)
    command.send(_KILL)
    command.end()
    # The engine that made the hosts ready may end before the other, or after it.
    until(lambda: {one.pid for one in scene.engines} <= {stopped}, "the other engine to end")
    return completed(scene)


def _each(play: Callable[..., Outcome], *arguments: object) -> Callable[[Scene], Outcome]:
    return lambda scene: play(scene, *arguments)


SIGNALS: Plays = {
    "sigint": _each(_ended, signal.SIGINT),
    "sigterm": _each(_ended, signal.SIGTERM),
    "sighup": _each(_ended, signal.SIGHUP),
    "two-sigints": _each(_ended, signal.SIGINT, signal.SIGINT),
    "sigint-and-sigterm": _each(_ended, signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
    "killed": _killed,
    "killed-virtual": _killed,
    "killed-as-user": _killed,
    "all-killed": _all_killed,
    "sender-killed": _each(_engines_killed, 0),
    "receiver-killed": _each(_engines_killed, 1),
    "both-killed": _each(_engines_killed, 0, 1),
    "receiver-killed-virtual": _each(_engines_killed, 1),
    "sender-stopped": _each(_engines_stopped, True, 0),
    "receiver-stopped": _each(_engines_stopped, True, 1),
    "sender-hangs": _each(_engines_stopped, False, 0),
    "receiver-hangs": _each(_engines_stopped, False, 1),
    "lanlab-stopped": _lanlab_stopped,
    "killed-beside-a-stopped-engine": _killed_with_a_stopped_engine,
}
