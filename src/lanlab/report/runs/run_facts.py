"""How a run was made: place, time, hosts, link, and the command to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from lanlab.analysis.comparison.facts import flat
from lanlab.analysis.trials.measured_where import measured_where
from lanlab.analysis.trials.run_data import RunData
from lanlab.figures.number_text import counted
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.labels import label_facts
from lanlab.studies.load import known_studies

SINGLE = "single"
_SIMULATED = "simulated"


def measured_text(run: RunRecord, trials: Sequence[TrialRecord]) -> str:
    where = measured_where(run)
    on = run.started_at[:10]
    made = f"Measured on {on}, testbed {where.testbed}"
    made = f"Simulated on {on}" if where.testbed == _SIMULATED else made
    return f"{made}, link {where.link}, {counted(len(trials), 'trial')}; run {run.id}"


def facts_of(data: RunData) -> list[tuple[str, str]]:
    source, link = data.study.source, data.run.testbed.get("link_facts") or {}
    facts = []
    if source is not None:
        facts.append(("Published as", source.citation))
        if source.doi:
            facts.append(("DOI", source.doi))
    if data.study.testbed.published:
        facts.append(("Published testbed", data.study.testbed.published))
    asked, topology = str(data.run.testbed.get("link", "")), str(link.get("topology", ""))
    where = measured_where(data.run)
    joined = asked if f":{topology}" in asked else f"{asked} {topology}".strip()
    shape = {
        "tbf": ", shaped by a token bucket at each sender",
        "medium": ", each frame carried in the time that it takes on a wire",
    }.get(str(link.get("shape", "none")), "")
    framing = ", frames sized as on Ethernet" if link.get("framing") == "ethernet" else ""
    if where.testbed != data.run.testbed.get("name"):
        joined = where.link
    facts.append(("Testbed here", f"{where.testbed}: {joined}{shape}{framing}"))
    hosts = data.run.testbed.get("facts", {}).get("hosts") or {}
    host = next(iter(hosts.values()), None)
    if host:
        memory = host.get("memory_bytes")
        parts = [
            str(host.get("processor", "unknown processor")),
            f"{host.get('processors', '?')} processors",
            f"{memory / 2**30:.1f} GiB" if memory else "",
            f"{host.get('system', '')} {host.get('kernel', '')}".strip(),
        ]
        facts.append(("Hosts here", ", ".join(filter(None, parts))))
    facts += [("Run", f"{data.run.id} ({data.run.status})"), *label_facts(data.run)]
    begun = f"{data.run.started_at[:10]}, {data.run.started_at[11:19]}"
    if ended := data.run.ended_at:
        begun += f" to {f'{ended[:10]}, {ended[11:19]}'.removeprefix(begun[:12])}"
    facts.append(("When", f"{begun} UTC"))
    scale = data.study.scale.get(data.run.scale)
    title = f": {scale.title}" if scale and scale.title else ""
    failed = sum(trial.status != "done" for trial in data.trials)
    facts.append(("Scale", f"{data.run.scale}{title}"))
    lost = f", {failed} of them failed" if failed else ""
    facts.append(("Trials", f"{len(data.trials)}{lost}"))
    facts.append(("Seed", str(data.run.seed)))
    facts.append(("Versions", ", ".join(f"{k} {v}" for k, v in sorted(data.run.versions.items()))))
    return facts


def command_of(run: RunRecord) -> str:
    """The command that repeats a run; empty if it was not recorded."""
    if run.command is not None:
        words = shlex.split(run.command)
        # `tour` runs several studies; each is repeated separately.
        if words[1:2] != ["tour"]:
            has_seed = any(word.partition("=")[0] == "--seed" for word in words)
            return run.command if has_seed else f"{run.command} --seed {run.seed}"
    elif run.scale == SINGLE:
        return ""
    bed, seed = run.testbed, run.seed
    options = {"--scale": run.scale, "--testbed": bed.get("name"), "--link": bed.get("link")}
    words = ["lanlab", "run", run.study_id if run.study_id in known_studies() else "STUDY.toml"]
    for option, value in {**options, "--seed": seed}.items():
        words += [] if value is None else [option, str(value)]
    return shlex.join(words)


def environment_of(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """All recorded facts on testbed and software, as dotted names and texts."""
    # Testbed `loopback` reaches a user's own server, on any host.
    where = dict(zip(("name", "link"), measured_where(run), strict=True))
    bed = run.testbed if where["name"] == run.testbed.get("name") else run.testbed | where
    facts = {"testbed": bed, "versions": run.versions}
    return tuple(flat("", facts, ".", frozenset()).items())
