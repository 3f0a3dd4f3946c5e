"""Faults of the virtual LAN: its links and the network namespaces of its hosts."""

import os
import signal
import subprocess
import time

from fault import Outcome, Plays, completed
from fault_counting import network_of
from fault_scene import Scene
from fault_studies import REPEATS
from waiting import until

from lanlab.roles import ROLES
from lanlab.store import TrialRecord

#: Place of its holder after those of two hosts.
_SWITCH = 2


def _on_host(scene: Scene, index: int, *command: str) -> bool:
    user = ("--user", "--preserve-credentials") if scene.as_user or os.geteuid() != 0 else ()
    holders = scene.holders
    if index >= len(holders):
        return False
    entered = ["nsenter", *user, "--net", "--target", str(holders[index].pid), "--", *command]
    return subprocess.run(entered, capture_output=True, check=False).returncode == 0


def _disturbed(scene: Scene, *codes: str) -> TrialRecord:
    """The trial that the fault came into: failed by one of these causes, or, where `disturbed` is
    one of them, disturbed by it."""
    seen = []
    # On a busy machine a trial may end before the fault is there: then it comes into the next one.
    for trial in scene.trials()[scene.before : scene.before + 2]:
        if trial.error is not None:
            assert trial.error["code"] in codes, trial.error
            assert trial.metrics == {}
            break
        seen.append([finding["code"] for finding in trial.raw["pollution"]["findings"]])
        if "disturbed" in codes and "testbed" in seen[-1]:
            break
    else:
        raise AssertionError(seen)
    _made_anew(scene.trials(), trial)
    return trial


def _made_anew(trials: list[TrialRecord], disturbed: TrialRecord) -> None:
    """The trials after a disturbed one tell that the testbed was made again, and why."""
    after = [trial for trial in trials if trial.number > disturbed.number]
    assert after
    for trial in after:
        assert trial.raw["facts"]["testbed"]["made"] == 2, trial.raw["facts"]
        assert trial.raw["facts"]["testbed"]["because"], trial.raw["facts"]
    assert all("testbed" not in t.raw["facts"] for t in trials if t.number <= disturbed.number)


def _interrupted(scene: Scene) -> Outcome:
    """A cable of the switch is out for 0.2 s, and both ends wait for longer: the trial ends well,
    and is known to be disturbed; another counts in its place, on a new testbed."""
    # However long a busy machine takes to plug it in again.
    text = scene.study_file.read_text()
    scene.study_file.write_text(text.replace("silence_s = 1.5", "silence_s = 60"))
    command = scene.run_to_mid_trial(after=1, measuring=True)
    assert _on_host(scene, _SWITCH, "ip", "link", "set", "port1", "down")
    time.sleep(0.2)
    assert _on_host(scene, _SWITCH, "ip", "link", "set", "port1", "up")
    command.end_with(0)
    trial = _disturbed(scene, "disturbed")
    (found,) = [f for f in trial.raw["pollution"]["findings"] if f["code"] == "testbed"]
    assert "host1: the link of eth0 was interrupted" in found["found"], found
    place = (trial.experiment, trial.factors, trial.block)
    again = [t.number for t in scene.trials() if (t.experiment, t.factors, t.block) == place]
    # On a machine that is never quiet its place may have had all its repeats.
    assert max(again) > scene.before or len(again) == 1 + REPEATS, again
    return completed(scene)


def _down_and_up(scene: Scene) -> Outcome:
    """A host's own interface is taken down and up: the host loses what was set beforehand."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    assert _on_host(scene, 0, "ip", "link", "set", "eth0", "down")
    time.sleep(0.1)
    # A sender may have been told meanwhile that nothing is reachable, and the testbed be another.
    _on_host(scene, 0, "ip", "link", "set", "eth0", "up")
    command.end_with(0)
    _disturbed(scene, "TestbedDamaged", "disturbed")
    return completed(scene)


def _cut(scene: Scene) -> Outcome:
    """A cable of the switch stays out: the trial fails with what was seen until then, and the run
    goes on with a new testbed."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    assert _on_host(scene, _SWITCH, "ip", "link", "set", "port1", "down")
    command.end_with(0)
    trial = _disturbed(scene, "TestbedDamaged")
    error = trial.error or {}
    assert "switch: the interface port1 is down; seen as: host" in error["message"], error
    assert error["retry_helps"], error
    assert all(trial.raw[role] for role in ROLES[trial.workload]), trial.raw.keys()
    return completed(scene)


