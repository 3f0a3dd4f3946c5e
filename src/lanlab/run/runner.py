"""
Execute the trials of a plan on a testbed and commit each to the store the moment it ends.

All refusals happen before the run is in the store. From then on the store has every finished trial;
Ctrl-C, an error or a lost engine loses at most the one in flight.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Protocol, cast

from lanlab import __version__
from lanlab.addresses import FAMILY_NAMES
from lanlab.errors import RunInterrupted, StoreError, UsageError
from lanlab.frozen import dataclass
from lanlab.performers import SIMULATORS
from lanlab.plan.conditions import Condition
from lanlab.plan.plan import Plan, PlannedTrial
from lanlab.plan.running import Estimate
from lanlab.run.commands import TrialCommands
from lanlab.run.machine import check_machine
from lanlab.run.open_testbed import OpenTestbed
from lanlab.run.trial import run_trial, with_series
from lanlab.store import RunRecord, TrialRecord
from lanlab.store.database import Store
from lanlab.store.encoding import utc_now
from lanlab.store.shape import reading_records
from lanlab.studies.model import Study
from lanlab.studies.runs_on import study_on
from lanlab.testbeds import Opening, Testbed
from lanlab.testbeds.registry import is_of_real_hosts
from lanlab.trial_data import Alternation, LinkRecord, PathSeen, Request, StudyRecord, TestbedFacts
from lanlab.workloads import Progress
from lanlab.workloads.drivers.registry import OWN, driver
from lanlab.workloads.parameters import FlowParameters, TrialParameters


@dataclass(frozen=True)
class RunRequest:
    study: Study
    scale: str
    testbed: str
    #: In the form of `lanlab.testbeds`; `None` for the study's.
    link: str | None
    #: Seed of the order of trials; `None` draws one.
    seed: int | None = None
    opening: Opening | None = None
    #: The command as typed, without passwords; `None` if there was none.
    command: str | None = None
    alternation: Alternation | None = None
    allows_commands: bool = False


class Watcher(Protocol):
    def run_started(self, run: RunRecord, estimate: Estimate) -> None: ...

    def trial_started(self, trial: PlannedTrial, estimate: Estimate) -> None: ...

    def trial_progress(self, trial: PlannedTrial, progress: Progress) -> None:
        """Called from another thread."""

    def trial_ended(self, trial: TrialRecord) -> None: ...


def new_run(request: RunRequest, store: Store, watcher: Watcher) -> RunRecord:
    """
    Run a study from its beginning.

    Returns:
        The run in the store at its end.

    Raises:
        UsageError: It cannot run; nothing is in the store.
        RunInterrupted: The user ended it; it can be resumed.
        StoreError: The store did not accept a trial.
    """
    is_simulated = request.testbed in SIMULATORS
    study = study_on(request.study, "simulated" if is_simulated else "real", request.scale)
    link = request.link or _own_link(request)
    seed = secrets.randbelow(2**32) if request.seed is None else request.seed
    plan = Plan(study, request.scale, seed)
    refuse_programs(_programs(plan, study), request.allows_commands)
    hosts_wanted = study.testbed.hosts
    with OpenTestbed(request.testbed, hosts_wanted, link, request.opening) as testbed:
        bed, hosts = testbed.bed, testbed.hosts
        _check_conditions(plan.conditions(), testbed)
        if is_simulated:
            from lanlab.run.simulated import check_worlds

            check_worlds(study, plan.conditions(), link)
        run = RunRecord(
            id=new_id(study.id),
            study_id=study.id,
            study=cast("StudyRecord", study.model_dump(mode="json", exclude_none=True)),
            scale=request.scale,
            seed=seed,
            testbed={
                "name": bed.name,
                "link": link,
                "link_rate_bps": bed.link.rate_bps,
                "link_facts": cast("LinkRecord", bed.link.to_json()),
                "facts": cast("TestbedFacts", bed.facts())
                | {
                    "hosts": hosts.lasting_facts(),
                    "interfaces": hosts.interfaces(),
                    "paths": _paths(plan.conditions(), testbed),
                },
            },
            versions={"lanlab": __version__, "python": sys.version.split()[0]} | testbed.versions(),
            status="running",
            started_at=utc_now(),
            command=request.command,
            alternation=request.alternation,
        )
        with store.start_run(run):
            return _execute(run, plan, testbed, store, watcher)


def resume_run(
    name: str, store: Store, watcher: Watcher, *, allows_commands: bool = False
) -> RunRecord:
    """
    Continue an interrupted run: the same study, plan, seed and testbed.

    Args:
        allows_commands: Whether the user allows the programs that the record names.

    Raises:
        UnknownName: The run is unknown.
        UsageError: The run is complete, or comes from other versions of lanlab or another policy
            for failed trials; or it names programs, which are not allowed.
        RunInterrupted, StoreError: As in `new_run`.
    """
    run = store.run(name)
    # Before its study and trials are read: another version may not understand them.
    _check_same_version(run, "lanlab", __version__)
    with store.acquire_run(run.id):
        with reading_records(run.id):
            study, trials = Study.model_validate(run.study), store.trials(run.id)
            plan = Plan(study, run.scale, run.seed, trials)
            place = str(run.testbed["name"]), study.testbed.hosts, str(run.testbed["link"])
        refuse_programs([*_programs(plan, study), *clusters(place[:1])], allows_commands)
        if plan.next_trial() is None:
            if run.status != _end_status(plan):
                store.finish_run(run.id, _end_status(plan))
            raise UsageError(
                f"run {run.id} is complete",
                hint=f"see it with `lanlab report {run.id}{store.option}`",
            )
        with OpenTestbed(*place) as testbed:
            _check_same_version(run, "lanlab-engine", testbed.versions()["lanlab-engine"])
            return _execute(store.reopen_run(run.id), plan, testbed, store, watcher)


def _own_link(request: RunRequest) -> str:
    has_own = request.testbed == "loopback" or is_of_real_hosts(request.testbed)
    return "unshaped" if has_own else request.study.testbed.link


def _check_conditions(conditions: list[Condition], testbed: OpenTestbed) -> None:
    bed = testbed.bed
    for condition in conditions:
        parameters = condition.values
        family = parameters.address_family
        is_real = is_of_real_hosts(bed.name)
        missing = [host.label for host in bed.hosts if testbed.hosts.address(host, family) is None]
        if missing and is_real:
            raise UsageError(
                f"{', '.join(missing)}: no {FAMILY_NAMES[family]} address is known to measure at",
                hint="give one with --address or --from-address, or choose the other IP version "
                "with --ip",
            )
        if missing:
            raise UsageError(
                f"experiment `{condition.experiment}` needs {FAMILY_NAMES[family]}, which "
                f"{', '.join(missing)} of testbed `{bed.name}` does not have",
                hint="enable it on this system, or use another testbed",
            )
        if bed.name in SIMULATORS:
            continue
        if is_real:
            _check_programs(condition.workload, parameters, bed)
        # Before the run is in the store: a missing requirement would fail every trial.
        if isinstance(parameters, FlowParameters):
            if not is_real:
                check_machine(parameters, bed.name)
            if parameters.driver != OWN:
                driver(parameters.driver).check_found(condition.workload, parameters)
        else:
            from lanlab.performers.servers.of_trial import check_server

            client, *_ = testbed.hosts.engine_hosts(family)
            check_server(parameters, bed.hosts[1], client)
        if parameters.sends_by_segmentation and bed.link.shape != "none":
            # The kernel passes a buffer of several messages to the shaper as one: such traffic was
            # measured to be some per cent faster than the emulated medium.
            raise UsageError(
                f"experiment `{condition.experiment}` sends by segmentation offload, which passes "
                f"a shaped link faster than its medium allows",
                hint="use io `batch`, or `--link unshaped`",
            )


def _paths(conditions: list[Condition], testbed: OpenTestbed) -> dict[str, PathSeen]:
    if not is_of_real_hosts(testbed.bed.name):
        return {}
    from lanlab.performers.paths import probed_paths

    for condition in conditions:
        parameters = condition.values
        if not parameters.is_users_server:
            ports: Request = {}
            if isinstance(parameters, FlowParameters):
                ports = parameters.listening_ports()
            hosts = testbed.hosts.engine_hosts(parameters.address_family)
            return probed_paths(hosts, testbed.hosts.interfaces(), ports)
    return {}


def _check_programs(workload: str, parameters: TrialParameters, bed: Testbed) -> None:
    others = {}
    if isinstance(parameters, FlowParameters) and parameters.driver != OWN:
        entry = driver(parameters.driver)
        there = [one.programs_there for one in bed.hosts if one.programs_there is not None]
        if there and entry.runs_by_ssh:
            from lanlab.performers.programs import check_programs_there

            for programs in there:
                check_programs_there(entry, workload, parameters.transport, programs)
        else:
            others["--tool"] = entry.name
    server = parameters.other_server
    if server and "://" not in server:
        others["--server"] = server
    host = next((one.label for one in bed.hosts if not one.runs_programs), None)
    if others and host is not None:
        (option, value), *_ = others.items()
        raise UsageError(
            f"{option} {value} cannot be used with {host}: only engines are started there",
            hint=f"omit {option}, use --tool iperf3, or measure on testbed `virtual`"
            if option == "--tool" and any(one.programs_there for one in bed.hosts)
            else f"omit {option}, or measure on testbed `virtual`",
        )


def _execute(
    run: RunRecord, plan: Plan, testbed: OpenTestbed, store: Store, watcher: Watcher
) -> RunRecord:
    study = Study.model_validate(run.study)
    commands = TrialCommands(study.commands, run.id)
    try:
        link_rate_bps = testbed.bed.link.rate_bps
        watcher.run_started(run, plan.estimate(link_rate_bps=link_rate_bps))
        while (planned := plan.next_trial()) is not None:
            watcher.trial_started(planned, plan.estimate(link_rate_bps=link_rate_bps))
            if testbed.is_simulated:
                from lanlab.run.simulated import expect_worlds

                expect_worlds(run, plan, testbed)
            record, series = with_series(
                run_trial(run, planned, testbed, partial(watcher.trial_progress, planned), commands)
            )
            store.commit_trial(record, series)
            plan.record(record)
            watcher.trial_ended(record)
            if commands.is_interrupted and plan.next_trial() is not None:
                raise KeyboardInterrupt
            damage = record.facts["after"].get("damage")
            if damage is not None and plan.next_trial() is not None:
                testbed.renew(damage)
        store.finish_run(run.id, _end_status(plan))
    except KeyboardInterrupt:
        store.finish_run(run.id, "interrupted")
        named = [*_programs(plan, study), *clusters([run.testbed["name"]])]
        allowed = " --allow-commands" if named else ""
        raise RunInterrupted(
            f"run {run.id} was interrupted; the trials that had ended are saved",
            hint=f"continue with `lanlab run --resume {run.id}{allowed}{store.option}`",
        ) from None
    except StoreError:
        # The run stays unchanged in the store: it can be resumed once there is space.
        raise
    except BaseException:
        with contextlib.suppress(StoreError):
            store.finish_run(run.id, "interrupted")
        raise
    return store.run(run.id)


def _end_status(plan: Plan) -> str:
    return "failed" if plan.given_up() or plan.searches_given_up() else "done"


def _programs(plan: Plan, study: Study) -> list[str]:
    """The programs of a study for this machine, and servers that would get $LANLAB_PASSWORD."""
    given: dict[str, str] = {}
    if study.commands is not None:
        parts = {"setup", "prepare", "cleanup"}
        given = study.commands.model_dump(include=parts, exclude_none=True)
    named = []
    if servers := {one.values.other_server for one in plan.conditions()} - {""}:
        from lanlab.workloads.services.server_url import is_server_file, password_variable

        named = [f"server file `{one}`" for one in sorted(servers) if is_server_file(one)]
        secrets_of = {one: password_variable(one) for one in sorted(servers)}
        named += [f"{name} to `{one}`" for one, name in secrets_of.items() if name]
    return [*(f"{when} `{command}`" for when, command in given.items()), *named]


def clusters(testbeds: Sequence[str]) -> list[str]:
    """The Ray clusters among testbeds: what they send can run programs."""
    return [f"cluster `{name}`" for name in testbeds if name.startswith("ray:")]


def refuse_programs(named: Sequence[str], is_allowed: bool) -> None:
    """A study or record may be another person's: unless allowed, none of these runs or is sent."""
    if named and not is_allowed:
        raise UsageError(
            f"the study or record asks to run programs or send passwords: {', '.join(named)}",
            hint="add --allow-commands if you trust them",
        )


def _check_same_version(run: RunRecord, name: str, now: str) -> None:
    """Trials of different versions must not be averaged unnoticed."""
    then = run.versions.get(name)
    if then != now:
        raise UsageError(
            f"run {run.id} was started with {name} {then}, this is {now}",
            hint="install that version to go on, or start a new run",
        )


def new_id(study_id: str) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^a-z0-9-]", "", study_id)
    return f"{stamp}-{name}-{secrets.token_hex(2)}"
