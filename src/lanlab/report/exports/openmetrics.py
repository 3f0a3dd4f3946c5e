"""The results of a run as OpenMetrics text, for collectors such as Prometheus' node exporter.

The text follows OpenMetrics 1.0: every metric is a gauge in base units, with the unit in its name
and the condition in its labels. It ends with `# EOF`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from lanlab.analysis.trials.measured_where import measured_where
from lanlab.analysis.trials.run_data import RunData
from lanlab.analysis.trials.summary import Summary
from lanlab.figures.wording import quantity
from lanlab.report.exports.condition_values import metric_values
from lanlab.store import Level, RunRecord

#: By the suffix of a key: OpenMetrics' unit, and its size in lanlab's unit.
_BASE_UNITS: Mapping[str, tuple[str, float]] = {
    "_ns": ("seconds", 1e9),
    "_bps": ("bits_per_second", 1.0),
    "_bytes": ("bytes", 1.0),
    "_ratio": ("ratio", 1.0),
    "_s": ("seconds", 1.0),
}
#: In keys with this suffix, `_s` is not a time in seconds.
_PER_SECOND = "_per_s"
_NO_NAME = re.compile(r"[^a-zA-Z0-9_]")
_PREFIX = "lanlab_"

_Sample = tuple[Mapping[str, str], float | int]


def openmetrics_text(data: RunData) -> str:
    """Every metric at every condition: its mean over trials, and, from two trials on, the ends of
    its 95 % interval. Two more gauges count the trials.

    If a workload stores a quantity in two units (the elapsed time of a copy in s and in ns), it
    becomes one gauge in the base unit.
    """
    families: dict[str, tuple[str, str, list[_Sample]]] = {}
    counts: dict[tuple[tuple[str, str], ...], Summary] = {}
    keys: dict[tuple[str, str], str] = {}
    for metric, summaries in metric_values(data):
        key = metric.key
        name, unit, size = _name(key)
        said = f"{quantity(None, key).name}; mean over trials"
        samples = families.setdefault(name, (unit, said, []))[2]
        for summary in summaries:
            labels = _labels(data.run, summary)
            counts.setdefault(tuple(labels.items()), summary)
            if keys.setdefault((name, summary.experiment), key) != key:
                continue
            samples += [
                ({**labels, "statistic": statistic}, value / size)
                for statistic, value in (
                    ("mean", summary.mean),
                    ("ci95_low", summary.ci_low),
                    ("ci95_high", summary.ci_high),
                )
                if value is not None
            ]
    found = [(dict(labels), summary) for labels, summary in counts.items()]
    done: list[_Sample] = [(labels, summary.n) for labels, summary in found]
    failed: list[_Sample] = [(labels, summary.failed) for labels, summary in found]
    families[f"{_PREFIX}trials"] = ("", "trials behind each mean", done)
    families[f"{_PREFIX}failed_trials"] = ("", "trials that failed", failed)
    lines = [line for name, family in families.items() for line in _family(name, *family)]
    return "\n".join([*lines, "# EOF", ""])


def _name(key: str) -> tuple[str, str, float]:
    if not key.endswith(_PER_SECOND):
        for suffix, (unit, size) in _BASE_UNITS.items():
            if key.endswith(suffix):
                return f"{_PREFIX}{key.removesuffix(suffix)}_{unit}", unit, size
    name = key.removesuffix(_PER_SECOND)
    return (f"{_PREFIX}{key}", "", 1.0) if name == key else (f"{_PREFIX}{name}_per_second", "", 1.0)


def _labels(run: RunRecord, summary: Summary) -> dict[str, str]:
    where = measured_where(run)
    own = {
        "run": run.id,
        "experiment": summary.experiment,
        "workload": summary.workload,
        "testbed": where.testbed,
        "link": where.link,
    }
    # Factors have the names of parameters, so these labels cannot clash with one.
    return {**own, **{_NO_NAME.sub("_", key): _level(v) for key, v in summary.factors.items()}}


def _level(level: Level) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


def _family(name: str, unit: str, said: str, samples: Iterable[_Sample]) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {_escaped(said)}"
    for labels, value in samples:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{{{inner}}} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
