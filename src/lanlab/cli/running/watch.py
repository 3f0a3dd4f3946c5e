"""
Progress of a run: a status line on a terminal, otherwise occasional lines; and live lines, the
results of each interval during a measurement.

An engine reports progress four times a second (twice over a network). A live line ends with the
first report after the interval, and has the report's exact times.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from types import TracebackType
from typing import Self

from lanlab.analysis.disturbances.interface_cautions import cautions
from lanlab.analysis.disturbances.path_cautions import path_cautions
from lanlab.analysis.trials.failures import kind_of, place_and_reason
from lanlab.analysis.trials.measured_where import measured_where
from lanlab.cli.running.hooks import LiveOption
from lanlab.cli.terminal.memory import check_for_a_run
from lanlab.cli.terminal.remarks import say, talk
from lanlab.figures.wording import trial_text
from lanlab.performers import SIMULATORS
from lanlab.plan.plan import PlannedTrial
from lanlab.plan.running import Estimate
from lanlab.roles import is_one_way
from lanlab.store import RunRecord, TrialRecord
from lanlab.studies.model import Study
from lanlab.studies.scaling import at_scale
from lanlab.trial_data import LiveInterval
from lanlab.units import format_duration, format_rate, format_size, format_time
from lanlab.workloads import WORKLOADS, Progress, workload
from lanlab.workloads import Progress as TrialProgress

PLAIN_S = 10.0
NO_LINES = LiveOption(interval_s=0.0)
_BAR = 20


def promise(study: Study, scale: str, estimate: Estimate, is_simulated: bool = False) -> str:
    """The number of trials of a run, and its expected time with its accuracy; for a simulated run,
    the time on its virtual clock.
    """
    scaled = at_scale(study, scale)
    has_search = any(one.search is not None for one in scaled)
    again = []
    if any(one.trials.repeat_polluted for one in scaled):
        again.append("disturbed")
    if any(one.trials.retry_failed for one in scaled):
        again.append("failed")
    trials = "1 trial" if estimate.trials == 1 else f"{estimate.trials} trials"
    said = f"about {trials}" if has_search else f"at most {trials}"
    if again:
        said += f", plus repeats of {' or '.join(again)} ones"
    if has_search:
        said += " (a search stops as soon as it can decide)"
    without = " without repeats" if again else ""
    virtual = " of virtual time" if is_simulated else ""
    return f"{said}, about {format_duration(estimate.seconds)}{virtual}{without}"


class RunWatch:
    """Shows a run's progress on standard error; use it as a context manager."""

    def __init__(self, live: LiveOption = NO_LINES, expected_s: float | None = None) -> None:
        """
        Args:
            expected_s: Time of the run, in place of the plan's estimate.
        """
        self._expected_s = expected_s
        self._talk = talk()
        self._live = LiveLines(live)
        self._before_now = self._after_now = ""
        self._study: Study | None = None
        self._is_open = self._is_alone = False
        self._finished = 0
        #: When a run started whose plan does not know the duration of its trials.
        self._paced_since: float | None = None
        self._doing = self._now = ""
        self._is_over = threading.Event()
        self._plain: threading.Thread | None = None
        self._failed: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        check_for_a_run()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        if self._plain is not None:
            self._plain.join()
        self._talk.show("")
        if error is None and self._live.problem is not None:
            raise self._live.problem

    def _say_plainly(self) -> None:
        while not self._is_over.wait(PLAIN_S):
            if self._doing and not self._live.is_on:
                self._talk.print(f"{self._doing}{self._now}")

    def run_started(self, run: RunRecord, estimate: Estimate) -> None:
        self._study = Study.model_validate(run.study)
        self._is_alone = estimate.trials == 1
        self._is_open = any(one.search is not None for one in self._study.experiment)
        bed, where = run.testbed, measured_where(run)
        is_simulated = bed["name"] in SIMULATORS
        scale = "" if run.scale == "single" else f"{run.scale}, "
        if self._expected_s is not None:
            estimate = Estimate(estimate.trials, self._expected_s)
        if is_simulated or self._expected_s is not None:
            self._paced_since = time.monotonic()
        self._talk.print(
            f"run {run.id}: {scale}on {where.testbed} ({where.link}), "
            f"{promise(self._study, run.scale, estimate, is_simulated)}"
        )
        if self._study.commands is not None:
            # A resumed run takes its commands from the record, so show them before they run.
            given = self._study.commands.model_dump(include={"setup", "prepare", "cleanup"})
            for when, command in given.items():
                if command is not None:
                    self._talk.print(f"note: {when} command on this machine: {command}")
        facts = bed.get("facts", {})
        # Kernels of hosts reached over a network; all others share this machine's kernel.
        reached = facts.get("reached", {}).values()
        kernels = {one["label"]: one.get("kernel") for one in reached}
        said = cautions(facts.get("interfaces", {}), kernels)
        for caution in said + path_cautions(facts.get("paths", {})):
            self._talk.print(f"note: {caution}")
        if not self._talk.is_terminal:
            self._plain = threading.Thread(target=self._say_plainly, daemon=True)
            self._plain.start()

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None:
        self._live.begin(trial)
        assert self._study is not None
        what = trial_text(self._study, trial.experiment, trial.factors)
        again = " again" if trial.repeats else ""
        total = self._finished + estimate.trials
        left_s = self._left_s(estimate)
        left = "" if left_s is None else format_duration(left_s)
        done = round(_BAR * self._finished / max(1, total))
        bar = f"[{'#' * done}{'.' * (_BAR - done)}]"
        self._before_now = f"{bar} trial {self._finished + 1}/{total}{again}"
        self._after_now = f"left {left}  {what}" if left else what
        self._show("")
        about = "about " if self._is_open else ""
        self._now = ""
        place = f"trial {self._finished + 1} of {about}{total}"
        if self._live.has_texts and total > 1:
            self._talk.print(f"{place}: {what}{again}" if what else f"{place}{again}")
        named = f" ({what})" if what else ""
        self._doing = f"{place}{named}" + (f", about {left} left" if left else "")

    def _left_s(self, estimate: Estimate) -> float | None:
        """Estimated seconds until the end; `None` if not yet known."""
        if self._paced_since is None:
            return estimate.seconds
        if not self._finished:
            return self._expected_s
        return (time.monotonic() - self._paced_since) / self._finished * estimate.trials

    def trial_progress(self, trial: PlannedTrial, progress: TrialProgress) -> None:
        """Show the rate so far and the share of messages that arrived."""
        if progress.elapsed_s <= 0:
            return
        self._live.progress(trial, progress)
        if not progress.bytes and "goodput_bps" not in workload(trial.workload).metrics:
            return
        now = format_rate(8 * progress.bytes / progress.elapsed_s)
        if is_one_way(trial.workload) and progress.sent_messages:
            share = min(1.0, progress.messages / progress.sent_messages)
            now += f", received {100 * share:.1f} %"
        self._now = f", now {now}"
        self._show(now)

    def _show(self, now: str) -> None:
        self._talk.show(f"{self._before_now}  {now}  {self._after_now}")

    def trial_ended(self, trial: TrialRecord) -> None:
        """Report the first failure of a kind at once; the command counts them, and disturbances,
        at the end. It also reports the failure of an only trial.
        """
        self._finished += 1
        if self._is_alone or trial.status != "failed":
            return
        if (kind := kind_of(trial)) not in self._failed:
            self._failed.add(kind)
            place, why = place_and_reason(trial)
            assert self._study is not None
            titles = self._study.titles
            of = f" of {titles[trial.experiment]}" if len(titles) > 1 else ""
            self._talk.print(f"trial {trial.number}{of}{place} failed: {why}", is_warning=True)


