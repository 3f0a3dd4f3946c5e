"""Differences between runs other than their trials: testbed, kernel, versions, modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lanlab.analysis.copies.agreed import agreed_words
from lanlab.analysis.trials.modes import modes_of
from lanlab.frozen import dataclass
from lanlab.store import RunRecord, TrialRecord

#: Facts that do not influence a measurement: counters, boot ids.
_PASSING = frozenset({"boot_id", "queues", "seed"})
ABSENT = "not recorded"


@dataclass(frozen=True)
class Differing:
    #: In words, as in `testbed: link rate (bit/s)` or `version of lanlab-engine`.
    name: str
    values: tuple[str, ...]


def differing_facts(
    runs: Sequence[tuple[RunRecord, Sequence[TrialRecord]]],
) -> tuple[Differing, ...]:
    """
    The facts on testbed, link, hosts, versions, scale and modes in which runs differ, in the order
    of their records. The seed is omitted, because it differs in every run.
    """
    sides = [_facts(run, trials) for run, trials in runs]
    names = dict.fromkeys(name for facts in sides for name in facts)
    found = []
    for name in names:
        values = tuple(facts.get(name, ABSENT) for facts in sides)
        if len(set(values)) > 1:
            found.append(Differing(name, values))
    return tuple(found)


def _facts(run: RunRecord, trials: Sequence[TrialRecord]) -> dict[str, str]:
    testbed = {key: value for key, value in run.testbed.items() if key != "facts"}
    own: dict[str, object] = {**(run.testbed.get("facts") or {})}
    hosts = cast("dict[str, object]", own.pop("hosts", None) or {})
    # Facts of a link are stored with the testbed, facts of a host with the hosts.
    own.pop("link", None)
    facts = {"scale": run.scale}
    facts |= flat("testbed", testbed)
    facts |= _of_hosts(hosts)
    facts |= {
        name: text
        for name, text in flat("testbed", own).items()
        if f"hosts {name.removeprefix('testbed ')}" not in facts
    }
    facts |= {f"version of {name}": str(version) for name, version in run.versions.items()}
    facts |= _programs(trials)
    titles = {one["id"]: one.get("title") for one in run.study.get("experiment", ())}
    for experiment in dict.fromkeys(trial.experiment for trial in trials):
        title = titles.get(experiment) or experiment
        words = _modes([trial for trial in trials if trial.experiment == experiment])
        if words:
            facts[f"modes of {title}"] = words
        if words := _agreed(trials, experiment):
            facts[f"protocol of {title}"] = words
    return facts


def _of_hosts(hosts: Mapping[str, object]) -> dict[str, str]:
    by_host = {name: flat("", facts) for name, facts in hosts.items()}
    found: dict[str, str] = {}
    for key in dict.fromkeys(key for facts in by_host.values() for key in facts):
        values = {name: facts.get(key, ABSENT) for name, facts in by_host.items()}
        if len(set(values.values())) == 1:
            found[f"hosts {key}"] = next(iter(values.values()))
        else:
            found |= {f"host {name} {key}": text for name, text in values.items()}
    return found


def _programs(trials: Sequence[TrialRecord]) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        setup = trial.setup
        if "driver" in setup:
            said = str(setup.get("version") or "unknown")
            found.setdefault(f"version of tool {setup['driver']}", {})[said] = None
    return {name: "; or ".join(versions) for name, versions in found.items()}


def _modes(trials: Sequence[TrialRecord]) -> str:
    modes = (modes_of(trial) for trial in trials if trial.status == "done")
    words = sorted({one.words(with_reasons=False) for one in modes if one is not None})
    return "; or ".join(words)


def _agreed(trials: Sequence[TrialRecord], experiment: str) -> str:
    own = [trial for trial in trials if (trial.experiment, trial.status) == (experiment, "done")]
    return "; or ".join(sorted({words for trial in own if (words := agreed_words(trial))}))


def flat(
    prefix: str, value: object, joint: str = " ", left_out: frozenset[str] = _PASSING
) -> dict[str, str]:
    """The facts within others as texts, by their keys with `joint` between."""
    if isinstance(value, Mapping):
        found: dict[str, str] = {}
        for key, inner in value.items():
            if key not in left_out:
                found |= flat(f"{prefix}{joint}{key}" if prefix else key, inner, joint, left_out)
        return found
    if isinstance(value, list):
        return {prefix: ", ".join(map(str, value))}
    return {prefix: "unknown" if value is None else str(value)}
