"""
Execute the trials of a plan on a testbed and commit each to the store the moment it ends.

Everything that can be refused is refused before the run is in the store. From then on the store has
every trial that has ended; Ctrl-C, an error or a lost engine loses at most the one in flight.
"""

from __future__ import annotations

import contextlib
import platform
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from lanlab import __version__
from lanlab.analysis.pollution import judge
from lanlab.errors import EngineError, LabError, RunInterrupted, StoreError, UsageError
from lanlab.plan import Condition, Estimate, Plan, PlannedTrial, expand, searched
from lanlab.run.hosts import Hosts
from lanlab.store import RunRecord, Store, TrialRecord
from lanlab.studies import Study
from lanlab.testbeds import Testbed, testbed
from lanlab.workloads import Progress, counter_changes, workload
from lanlab.workloads.drivers.registry import OWN, driver


@dataclass(frozen=True)
class RunRequest:
    """A study to run, and where."""

    study: Study
    scale: str
    testbed: str
    #: As `lanlab.testbeds` reads it; `None` takes the study's.
    link: str | None
    #: Of the order of trials; `None` draws one.
    seed: int | None = None


class Watcher(Protocol):
    """Is told how a run goes."""

    def run_started(self, run: RunRecord, estimate: Estimate) -> None: ...

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None: ...

    def trial_progress(self, trial: PlannedTrial, progress: Progress) -> None:
        """Called from another thread."""

    def trial_ended(self, trial: TrialRecord) -> None: ...


def new_run(request: RunRequest, store: Store, watcher: Watcher) -> RunRecord:
    """
    Run a study from its beginning.

    Returns:
        The run as it stands in the store at its end.

    Raises:
        UsageError: It cannot be run as asked; nothing is in the store.
        RunInterrupted: The user ended it; it can be resumed.
        StoreError: The store did not take a trial.
    """
    link = request.link or _own_link(request)
    seed = secrets.randbelow(2**32) if request.seed is None else request.seed
    plan = Plan(request.study, request.scale, seed)
    with _opened(request.study, request.testbed, link) as (bed, hosts):
        study, scale = request.study, request.scale
        _check_conditions((*expand(study, scale), *searched(study, scale)), bed)
        run = RunRecord(
            id=_new_id(request.study.id),
            study_id=request.study.id,
            study=request.study.model_dump(mode="json", exclude_none=True),
            scale=request.scale,
            seed=seed,
            testbed={
                "name": bed.name,
                "link": link,
                "link_rate_bps": bed.link.rate_bps,
                "link_facts": bed.link.to_json(),
                "facts": bed.facts() | {"hosts": hosts.lasting_facts()},
            },
            versions=_versions(hosts),
            status="running",
            started_at=_now(),
        )
        store.create_run(run)
        with store.acquire_run(run.id):
            return _execute(run, plan, bed, hosts, store, watcher)


def resume_run(name: str, store: Store, watcher: Watcher) -> RunRecord:
    """
    Go on with a run that was interrupted: the same study, plan, seed and testbed.

    Raises:
        UnknownName: No such run.
        UsageError: The run is complete, or was made by other versions of lanlab.
        RunInterrupted, StoreError: As `new_run`.
    """
    run = store.run(name)
    # Before its study and trials are read: another version may not understand them.
    _check_same_version(run, "lanlab", __version__)
    with store.acquire_run(run.id):
        study = Study.model_validate(run.study)
        plan = Plan(study, run.scale, run.seed, store.trials(run.id))
        if plan.next_trial() is None:
            if run.status != _end_status(plan):
                store.finish_run(run.id, _end_status(plan))
            raise UsageError(
                f"run {run.id} is complete", hint=f"see it with `lanlab report {run.id}`"
            )
        with _opened(study, run.testbed["name"], run.testbed["link"]) as (bed, hosts):
            _check_same_version(run, "lanlab-engine", hosts.versions()["lanlab-engine"])
            return _execute(store.reopen_run(run.id), plan, bed, hosts, store, watcher)


def _own_link(request: RunRequest) -> str:
    """The link that the study asks for; loopback has none to offer but itself."""
    return "unshaped" if request.testbed == "loopback" else request.study.testbed.link


@contextlib.contextmanager
def _opened(study: Study, name: str, link: str) -> Iterator[tuple[Testbed, Hosts]]:
    with testbed(name, study.testbed.hosts, link) as bed:
        hosts = Hosts(bed)
        try:
            yield bed, hosts
        finally:
            hosts.close()