DEFAULT_INTERVAL_S = 1.0
#: Shorter trials have live lines only if requested.
_SHORTEST_S = 2.0
#: How early an engine's report may come, seconds.
_EARLY_S = 0.002


class LiveLines:
    def __init__(self, option: LiveOption) -> None:
        self._option = option
        self._interval_s = DEFAULT_INTERVAL_S if option.interval_s is None else option.interval_s
        self._is_on = False
        self._last = Progress(0.0, 0, 0, 0)
        self._next_s = 0.0
        self.problem: OSError | None = None

    @property
    def is_on(self) -> bool:
        return self._is_on

    @property
    def has_texts(self) -> bool:
        """Whether lines are text, for which a heading names the trial."""
        return self._is_on and not self._option.is_json

    def begin(self, trial: PlannedTrial) -> None:
        is_wanted = self._option.is_json or self._option.interval_s is not None
        is_long = trial.expected_time_s > _SHORTEST_S and talk().is_terminal
        self._is_on = bool(self._interval_s) and (is_wanted or is_long) and self.problem is None
        self._last, self._next_s = Progress(0.0, 0, 0, 0), self._interval_s

    def progress(self, trial: PlannedTrial, now: Progress) -> None:
        if not self._is_on or now.elapsed_s < self._next_s - _EARLY_S:
            return
        found = interval_between(self._last, now)
        found["is_warmup"] = now.elapsed_s <= float(trial.parameters.get("warmup_s") or 0.0)
        self._last = now
        while self._next_s <= now.elapsed_s + _EARLY_S:
            self._next_s += self._interval_s
        if self._option.is_json:
            line = {"type": "interval", "trial": trial.number, **found}
            self._write(json.dumps(line, allow_nan=False))
        else:
            say(live_text(trial.workload, found))

    def _write(self, line: str) -> None:
        """Write a line. Errors must not reach the caller, which reads from the engine."""
        try:
            print(line, flush=True)
        except OSError as error:
            self.problem, self._is_on = error, False
            if isinstance(error, BrokenPipeError):
                say("note: standard output was closed, so the run is ended")
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def interval_between(before: Progress, now: Progress) -> LiveInterval:
    """
    The results between two reports of an engine.

    Returns:
        `start_s`, `end_s`, `bytes`, `messages`, `rate_bps`; for UDP `expected_messages`,
            `lost_messages` (negative if delayed messages arrive) and `delay_variation_ns`; for TCP
            `retransmitted_segments`, and at the end of the interval `congestion_window_bytes` and
            `round_trip_ns`; the same for a second direction in `reverse`.
    """
    length_s = now.elapsed_s - before.elapsed_s
    octets, messages = now.bytes - before.bytes, now.messages - before.messages
    found: LiveInterval = {
        "start_s": before.elapsed_s,
        "end_s": now.elapsed_s,
        "bytes": octets,
        "messages": messages,
        "rate_bps": 8 * octets / length_s if length_s > 0 else 0.0,
    }
    if now.expected_messages is not None:
        expected = now.expected_messages - (before.expected_messages or 0)
        found |= {"expected_messages": expected, "lost_messages": expected - messages}
    if now.delay_variation_ns is not None:
        found["delay_variation_ns"] = now.delay_variation_ns
    if now.tcp is not None:
        earlier = (before.tcp or {}).get("retransmitted_segments", 0)
        found["retransmitted_segments"] = now.tcp["retransmitted_segments"] - earlier
        found["congestion_window_bytes"] = now.tcp["congestion_window_bytes"]
        found["round_trip_ns"] = now.tcp["round_trip_ns"]
    if now.reverse is not None:
        found["reverse"] = interval_between(before.reverse or Progress(0.0, 0, 0, 0), now.reverse)
    return found


