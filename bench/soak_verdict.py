"""What a soak's samples say: whatever could grow, judged; a table and one last sentence."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from soak_growth import (
    Judged,
    Life,
    judge_commits,
    judge_count,
    judge_log,
    judge_memory,
    judge_objects,
)
from soak_processes import Holdings
from soak_run import Sample

_ENGINES = ("source engine", "target engine")
#: Commits at either end of a soak that are set side by side.
_ENDS = 100


def _series(samples: Sequence[Sample], value: Callable[[Sample], float | None]) -> Life:
    known = [(sample.number, value(sample)) for sample in samples]
    return Life(
        [number for number, found in known if found is not None],
        [found for _, found in known if found is not None],
    )


def _engine_lives(
    samples: Sequence[Sample], engine: int, value: Callable[[Holdings], float | None]
) -> list[Life]:
    """A life for each process that was that engine, in order."""
    lives: dict[int, tuple[list[int], list[float]]] = {}
    for sample in samples:
        held = sample.engines[engine]
        found = value(held)
        if found is not None:
            numbers, values = lives.setdefault(held.pid, ([], []))
            numbers.append(sample.number)
            values.append(found)
    return [Life(*life) for life in lives.values()]


def like_states(samples: Sequence[Sample]) -> list[Sample]:
    """Samples taken with both engines there: only these are compared."""
    return [sample for sample in samples if len(sample.engines) == len(_ENGINES)]


def _private(held: Holdings) -> float | None:
    return held.rss_bytes if held.private_bytes is None else held.private_bytes


def judge(samples: Sequence[Sample]) -> list[Judged]:
    """Everything that could grow, whether it is known here or not."""
    alike = like_states(samples) or list(samples)
    both = like_states(samples)
    lines = [
        judge_memory("lanlab: memory", [_series(alike, lambda s: _private(s.lanlab))]),
        judge_memory("lanlab: heap in use", [_series(alike, lambda s: s.own_heap.heap_bytes)]),
        judge_objects(
            "lanlab: Python objects", [_series(alike, lambda s: s.own_heap.python_blocks)]
        ),
        judge_count("lanlab: descriptors", [_series(alike, lambda s: s.lanlab.descriptors)]),
        judge_count("lanlab: threads", [_series(alike, lambda s: s.lanlab.threads)]),
    ]
    for engine, name in enumerate(_ENGINES):
        lines += [
            judge_memory(f"{name}: memory", _engine_lives(both, engine, _private)),
            judge_count(
                f"{name}: descriptors", _engine_lives(both, engine, lambda h: h.descriptors)
            ),
            judge_count(f"{name}: threads", _engine_lives(both, engine, lambda h: h.threads)),
        ]
    return [
        *lines,
        judge_count("processes", [_series(alike, lambda s: s.descendants)]),
        judge_count("network namespaces", [_series(alike, lambda s: s.network_namespaces)]),
        judge_count("temporary files", [_series(alike, lambda s: s.temporary_files)]),
        judge_count("files of the store", [_series(alike, lambda s: s.store_files)]),
        judge_log("log of the store", _series(samples, lambda s: s.log_bytes)),
        judge_commits("commit of a trial", _series(samples, lambda s: s.commit_ns)),
    ]


def _shown(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / 1024:,.0f} KiB"
    return f"{value / 1e6:.2f} ms" if unit == "ns" else f"{value:,.0f}"


def table(judged: Sequence[Judged]) -> list[str]:
    """The lines of a table for people."""
    rows: list[tuple[str, ...]] = [
        ("what", "first", "middle", "last", "growth a trial", "allowed", "verdict")
    ]
    for line in judged:
        if line.at is None:
            rows.append((line.name, "-", "-", "-", "-", line.bound, "not known on this system"))
            continue
        growth = "-"
        if line.slope is not None:
            slope, low, high = line.slope
            growth = f"{slope:.3g} ({low:.3g} … {high:.3g}) {line.unit}".rstrip()
        verdict = "grows" if line.finding else "steady" if line.samples else "too short to tell"
        shown = [_shown(value, line.unit) for value in line.at]
        rows.append((line.name, *shown, growth, line.bound, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def outcomes(samples: Sequence[Sample]) -> list[str]:
    """How the trials ended, by what was made to go wrong in them."""
    counts = Counter((sample.on_purpose or "nothing", sample.outcome) for sample in samples)
    return [
        f"{count:6d}  {'' if purpose == 'nothing' else purpose + ': '}{outcome}"
        for (purpose, outcome), count in sorted(counts.items(), key=lambda item: -item[1])
    ]


def commits(samples: Sequence[Sample]) -> str:
    """Commits of the first and of the last trials, side by side."""
    few = min(_ENDS, len(samples) // 2)
    if not few:
        return "commits: too few trials"
    first, last = samples[:few], samples[-few:]

    def median_ms(part: Sequence[Sample], value: Callable[[Sample], int]) -> str:
        return f"{statistics.median(map(value, part)) / 1e6:.2f} ms"

    return (
        f"commits, median of the first {few} and of the last: "
        f"{median_ms(first, lambda s: s.commit_ns)}, {median_ms(last, lambda s: s.commit_ns)}; "
        f"a plain write of 16 KiB, made durable, beside each: "
        f"{median_ms(first, lambda s: s.write_ns)}, {median_ms(last, lambda s: s.write_ns)}"
    )


def last_sentence(samples: Sequence[Sample], judged: Sequence[Judged]) -> str:
    """What a soak found, plainly."""
    failed = [sample for sample in samples if sample.outcome != "done"]
    meant = sum(sample.on_purpose is not None for sample in failed)
    minutes = samples[-1].elapsed_s / 60
    ran = (
        f"{len(samples)} trials in {minutes:.1f} min, {len(failed)} failed, "
        f"{meant} of them on purpose"
    )
    found = [line.name for line in judged if line.finding]
    unjudged = [line.name for line in judged if not line.samples]
    if found:
        return f"{ran}: {', '.join(found)} grew."
    if unjudged:
        return f"{ran}: nothing grew; not judged: {', '.join(unjudged)}."
    return f"{ran}: nothing grew."
