"""
The results of a single measurement as one JSON object, their means, and the text for results that
other programs measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain

from lanlab import captures
from lanlab.cli.terminal import print_lines
from lanlab.store import RunRecord, TrialRecord
from lanlab.trial_data import pollution_of


def as_json(run: RunRecord, trials: list[TrialRecord]) -> dict[str, object]:
    """
    One object: the results by their keys in the store, and where they were measured. With several
    trials each number is the mean over successful trials, and `trials` has each trial. With several
    drivers, `drivers` has the numbers of each.
    """
    from lanlab.analysis.failures import failures
    from lanlab.analysis.measured_where import measured_where
    from lanlab.cli.results import ends_as_json
    from lanlab.workloads.option_words import by_option

    where = measured_where(run)
    failed = {failure.trial.number: failure.to_json() for failure in failures(trials)}
    found = by_driver(trials)
    means = {name: mean_metrics(of_driver) for name, of_driver in found.items()}
    parameters = dict(trials[0].parameters)
    if len(found) > 1:
        del parameters["driver"]
    ended = [ends_as_json(trial)["modes"] for trial in trials if trial.status == "done"]
    # The I/O modes of all successful trials, if equal: an engine may choose differently in each.
    modes = ended[0] if ended and all(other == ended[0] for other in ended) else None
    return {
        "run": run.id,
        "testbed": where.testbed,
        "link": where.link,
        "workload": trials[0].workload,
        "options": by_option(trials[0].workload, parameters),
        # Keys as in studies and the store, for programs written for version 0.1.
        "parameters": parameters,
        "modes": modes,
        # Means are over the `n` successful trials.
        "n": sum(trial.status == "done" for trial in trials),
        "failed_trials": len(failed),
        **captures.to_json(),
        **({"tools": means, "drivers": means} if len(found) > 1 else next(iter(means.values()))),
        "trials": [
            {
                "number": trial.number,
                # The measuring program, by the option's name and by the key of version 0.1.
                **{key: trial.parameters["driver"] for key in ("tool", "driver") if len(found) > 1},
                "status": trial.status,
                "error": trial.error,
                "failure": failed.get(trial.number),
                "pollution": pollution_of(trial.raw),
                **ends_as_json(trial),
                **trial.metrics,
            }
            for trial in trials
        ],
    }


def by_driver(trials: list[TrialRecord]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        found.setdefault(str(trial.parameters["driver"]), []).append(trial)
    return found


def mean_metrics(trials: list[TrialRecord]) -> dict[str, float | int]:
    """The mean of each metric that all finished trials have. For a single trial, its value."""
    done = [trial.metrics for trial in trials if trial.status == "done"]
    if len(done) == 1:
        return dict(done[0])
    common = [key for key in done[0] if all(key in metrics for metrics in done)] if done else []
    return {key: math.fsum(metrics[key] for metrics in done) / len(done) for key in common}


#: Means with a smaller relative difference are equal.
_NOTHING = 1e-6


def print_drivers(run: RunRecord, trials: list[TrialRecord]) -> None:
    """Print each driver with its version and means, and the fastest of several. Values that a
    program does not report are omitted.
    """
    from lanlab.report.trials.trials_text import title_of

    print_lines(title_of(run))
    measured_by = by_driver(trials)
    done_by = [[t for t in own if t.status == "done"] for own in measured_by.values()]
    if len(done_by) > 1 and all(len(done) > 1 for done in done_by):
        from lanlab.analysis.run_data import RunData
        from lanlab.report.answer.ranking_text import ranking_sentences

        for sentence in chain(*ranking_sentences(RunData(run, trials))):
            print_lines(sentence)
    for name, measured in measured_by.items():
        done = [trial for trial in measured if trial.status == "done"]
        failed = len(measured) - len(done)
        version = measured[0].setup.get("version", "")
        lines = [f"tool        {name}{f' ({version})' if version else ''}"]
        if done:
            means = mean_metrics(measured)
            is_stream = "goodput_bps" in means
            lines += _stream_lines(run, done, means) if is_stream else _echo_lines(done, means)
        if failed:
            lines.append(f"failed      {failed} of {len(measured)} trials")
        print_lines("\n".join(lines))
    print_lines(f"saved as    {run.id}")


def _stream_lines(run: RunRecord, done: list[TrialRecord], means: Mapping[str, float]) -> list[str]:
    from lanlab.analysis.summary import limit_of
    from lanlab.analysis.wires import wire_of
    from lanlab.report.trials.trials_text import mean_text

    limit = limit_of("goodput_bps", done[0].parameters, wire_of(run))
    lines = [f"goodput     {mean_text('goodput_bps', done, limit=limit)}"]
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


def _echo_lines(done: list[TrialRecord], means: Mapping[str, float]) -> list[str]:
    from lanlab.report.presentations.echo import distribution
    from lanlab.report.trials.trials_text import mean_text

    shown = distribution(means, "rtt")
    lines = [f"round trip  {shown}"] if shown else []
    if len(done) > 1 and (mean := mean_text("rtt_mean_ns", done)):
        lines.append(f"mean        {mean}")
    if "replies" in means:
        of = f" of {_count(means['requests'])} requests" if "requests" in means else ""
        lines.append(f"replies     {_count(means['replies'])}{of}")
    return lines


def _count(mean: float) -> str:
    return f"{mean:.0f}" if mean == int(mean) else f"{mean:.1f}"