def _check_conditions(conditions: tuple[Condition, ...], bed: Testbed) -> None:
    """Refuse a study with conditions that the testbed does not have or cannot measure rightly."""
    for condition in conditions:
        ip_version = condition.parameters["ip_version"]
        missing = [host.name for host in bed.hosts if ip_version not in host.addresses]
        if missing:
            raise UsageError(
                f"experiment `{condition.experiment}` needs IPv{ip_version}, which "
                f"{', '.join(missing)} of testbed `{bed.name}` does not have",
                hint="enable it on this system, or use another testbed",
            )
        driver_name = str(condition.parameters["driver"])
        if driver_name != OWN:
            # Before the run is in the store: what is missing now would fail every trial.
            kind = workload(condition.workload)
            parameters = kind.Parameters.model_validate(dict(condition.parameters))
            driver(driver_name).check_found(condition.workload, parameters)
        if condition.parameters.get("io") == "segment" and bed.link.shape != "none":
            # The kernel hands a buffer of several messages to the shaper as one: measured, such
            # traffic is some per cent faster than the medium it is meant to be on.
            raise UsageError(
                f"experiment `{condition.experiment}` sends by segmentation offload, which passes "
                f"a shaped link faster than its medium allows",
                hint="use io `batch`, or `--link unshaped`",
            )


def _execute(
    run: RunRecord, plan: Plan, bed: Testbed, hosts: Hosts, store: Store, watcher: Watcher
) -> RunRecord:
    """Run what the plan has left."""
    try:
        watcher.run_started(run, plan.estimate())
        while (planned := plan.next_trial()) is not None:
            watcher.trial_started(planned, plan.estimate())
            record = _trial(run, planned, bed, hosts, watcher)
            store.commit_trial(record)
            plan.record(record)
            watcher.trial_ended(record)
    except KeyboardInterrupt:
        store.finish_run(run.id, "interrupted")
        raise RunInterrupted(
            f"run {run.id} was interrupted; the trials that had ended are kept",
            hint=f"go on with `lanlab run --resume {run.id}`",
        ) from None
    except StoreError:
        # The run stays as it is in the store: it can be resumed once there is room again.
        raise
    except BaseException:
        with contextlib.suppress(StoreError):
            store.finish_run(run.id, "interrupted")
        raise
    store.finish_run(run.id, _end_status(plan))
    return store.run(run.id)


def _end_status(plan: Plan) -> str:
    """Status of a run whose plan has nothing left."""
    return "failed" if plan.given_up() or plan.searches_given_up() else "done"


def _trial(
    run: RunRecord, planned: PlannedTrial, bed: Testbed, hosts: Hosts, watcher: Watcher
) -> TrialRecord:
    """Run one trial. Whatever goes wrong in it is its record."""
    kind = workload(planned.workload)
    parameters = kind.Parameters.model_validate(dict(planned.parameters))
    started_at, began = _now(), time.monotonic()
    facts: dict[str, Any] = {}
    raw: dict[str, Any] = {"facts": facts}
    metrics: dict[str, float | int] = {}
    error: LabError | None
    try:
        # First, as a lost engine is started anew here and has facts to tell again.
        source, target = (hosts.end(index, parameters.ip_version) for index in (0, 1))
        facts["before"] = hosts.passing_facts()

        def on_progress(progress: Progress) -> None:
            watcher.trial_progress(planned, progress)

        exchange = kind.run(parameters, source, target, bed.start_lead_s, on_progress)
        raw |= {
            "setup": exchange.setup,
            "source": exchange.connector,
            "target": exchange.listener,
        }
        error = exchange.error
        elapsed_s = time.monotonic() - began
        facts["after"] = hosts.passing_facts()
        if error is None:
            changes = counter_changes(
                facts["before"]["counters"],
                facts["after"]["counters"],
                *(host.name for host in bed.hosts[:2]),
            )
            metrics = kind.summarise(parameters, exchange, changes)
            lasting = hosts.lasting_facts()
            source_facts, target_facts = (
                lasting[host.name] | {"name": host.name} for host in bed.hosts[:2]
            )
            raw["pollution"] = judge(raw, metrics, source_facts, target_facts).to_json()
    except LabError as failed:
        error = failed
        elapsed_s = time.monotonic() - began
        facts["after"] = hosts.passing_facts()
    if error is not None:
        # That its peer fell silent is all that an end can say where the other's engine was lost.
        error = hosts.loss() or error
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
        elapsed_s=elapsed_s,
        metrics=metrics,
        raw=raw,
        error=None if error is None else _error_record(error),
    )


def _error_record(error: LabError) -> dict[str, Any]:
    code = error.code if isinstance(error, EngineError) else type(error).__name__
    return {"code": code, "message": error.message, "hint": error.hint}


def _check_same_version(run: RunRecord, name: str, now: str) -> None:
    """Trials of unlike versions must not be averaged unseen."""
    then = run.versions.get(name)
    if then != now:
        raise UsageError(
            f"run {run.id} was begun with {name} {then}, this is {now}",
            hint="install that version to go on, or start a new run",
        )


def _versions(hosts: Hosts) -> dict[str, str]:
    return {"lanlab": __version__, "python": platform.python_version()} | hosts.versions()


def _new_id(study_id: str) -> str:
    """Sorts by time, names the study, and is not given twice."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^a-z0-9-]", "", study_id)
    return f"{stamp}-{name}-{secrets.token_hex(2)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
