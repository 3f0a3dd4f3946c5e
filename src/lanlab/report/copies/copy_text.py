"""One trial of a copy in a few lines, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from lanlab.analysis.copies.agreed import agreed_of, agreed_words
from lanlab.figures.number_text import counted, percent
from lanlab.messages import Stall
from lanlab.report.traffic.stream_text import limit_share, line
from lanlab.store import RunRecord, TrialRecord
from lanlab.units import format_rate, format_size, format_time
from lanlab.workloads.carrier_counts import carrier_words

_VERIFIED = {"content": "every byte compared", "size": "sizes compared", "none": "not compared"}


def copy_lines(run: RunRecord, trial: TrialRecord) -> list[str]:
    """The results of a successful trial; unknown values have no line."""
    metrics, source = trial.metrics, trial.result("client")
    said = [line("copied", f"{copied_words(trial)} in {format_time(metrics['elapsed_s'])}")]
    if "goodput_bps" in metrics:
        rate = f"{metrics['files_per_s']:.4g} files/s"
        share = limit_share(run, trial, "goodput_bps", metrics["goodput_bps"])
        said.append(line("goodput", f"{format_rate(metrics['goodput_bps'])}{share}, {rate}"))
    if "file_time_p50_s" in metrics:
        first = format_time(metrics["first_byte_p50_s"])
        said.append(line("each file", f"{times_of(metrics, 'file')}; first byte {first}"))
    if "exchanges_per_file" in metrics:
        said.append(line("round trips", f"{metrics['exchanges_per_file']:.3g} for each file"))
    if why := why_words(trial):
        said.append(line("its time", why))
    said.append(
        line("connecting", f"{format_time(metrics['connect_s'])}, not in the measured time")
    )
    said += _processor([trial])
    if metrics.get("faults") or metrics.get("retries"):
        faults = ", ".join(f"{count} {name}" for name, count in source.get("faults", {}).items())
        said.append(line("retries", f"{metrics['retries']} ({faults})"))
    if frames := source.get("carrier"):
        said.append(line("frames", carrier_words(frames)))
    if "wire_frames_per_kb" in metrics:
        per_kb = f"{metrics['wire_frames_per_kb']:.3g} frames for each kB"
        octets = f"{metrics['wire_bytes_per_byte']:.4g} bytes for each byte"
        both = f"{metrics['wire_frames']} frames, {format_size(int(metrics['wire_bytes']))}"
        said.append(line("on wire", f"{both}: {per_kb}, {octets}"))
    at_server = trial.result("server").get("carrier")
    if at_server:
        said.append(line("at server", f"{carrier_words(at_server)}, in its whole life"))
    said += [line("stall", _stall(stall)) for stall in source.get("stalls", ())]
    return [*said, *_how([trial])]


def times_of(metrics: Mapping[str, float | int], what: str) -> str:
    """Percentiles of the times of files, or of an operation."""
    return ", ".join(
        f"{name} {format_time(metrics[key])}"
        for name in ("p50", "p99", "max")
        if (key := f"{what}_time_{name}_s") in metrics
    )


def common_copy_lines(trials: Sequence[TrialRecord]) -> list[str]:
    """Data, protocol, server and verification of several trials. If trials differ, each variant has
    its trial numbers.
    """
    return [*_counted("copied", copied_words, trials), *_processor(trials), *_how(trials)]


def _processor(trials: Sequence[TrialRecord]) -> list[str]:
    """The mean CPU time of each end, and its share of the measured time."""
    parts = []
    for name in ("client", "server"):
        known = [one.metrics for one in trials if f"{name}_cpu_s" in one.metrics]
        if known:
            cpu_s = sum(one[f"{name}_cpu_s"] for one in known)
            share = percent(cpu_s / sum(one["elapsed_s"] for one in known))
            parts.append(f"{name} {cpu_s / len(known):.2f} s, {share} of one processor")
    return [line("processor", "; ".join(parts))] if parts else []


def _how(trials: Sequence[TrialRecord]) -> list[str]:
    return [
        *_counted("method", manner_words, trials),
        *_counted("server", server_words, trials),
        *_counted("checked", checked_words, trials),
    ]


def _counted(
    label: str, words: Callable[[TrialRecord], str], trials: Sequence[TrialRecord]
) -> list[str]:
    found = Counter(words(trial) for trial in trials)
    if len(found) == 1:
        said = next(iter(found))
    else:
        said = "; ".join(
            f"{text or 'not known'} ({counted(count, 'trial')})"
            for text, count in found.most_common()
        )
    return [line(label, said)] if said else []


def copied_words(trial: TrialRecord) -> str:
    size = format_size(int(trial.metrics["copied_bytes"]))
    return f"{counted(int(trial.metrics['copied_files']), 'file')}, {size}"


def why_words(trial: TrialRecord) -> str:
    """What the time of each file consists of; empty if its round trips are unknown."""
    clients = max(1, len(trial.result("client").get("connect_ns") or ()))
    return explained_words(
        trial.metrics,
        trial.metrics["copied_files"] / clients,
        trial.metrics["copied_bytes"] / clients,
    )


def server_words(trial: TrialRecord) -> str:
    return str((agreed_of(trial) or {}).get("server") or "")


def _stall(stall: Stall) -> str:
    calls = f"{stall['calls']} {stall['operation']} calls ({100 * stall['calls_ratio']:.3g} %)"
    took = f"{format_time(stall['mode_ns'] / 1e9)}, {100 * stall['time_ratio']:.3g} %"
    return f"{calls} each take about {took} of all call time; likely cause: {stall['likely']}"


def manner_words(trial: TrialRecord) -> str:
    return f"{moved_words(trial)}, {caches_words(trial)}"


def moved_words(trial: TrialRecord) -> str:
    client = trial.result("client")
    manner = client.get("manner") or {}
    words = [agreed_words(trial) or str(trial.parameters.get("service"))]
    if manner:
        depth = int(manner["depth"])
        calls = "one stream" if manner["in_order"] else f"{counted(depth, 'call')} in parallel"
        words.append(f"{calls} of {_block(int(manner['block_bytes']))}")
    return ", ".join(words)


def _block(size_bytes: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit} {name}"
    return f"{size_bytes} B"


def caches_words(trial: TrialRecord) -> str:
    """Whether the file caches of both hosts were cold before the trial."""
    if trial.parameters.get("cache") != "cold":
        return "caches warm"
    dropped = trial.setup.get("caches") or {}
    of = {name: str(each["of"]) for name, each in dropped.items()}
    cold = [name for name, what in of.items() if what != "nothing"]
    if not cold:
        return "caches warm, as they could not be dropped"
    what = "caches" if all(of[name] == "everything" for name in cold) else "caches of these files"
    if len(cold) < len(of):
        return f"{what} cold at the {cold[0]} only"
    return f"{what} cold"


def checked_words(trial: TrialRecord) -> str:
    """How much of a copy was verified, skipped, and not removed."""
    setup, source = trial.setup, trial.result("client")
    verified = (setup.get("checked") or source).get("verified") or {"how": "none"}
    text = _VERIFIED[verified["how"]]
    left_out = source.get("left_out") or {}
    counts = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in left_out.items() if count
    )
    if counts:
        text += f"; left out: {counts}"
    emptied = setup.get("emptied") or {}
    left = emptied.get("left") or {}
    if left.get("refusal") is not None:
        what = f"{counted(int(left['count']), 'file')} or directories that lanlab made"
        text += f"; the server refused to remove {what} ({left['refusal']})"
    elif not emptied.get("is_gone", True):
        text += "; the trial's directory stays, as it holds files that are not lanlab's"
    return text


def explained_words(metrics: Mapping[str, float | int], count: float, octets: float = 0) -> str:
    """
    What the time of each file or operation consists of.

    Args:
        metrics: As of `lanlab.workloads.copy.results`, with `elapsed_s`; means of trials.
        count: Files or operations of each client, one after the other.
        octets: Bytes that each client copied.

    Examples:
        >>> own = {"waits": 30, "response_mean_s": 1e-3, "waiting_s": 0.03, "moving_s": 0.016,
        ...     "explained_ratio": 0.92, "elapsed_s": 0.05}
        >>> explained_words(own, 10, 160_000)
        '3 \N{MULTIPLICATION SIGN} 1.00 ms + 16.0 kB at 80.0 Mbit/s = 4.60 ms of 5.00 ms (92 %)'
    """
    if "explained_ratio" not in metrics or count <= 0:
        return ""
    waits = metrics["waits"] / count
    text = f"{waits:.3g} \N{MULTIPLICATION SIGN} {format_time(metrics['response_mean_s'])}"
    if octets and metrics["moving_s"] > 0:
        rate = format_rate(8 * octets / metrics["moving_s"])
        text += f" + {format_size(round(octets / count))} at {rate}"
    both_s = metrics["waiting_s"] + metrics["moving_s"]
    measured = f"{format_time(both_s / count)} of {format_time(metrics['elapsed_s'] / count)}"
    return f"{text} = {measured} ({100 * metrics['explained_ratio']:.0f} %)"
