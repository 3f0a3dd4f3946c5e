"""`lanlab stations`: measure how a file service handles many stations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from lanlab.cli.options.hosts import with_fields, with_many_hosts
from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.options.services import ServerOptions
from lanlab.cli.options.shared import argument, flag, option
from lanlab.cli.running.settings import RunSettings, with_run_settings
from lanlab.cli.terminal.exit_report import tell_after_the_answer
from lanlab.cli.terminal.remarks import deliver
from lanlab.errors import RunError, UsageError
from lanlab.frozen import dataclass
from lanlab.trial_data import ExperimentData
from lanlab.units import time_of

if TYPE_CHECKING:
    from lanlab.store import RunRecord, TrialRecord


@dataclass(frozen=True)
class StationsOptions:
    """In the order of `--help`."""

    stations: str = option(
        "--stations",
        "N,N,...",
        "Station counts to measure, 1 to 10,000, or a range such as 8..15/1.",
        "1,2,4,8,15",
    )
    read: bool = flag("--read", "Read blocks (default).")
    write: bool = flag("--write", "Overwrite blocks.")
    limit: str = option("--limit", "TIME", "Response-time limit.", "100ms")
    statistic: Literal["mean", "p50", "p90", "p99"] = option(
        "--statistic",
        "mean|p50|p90|p99",
        "Response-time statistic to compare with the limit.",
        "mean",
    )


@with_run_settings(trials=3, hosts=with_many_hosts, live_interval="--live-interval")
@ParametersOf(
    "stations", first=("service", "server", "message_size_bytes", "read_ratio"), takes_lists=True
)
@with_fields(ServerOptions, "login")
@with_fields(StationsOptions, "wanted")
def stations(
    target: str | None = argument("TARGET", "Server URL or directory. Default: a built-in server."),
    *,
    wanted: StationsOptions,
    given: Given,
    login: ServerOptions,
    client_hosts: int | None = option(
        "--client-hosts",
        "NUMBER",
        "Client hosts on the testbed `virtual` or `ray`. Default: 1.",
        min=1,
        max=63,
    ),
    settings: RunSettings,
) -> None:
    """Find how many stations (clients) a file service can serve.

    Adds stations, clients that read or write blocks back to back, until the response time exceeds
    --limit. Every block read is compared with the data written.

    Each station has its own connection and file. lanlab removes only files that it wrote.

    Examples: lanlab stations smb://me@nas/share --stations 1,2,4,8,15 --size 6k --read;
    lanlab stations --service smb --link 100M --write --limit 20ms;
    lanlab stations smb://me@nas/share --from bob@pc1 --from carol@pc2;
    lanlab stations /mnt/nas --read-ratio 0.7 --access random --time 10s --statistic p99;
    lanlab stations --testbed simulated --machines celeron400-w98se,celeron400-w2ksp2 --link 10M:hub
    """
    from lanlab.cli.commands.scan import is_scan
    from lanlab.cli.places.copy_places import served_places
    from lanlab.cli.results.printing import print_run
    from lanlab.cli.running import single
    from lanlab.report.presentations.stations import station_figures
    from lanlab.store import store_option

    limit_s = time_of("--limit", wanted.limit, "1 us")
    mixed = given["read_ratio"] is not None
    if wanted.read + wanted.write + mixed > 1:
        raise UsageError("--read, --write and --read-ratio cannot be used together")
    if settings.machines is not None and given["service"] is None:
        # Most published values of simulated machines were measured over SMB 1.
        given["service"] = "smb1"
    named = (target,) if target is not None else ()
    place = served_places(named, given.pop("service"), given.pop("server"))
    settings = place.settings(settings, given["trust"], login)
    given |= {
        **place.parameters,
        "stations": wanted.stations,
        "operation": "write" if wanted.write else "mix" if mixed else "read",
        "loop": "closed" if given["rate_operations_per_s"] is None else "open",
    }
    experiment = _experiment(given, settings.trials)
    numbers = len(experiment["factors"].get("stations", ()))
    drawn = station_figures(experiment["id"], limit_s, wanted.statistic)
    run, records = single.measure_study(
        experiment,
        settings,
        figures=drawn if numbers else (),
        exactly=True,
        meanwhile=partial(_load_models, several=settings.trials > 1 or numbers != 1),
        hosts=host_count(settings.testbed, client_hosts),
    )
    if is_scan(run):
        print_run(run, records, settings.as_json, option=store_option(settings.store))
    else:
        _print_answer(run, records, limit_s, wanted.statistic, settings)
    single.finish(run, records, verbose=settings.verbose)


def _experiment(given: Given, trials: int) -> ExperimentData:
    from lanlab.cli.commands.scan import scan_of, with_single_levels
    from lanlab.cli.options.levels import checked
    from lanlab.report.trials.subject import subject

    scan = scan_of("stations", given, trials)
    if scan is not None and set(scan.factors) - {"stations"}:
        scan.announce(trials)
        return scan.experiment()
    several = () if scan is None else scan.factors["stations"]
    one = {**given, "stations": several[0] if several else given["stations"]}
    parameters = checked("stations", with_single_levels("stations", one))
    number = parameters.pop("stations")
    return {
        "id": "stations",
        "title": subject("stations", parameters, ["stations"]),
        "workload": "stations",
        "metrics": ["operations_per_s", "response_mean_ns", "response_p99_ns"],
        "parameters": parameters,
        "factors": {"stations": sorted(several) or [number]},
    }


def _print_answer(
    run: RunRecord,
    records: list[TrialRecord],
    limit_s: float,
    statistic: str,
    settings: RunSettings,
) -> None:
    from lanlab.analysis.copies.agreed import agreed_words, variants
    from lanlab.analysis.stations.spread import station_errors
    from lanlab.cli.results.printing import run_as_json
    from lanlab.report.document.document import Document
    from lanlab.report.runs.measurement import title_of
    from lanlab.report.stations.stations_text import (
        answer_sentence,
        host_table,
        is_answered,
        stations_table,
    )
    from lanlab.store import store_option

    sentence = answer_sentence(records, limit_s, statistic)
    is_done = all(record.status == "done" for record in records)
    if is_done and not is_answered(records, statistic):
        classes = {name: sum(each) for name, each in station_errors(records).items() if any(each)}
        why = ", ".join(f"{count} with `{name}`" for name, count in classes.items())
        error = f"no trial has a result that counts{why and f': operations failed: {why}'}"
        hint = None if why else "measure longer with `--time`"
        tell_after_the_answer(RunError(error, hint=hint))
    words, option = variants(map(agreed_words, records)), store_option(settings.store)
    tables = (stations_table(records), host_table(records, "stations"))
    found = Document(
        answer=[sentence, title_of(run)],
        body=[table for table in tables if table.rows],
        more=[f"method  {words}"] if words else [],
        next_step=f"saved as {run.id}; `lanlab report {run.id}{option}` draws the figures",
    )
    data = {**run_as_json(run, records), **found.to_json()} if settings.as_json else {}
    deliver(replace(found, data=data), settings.as_json)


def _load_models(*, several: bool) -> None:
    from lanlab.analysis.stations import answer

    assert answer
    if several:
        # The statistics are needed for intervals, and for values beyond the levels.
        from lanlab.analysis import statistics

        assert statistics


def host_count(testbed: str, client_hosts: int | None) -> int:
    """
    Number of hosts of the testbed. Of real hosts, all that are named.

    Args:
        client_hosts: The number requested for a testbed whose hosts have no names.
    """
    from lanlab.testbeds.registry import WITH_ANY_HOSTS, listed_hosts

    if client_hosts is not None:
        if testbed.partition(":")[0] not in WITH_ANY_HOSTS:
            raise UsageError(
                f"--client-hosts works only on the testbeds {' and '.join(WITH_ANY_HOSTS)}; found "
                f"`{testbed}`",
                hint="name each real host, e.g. `--from bob@pc1 --from carol@pc2`",
            )
        return 1 + client_hosts
    listed = listed_hosts(testbed)
    return 2 if listed is None else len(listed)
