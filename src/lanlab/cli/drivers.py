"""Output of `stream` and `echo` for results that other programs measured."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lanlab.cli.single_json import by_driver, mean_metrics
from lanlab.cli.terminal import print_lines
from lanlab.store import RunRecord, TrialRecord

#: Means with a smaller relative difference are equal.
_NOTHING = 1e-6
_ROUND_TRIPS = ("mean", "min", "p50", "p90", "p99", "p999", "max")


def print_drivers(run: RunRecord, trials: list[TrialRecord]) -> None:
    """Print each driver with its version and means, and the fastest of several. Values that a
    program does not report are omitted.
    """
    from lanlab.report.trials.trials_text import title_of

    print_lines(title_of(run))
    measured_by = by_driver(trials)
    for name, measured in measured_by.items():
        done = [trial for trial in measured if trial.status == "done"]
        failed = len(measured) - len(done)
        version = measured[0].raw.get("setup", {}).get("version", "")
        lines = [f"tool        {name}{f' ({version})' if version else ''}"]
        if done:
            means = mean_metrics(measured)
            lines += _stream(done, means) if "goodput_bps" in means else _echo(done, means)
        if failed:
            lines.append(f"failed      {failed} of {len(measured)} trials")
        print_lines("\n".join(lines))
    done_by = [[t for t in own if t.status == "done"] for own in measured_by.values()]
    if len(done_by) > 1 and all(len(done) > 1 for done in done_by):
        from lanlab.analysis.run_data import RunData
        from lanlab.report.answer.ranking_text import ranking_sentences

        for sentence in ranking_sentences(RunData(run, trials)):
            print_lines(sentence)
    print_lines(f"saved as    {run.id}")


def _stream(done: list[TrialRecord], means: Mapping[str, float]) -> list[str]:
    from lanlab.report.trials.trials_text import mean_text

    lines = [f"goodput     {mean_text('goodput_bps', done)}"]
    # TCP has no messages and no loss.
    is_udp = done[0].parameters["transport"] == "udp" and "loss_ratio" in means
    if is_udp and "received_messages" in means and means.get("offered_messages"):
        lines.append(f"received    {_received(means)}")
    lines.append(
        f"processor   {means['sender_cpu_s']:.2f} s sending, "
        f"{means['receiver_cpu_s']:.2f} s receiving"
    )
    return lines


def _received(means: Mapping[str, float]) -> str:
    from lanlab.analysis.loss_places import PLACES

    offered, received = means["offered_messages"], means["received_messages"]
    # Other programs report the number of lost messages, but not where they were lost.
    words = {**PLACES, **({} if "lost_link_messages" in means else {"lost_messages": "lost"})}
    parts = {what: means[key] for key, what in words.items() if means.get(key)}
    unexplained = offered - received - math.fsum(parts.values())
    said = [f"{_count(count)} {what}" for what, count in parts.items()]
    if unexplained > _NOTHING:
        said.append(f"{_count(unexplained)} that the program does not report")
    elif unexplained < -_NOTHING:
        said.append(
            f"{_count(-unexplained)} more than its counts of sent and lost messages add up to"
        )
    share = f"{100 * received / offered:.4g} % of {_count(offered)} messages offered"
    return f"{share}; the rest: {', '.join(said)}" if said else f"{share}, none lost"


def _echo(done: list[TrialRecord], means: Mapping[str, float]) -> list[str]:
    from lanlab.report.trials.trials_text import mean_text
    from lanlab.units import format_time

    shown = [
        f"{name} {format_time(means[key] / 1e9)}"
        for name in _ROUND_TRIPS
        if (key := f"rtt_{name}_ns") in means
    ]
    lines = [f"round trip  {', '.join(shown)}"] if shown else []
    if len(done) > 1 and (mean := mean_text("rtt_mean_ns", done)):
        lines.append(f"mean        {mean}")
    if "replies" in means:
        of = f" of {_count(means['requests'])} requests" if "requests" in means else ""
        lines.append(f"replies     {_count(means['replies'])}{of}")
    return lines


def _count(mean: float) -> str:
    return f"{mean:.0f}" if mean == int(mean) else f"{mean:.1f}"
