"""One trial of a run: executed between the engines, judged, and recorded, also why it failed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from lanlab import captures
from lanlab.analysis.disturbances.detect import judge
from lanlab.errors import (
    CommandFailed,
    EngineError,
    LabError,
    RunError,
    StoreError,
    TestbedDamaged,
    UsageError,
)
from lanlab.performers import Performer
from lanlab.plan.plan import PlannedTrial
from lanlab.roles import host_places, result_roles
from lanlab.run.commands import NO_COMMANDS, TrialCommands
from lanlab.run.open_testbed import OpenTestbed
from lanlab.run.unreached import explained
from lanlab.store import RunRecord, TrialRecord, take_intervals
from lanlab.store.encoding import utc_now
from lanlab.store.series import Series
from lanlab.trial_data import CommandRecord, ErrorRecord, TrialFacts, setup_of
from lanlab.workloads import Progress, TrialOutcome, counter_changes, workload

#: Codes of an engine's refusals that every retry would meet: a value that is not allowed, an option
#: that this system lacks, a missing right, a wrong password.
_REFUSALS = frozenset(
    {
        "request.value",
        "request.malformed",
        "request.too_long",
        "socket.option",
        "socket.congestion_control",
        "system.invalid",
        "system.permission",
        "processor.unusable",
        "service.login",
    }
)
_UNSUPPORTED = "unsupported"


@dataclass(eq=False, repr=False)
class _Taken:
    """What a trial has given so far."""

    facts: TrialFacts
    raw: dict[str, object]
    commands: list[CommandRecord] = field(default_factory=list)
    metrics: dict[str, float | int] = field(default_factory=dict)
    last: Progress | None = None
    error: LabError | None = None
    damage: str | None = None
    elapsed_s: float = 0.0


def run_trial(
    run: RunRecord,
    planned: PlannedTrial,
    testbed: OpenTestbed,
    on_progress: Callable[[Progress], None],
    commands: TrialCommands = NO_COMMANDS,
) -> TrialRecord:
    """
    Run one trial. If it fails, its record has the cause, and in `raw` both roles' results up to
    then (as in `sender`, `receiver`), their last report (`progress`), and the facts before and
    after.

    Args:
        on_progress: Called from another thread.
        commands: The user's commands around the trial.
    """
    parameters = planned.values
    if testbed.is_simulated:
        from lanlab.run.simulated import simulated_trial

        performer = testbed.performer(parameters, simulated_trial(run, planned, testbed))
    else:
        performer = testbed.performer(parameters)
    places = host_places(workload(planned.workload).roles, parameters.data_direction)
    names = {role: testbed.bed.hosts[place].name for role, place in places.items()}
    facts: TrialFacts = {}
    if testbed.made_because is not None:
        facts["testbed"] = {"made": testbed.made, "because": testbed.made_because}
    taken = _Taken(facts, {"facts": facts})
    started_at = utc_now()
    try:
        _measure(taken, planned, testbed, performer, names, on_progress, commands)
    except BaseException:
        # The trial has no record, but its commands' processes must end.
        with contextlib.suppress(CommandFailed):
            commands.after(planned, testbed, taken.commands, outlasts_interrupt=False)
        raise
    raw, error = taken.raw, taken.error
    try:
        commands.after(planned, testbed, taken.commands)
    except CommandFailed as failed:
        error = error or failed
    if taken.commands:
        raw["commands"] = taken.commands
    if error is not None:
        if taken.last is not None:
            raw["progress"] = asdict(taken.last)
        asked = setup_of(raw).get("requests", {})
        paths = run.testbed.get("facts", {}).get("paths", {})
        cause = cause_of(error, testbed.hosts.loss(), taken.damage)
        error = explained(cause, testbed.bed, asked, names, paths)
    ended = time.monotonic()
    testbed.lost.note(planned, error, (ended - taken.elapsed_s, ended))
    roles = {name: role for role, name in names.items()}
    return TrialRecord(
        run_id=run.id,
        number=planned.number,
        experiment=planned.experiment,
        workload=planned.workload,
        factors=dict(planned.factors),
        parameters=dict(planned.parameters),
        block=planned.block,
        purpose=planned.purpose,
        status="done" if error is None else "failed",
        started_at=started_at,
        elapsed_s=taken.elapsed_s,
        metrics=taken.metrics if error is None else {},
        raw=raw,
        error=None if error is None else error_record(error, roles),
    )


def _measure(
    taken: _Taken,
    planned: PlannedTrial,
    testbed: OpenTestbed,
    performer: Performer,
    names: Mapping[str, str],
    on_progress: Callable[[Progress], None],
    commands: TrialCommands,
) -> None:
    kind, hosts, facts, raw = workload(planned.workload), testbed.hosts, taken.facts, taken.raw
    began = time.monotonic()

    def on_each(progress: Progress) -> None:
        taken.last = progress
        on_progress(progress)

    def end() -> None:
        taken.elapsed_s = time.monotonic() - began
        facts["after"] = hosts.passing_facts()
        taken.damage = _damage(testbed, facts)

    try:
        testbed.lost.check(planned)
        # Restarts lost engines first, so that their facts are read again.
        hosts.revive()
        commands.before(planned, testbed, taken.commands)
        facts["before"] = hosts.passing_facts()
        outcome = performer.perform(kind, planned.values, on_each)
        raw |= {"setup": outcome.setup, **outcome.results}
        _note_captures(testbed, outcome)
        taken.error = outcome.error
        end()
        if taken.error is None:
            before, after = facts["before"]["counters"], facts["after"]["counters"]
            changes = counter_changes(before, after, names)
            taken.metrics = performer.metrics(kind, planned.values, outcome, changes)
            if not testbed.is_simulated:
                lasting = hosts.lasting_facts()
                ends = {role: lasting[name] | {"name": name} for role, name in names.items()}
                every = {
                    host.label: lasting[host.name] | {"name": host.name}
                    for host in testbed.bed.hosts
                }
                raw["pollution"] = judge(raw, taken.metrics, ends, every).to_json()
    except LabError as failed:
        taken.error = failed
        end()


def with_series(trial: TrialRecord) -> tuple[TrialRecord, tuple[Series, ...]]:
    """A trial without its series, and the series. A trial whose engine reported something that no
    series can hold has failed, and is stored without it.
    """
    try:
        return take_intervals(trial)
    except (StoreError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        said = str(error) or type(error).__name__
        cause = RunError(f"invalid message from an engine: {said}")
        ours = {
            key: part for key, part in trial.raw.items() if key not in result_roles(trial.workload)
        }
        failed = replace(
            trial, status="failed", metrics={}, raw=ours, error=error_record(cause, {})
        )
        return failed, ()


def _note_captures(testbed: OpenTestbed, outcome: TrialOutcome) -> None:
    link = testbed.bed.hosts[0].raw_link or {}
    if "recorded" in link:
        for result in outcome.results.values():
            if counted := result.get("carrier"):
                recorded, missing = counted["recorded_frames"], counted["unrecorded_frames"]
                captures.note(str(link["recorded"]["pcap"]), recorded, missing)


def _damage(testbed: OpenTestbed, facts: TrialFacts) -> str | None:
    try:
        damage = testbed.bed.damage()
    except LabError as error:
        damage = f"its hosts cannot be looked at: {error.message}"
    if damage is not None:
        facts["after"]["damage"] = damage
    return damage


def cause_of(error: LabError, lost: LabError | None, damage: str | None) -> LabError:
    """
    Why a trial failed, from all that is known.

    Args:
        error: The error that ended it.
        lost: How a lost engine ended; the other end can then only report that its peer is silent.
        damage: A change of the testbed; both ends can then only report that they do not hear each
            other.
    """
    cause = lost or error
    if damage is None or not retry_helps(cause):
        return cause
    return TestbedDamaged(
        f"{damage}; seen as: {cause.message}",
        hint="lanlab sets the testbed up again for the next trial",
        host=damage.partition(":")[0],
    )


def retry_helps(error: LabError) -> bool:
    if isinstance(error, EngineError):
        return error.code not in _REFUSALS and not error.code.endswith(_UNSUPPORTED)
    return not isinstance(error, UsageError)


def error_record(error: LabError, roles: dict[str, str]) -> ErrorRecord:
    """
    A cause in the form of the record.

    Args:
        error: The result of `cause_of`.
        roles: Name of a host to its role.
    """
    host = error.host if isinstance(error, RunError) else None
    return {
        "code": error.code if isinstance(error, EngineError) else type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "host": host,
        "end": roles.get(host) if host is not None else None,
        "retry_helps": retry_helps(error),
    }