def live_text(workload: str, found: LiveInterval) -> str:
    """Format the results of an interval as a line."""
    times = f"{found['start_s']:.2f}-{found['end_s']:.2f}".rjust(13) + " s"
    parts = [format_rate(found["rate_bps"])]
    counted = WORKLOADS[workload].counted
    if "expected_messages" in found:
        expected, lost = found["expected_messages"], max(0, found["lost_messages"])
        share = 100 * lost / expected if expected > 0 else 0.0
        parts.append(f"lost {lost} of {expected} ({share:.3g} %)")
    elif counted:
        parts.append(f"{found['messages']} {counted}")
    if "delay_variation_ns" in found:
        parts.append(f"delay varies by {format_time(found['delay_variation_ns'] / 1e9)}")
    if "retransmitted_segments" in found:
        parts.append(f"{found['retransmitted_segments']} retransmitted")
        parts.append(f"window {format_size(found['congestion_window_bytes'])}")
        parts.append(f"round trip {format_time(found['round_trip_ns'] / 1e9)}")
    if found.get("is_warmup"):
        parts.append("warm-up")
    text = f"{times}  {', '.join(parts)}"
    if "reverse" in found:
        back = live_text(workload, found["reverse"]).partition("s  ")[2]
        text += f" | reverse {back}"
    return text