def _interface_removed(scene: Scene) -> Outcome:
    """The interface of a host is deleted in mid-trial, and with it both ends of the cable."""
    command = scene.run_to_mid_trial(measuring=True)
    assert _on_host(scene, 0, "ip", "link", "delete", "eth0")
    command.end_with(0)
    trial = _disturbed(scene, "TestbedDamaged")
    assert "host0: the interface eth0 is gone" in str(trial.error), trial.error
    return completed(scene)


def _holder_killed(scene: Scene) -> Outcome:
    """What holds a host's namespace is gone; the engine in it measures to the trial's end, as the
    kernel keeps a namespace for as long as somebody is in it. No other can enter it any more."""
    command = scene.run_to_mid_trial()
    os.kill(scene.holders[0].pid, signal.SIGKILL)
    command.end_with(0)
    _disturbed(scene, "disturbed")
    return completed(scene)


def _namespace_emptied(scene: Scene) -> Outcome:
    """Holder and engine of a host are killed: with them its namespace and the cable are gone."""
    command = scene.run_to_mid_trial(after=1, measuring=True)
    doomed = [scene.holders[1].pid, scene.known_engines[1].pid]
    network = network_of(doomed[0])
    assert network and network == network_of(doomed[1])
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(network_of(pid) != network for pid in doomed), "the namespace to be gone")
    command.end_with(0)
    trial = _disturbed(scene, "TestbedDamaged")
    assert "host1: the process that held its network has ended" in str(trial.error), trial.error
    assert "signal 9" in str(trial.error), trial.error
    return completed(scene)


def _medium_killed(scene: Scene) -> Outcome:
    """What carries the frames is gone, and with it the interface of every host."""
    command = scene.run_to_mid_trial(measuring=True)
    os.kill(scene.medium.pid, signal.SIGKILL)
    command.end_with(0)
    trial = _disturbed(scene, "TestbedDamaged")
    assert "medium: the engine was ended by signal 9" in str(trial.error), trial.error
    return completed(scene)


def _medium_stopped(scene: Scene) -> Outcome:
    """Nothing is carried for half a second: the trial ends well. Its record says so where a frame
    was due then; one that a host has sent meanwhile is taken later, and not known to be late."""
    command = scene.run_to_mid_trial(measuring=True)
    pid = scene.medium.pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(pid, signal.SIGCONT)
    command.end_with(0)
    for trial in scene.trials()[scene.before : scene.before + 2]:
        codes = {finding["code"] for finding in trial.raw["pollution"]["findings"]}
        longest_ns = trial.raw["facts"]["after"]["medium"]["lateness"]["longest_ns"]
        assert longest_ns < 400_000_000 or "medium_shift" in codes, codes
        assert trial.status == "done", trial.error
    return completed(scene)


LINKS: Plays = {
    "link-interrupted-udp": _interrupted,
    "link-cut-udp": _cut,
    "link-interrupted-tcp": _interrupted,
    "link-cut-tcp": _cut,
    "link-interrupted-echo": _interrupted,
    "link-cut-echo": _cut,
    "link-cut-as-user": _cut,
    "medium-killed": _medium_killed,
    "medium-stopped": _medium_stopped,
    "interface-down-and-up": _down_and_up,
    "interface-removed": _interface_removed,
    "holder-killed": _holder_killed,
    "holder-killed-as-user": _holder_killed,
    "namespace-deleted": _namespace_emptied,
}
