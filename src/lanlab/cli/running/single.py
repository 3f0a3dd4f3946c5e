"""
A measurement from the command line: a study of one condition, or a scan of several, which is run
and stored like any study.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from lanlab.cli.options.shared import path_of
from lanlab.cli.running.settings import RunSettings
from lanlab.cli.terminal.remarks import deliver, say, typed_command
from lanlab.errors import UsageError
from lanlab.roles import BOTH, REVERSE_PREFIX
from lanlab.trial_data import ExperimentData

# Everything else is imported while hosts are being set up.
if TYPE_CHECKING:
    from lanlab.store import Level, RunRecord, TrialRecord
    from lanlab.testbeds import Opening

_HOSTS = 2
_SIMULATED = "simulated"


def measure_and_answer(
    workload_name: str, parameters: Mapping[str, Level | None], settings: RunSettings
) -> None:
    """Measure, as `measure` does, and print the results."""
    run, trials = measure(workload_name, parameters, settings)
    _answer(run, trials, settings)
    finish(run, trials, verbose=settings.verbose)


def measure(
    workload_name: str, parameters: Mapping[str, Level | None], settings: RunSettings
) -> tuple[RunRecord, list[TrialRecord]]:
    """
    Run one condition, or all combinations of the parameters that have several values.

    Args:
        parameters: The workload's; those that are `None` keep their default. Each may be a list or
            a range in the syntax of `lanlab.cli.options.levels`, or a tuple. `driver` may name
            several, separated by commas: each measures the condition, in blocks of random order.
    """
    from lanlab.testbeds import Opening

    simulation, link = _simulation(workload_name, settings)
    scan = None
    if any(_may_be_several(key, value) for key, value in parameters.items()):
        from lanlab.cli.commands.scan import scan_of

        scan = scan_of(workload_name, parameters, settings.trials)
    if scan is not None:
        scan.announce(settings.trials)
    # The following imports take place while the testbed is set up.
    with Opening(settings.testbed, _HOSTS, link, path_of(settings.pcap)) as opening:
        if scan is None:
            from lanlab.cli.commands.scan import with_single_levels

            single = with_single_levels(workload_name, parameters)
            experiment = _experiment(workload_name, single)
        else:
            experiment = scan.experiment()
        return _measured(experiment, settings, opening, simulation)


def _simulation(workload_name: str, settings: RunSettings) -> tuple[dict[str, object] | None, str]:
    machines, link = settings.machines, settings.link
    if settings.testbed != _SIMULATED:
        if machines is not None:
            raise UsageError("--machines needs --testbed simulated")
        return None, link or "unshaped"
    from lanlab.performers.simulated import check_workload
    from lanlab.studies.machine_lookup import known_machines, machines_named
    from lanlab.workloads import workload

    check_workload(workload_name)
    if machines is None:
        raise UsageError(
            "--testbed simulated needs --machines, one for each end",
            hint=f"known: {', '.join(known_machines())}",
        )
    named = machines_named(machines, workload(workload_name).roles)
    if link is None and named.link is None:
        raise UsageError(
            "--machines from a file needs --link", hint="add one, e.g. `--link 10M:hub`"
        )
    return named.simulation.model_dump(exclude_none=True), link or str(named.link)


def _may_be_several(key: str, value: object) -> bool:
    if isinstance(value, str):
        return key != "driver" and any(mark in value for mark in (",", ";", ".."))
    return isinstance(value, tuple)


def _experiment(workload_name: str, parameters: Mapping[str, Level | None]) -> ExperimentData:
    from lanlab.cli.options.levels import checked
    from lanlab.report.trials.subject import subject
    from lanlab.workloads.drivers.registry import OWN

    drivers = [name.strip() for name in str(parameters.get("driver") or OWN).split(",")]
    complete = [checked(workload_name, {**parameters, "driver": name}) for name in drivers]
    varied: ExperimentData = {"parameters": complete[0]}
    if len(drivers) > 1:
        # Defaults, such as the warm-up, depend on the driver.
        given = {key: value for key, value in parameters.items() if value is not None}
        del given["driver"]
        varied = {"parameters": given, "factors": {"driver": drivers}}
    return {
        "id": "single",
        "title": subject(workload_name, complete[0], ["driver"] if len(drivers) > 1 else ()),
        "workload": workload_name,
        "metrics": shown_metrics(workload_name, complete[0]),
        **varied,
    }


def shown_metrics(workload_name: str, parameters: Mapping[str, object]) -> list[str]:
    """The metric in a single condition's table: the workload's first, in each direction."""
    from lanlab.workloads import workload
    from lanlab.workloads.peers.peer import shown_metric

    first = shown_metric(parameters) or next(iter(workload(workload_name).metrics))
    is_both_ways = str(parameters.get("traffic_direction")) == BOTH
    return [first, f"{REVERSE_PREFIX}{first}"] if is_both_ways else [first]


def measure_study(
    experiment: ExperimentData,
    settings: RunSettings,
    *,
    figure: str | None = None,
    figures: Sequence[Mapping[str, object]] = (),
    exactly: bool = False,
    meanwhile: Callable[[], object] | None = None,
    hosts: int = _HOSTS,
) -> tuple[RunRecord, list[TrialRecord]]:
    """
    Run a study of one experiment.

    Args:
        experiment: In the form of a study file.
        exactly: Whether to repeat neither disturbed nor failed trials.
        meanwhile: Imports the modules for the answer while the testbed is set up.
    """
    from lanlab.cli.terminal.memory import check_for_a_run
    from lanlab.testbeds import Opening

    simulation, link = _simulation(experiment["workload"], settings)
    with Opening(settings.testbed, hosts, link, path_of(settings.pcap)) as opening:
        if meanwhile is not None:
            check_for_a_run()
            meanwhile()
        return _measured(
            experiment, settings, opening, simulation, figure, figures, exactly=exactly
        )


def _measured(
    experiment: ExperimentData,
    settings: RunSettings,
    opening: Opening,
    simulation: Mapping[str, object] | None,
    figure: str | None = None,
    figures: Sequence[Mapping[str, object]] = (),
    *,
    exactly: bool = False,
) -> tuple[RunRecord, list[TrialRecord]]:
    from lanlab.cli.commands.scan import SCAN
    from lanlab.cli.running.watch import RunWatch
    from lanlab.cli.terminal.memory import check_for_a_run
    from lanlab.report.trials.subject import places
    from lanlab.run import RunRequest, new_run
    from lanlab.store import open_store, parquet
    from lanlab.studies.load import parse_study
    from lanlab.workloads import workload

    hooks = settings.hooks
    if simulation is not None:
        experiment = {**experiment, "on": [_SIMULATED]}
    # Named after the workload (single measurement), both (scan), or the experiment (others).
    is_single, is_scan = experiment["id"] == "single", experiment["id"] == SCAN
    name = str(experiment["workload" if is_single else "id"])
    if is_scan:
        name = f"{experiment['workload']}-{name}"
    policy = {"min": settings.trials, "max": settings.trials}
    if is_single or is_scan or exactly:
        # Run exactly the requested trials: disturbed and failed ones are reported, not repeated.
        policy |= {"repeat_polluted": 0, "retry_failed": 0}
    # All levels of a factor are of one kind (users' servers, or not), so the first will do.
    firsts = {key: levels[0] for key, levels in experiment.get("factors", {}).items()}
    if "traffic_direction" in firsts:
        firsts["traffic_direction"] = BOTH
    where = places(opening.wanted[0], opening.wanted[2], {**experiment["parameters"], **firsts})
    if where:
        experiment = {**experiment, "title": f"{experiment['title']}, {where}"}
    drawn = {"figure": figure, "title": experiment["title"], "experiments": [experiment["id"]]}
    study = parse_study(
        {
            "schema": 1,
            "id": name,
            "title": experiment["title"],
            "testbed": {"hosts": opening.wanted[1]},
            "experiment": [experiment],
            "figure": [drawn] if figure else list(figures),
            "scale": {"single": {"trials": policy}},
            **({"commands": dict(hooks.commands)} if hooks.commands else {}),
            **({} if simulation is None else {"simulation": simulation}),
        },
        f"lanlab {name}",
    )
    check_for_a_run()
    # Import now, so that nothing is imported while measuring, and little afterwards.
    if not workload(experiment["workload"]).has_short_series:
        parquet.load()
    with open_store(settings.store) as records, RunWatch(hooks.live) as watch:
        testbed, _, link = opening.wanted
        command = typed_command()
        request = RunRequest(
            study,
            "single",
            testbed,
            link,
            settings.seed,
            opening,
            command,
            allows_commands=True,
        )
        run = new_run(request, records, watch)
        found = records.trials(run.id)
        hooks.write(run, found, records)
    return run, found


def _answer(run: RunRecord, trials: list[TrialRecord], settings: RunSettings) -> None:
    from lanlab.cli.commands.scan import is_scan
    from lanlab.cli.results.printing import print_run, single_as_json
    from lanlab.report.runs.measurement import measurement
    from lanlab.store import store_option

    if is_scan(run):
        print_run(run, trials, settings.as_json, option=store_option(settings.store))
        return
    found = measurement(run, trials, verbose=settings.verbose)
    data = single_as_json(run, trials) if settings.as_json else {}
    deliver(replace(found, data=data), settings.as_json)


def finish(
    run: RunRecord,
    trials: list[TrialRecord],
    *,
    verbose: bool = False,
    summary: bool = True,
    hint_of: Callable[[str], str] = str,
) -> None:
    """Warn of disturbances; report failures, and exit with 1 if a failed trial was not replaced.

    Args:
        hint_of: Adapts a hint to the command.
    """
    from lanlab.analysis.trials.failures import by_kind, failures, place_and_reason
    from lanlab.cli.results.printing import warn_of_disturbances

    warn_of_disturbances(trials, verbose=verbose, summary=summary)
    is_incomplete = run.status != "done"
    for failed in by_kind(failures(trials)):
        last = failed[-1]
        is_lacking = any(failure.fate == "missing" for failure in failed)
        place, why = place_and_reason(last.trial)
        several = f"{len(failed)} of {len(trials)} trials failed{place}; the last: "
        say(f"{'error' if is_lacking else 'warning'}: {several if len(trials) > 1 else ''}{why}")
        if hint := last.hint and hint_of(last.hint):
            say(f"hint: {hint}")
        if last.seen:
            say(f"before the failure: {last.seen}")
        is_incomplete |= is_lacking
    if is_incomplete:
        raise typer.Exit(1)
