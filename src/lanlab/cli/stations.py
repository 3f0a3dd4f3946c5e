"""`lanlab stations`: how a file service serves many clients, measured."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lanlab.cli.flow_options import IpOption
from lanlab.cli.options import (
    DEFAULT_TESTBED,
    JsonOption,
    LinkOption,
    SeedOption,
    StoreOption,
    TestbedOption,
    VerboseOption,
)
from lanlab.cli.service_options import PasswordFileOption, ServerOption, TimeoutOption, TrustOption
from lanlab.errors import UsageError


def stations(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET", help="URL of a service, or a directory; none: a server of lanlab's."
        ),
    ] = None,
    levels: Annotated[
        str,
        typer.Option(
            "--stations", metavar="N,N,...", help="Numbers of stations, each measured: 1 to 10,000."
        ),
    ] = "1,2,4,8,15",
    size: Annotated[
        str, typer.Option("--size", metavar="SIZE", help="Octets of an operation.")
    ] = "6k",
    read: Annotated[bool, typer.Option("--read", help="Read blocks; the default.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Write over blocks.")] = False,
    mix: Annotated[
        str | None,
        typer.Option("--mix", metavar="SHARE", help="Both: this share of reads, as in 70%."),
    ] = None,
    access: Annotated[
        str, typer.Option("--access", help="Blocks in order (`sequential`) or `random`.")
    ] = "sequential",
    file_size: Annotated[
        str | None,
        typer.Option(
            "--file-size",
            metavar="SIZE",
            help="Of each station's file. Default: 1 MiB, from 257 stations on 256 MiB of all.",
        ),
    ] = None,
    think: Annotated[
        str, typer.Option("--think", metavar="TIME", help="Pause of a station between operations.")
    ] = "0",
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", help="Open loop: operations a second of all stations, whatever is answered."
        ),
    ] = None,
    arrivals: Annotated[
        str, typer.Option("--arrivals", help="Of an open loop: `poisson` or `fixed`.")
    ] = "poisson",
    sync: Annotated[
        str, typer.Option("--sync", help="`each`: a write counts when it is on the disk.")
    ] = "none",
    readings: Annotated[
        int | None,
        typer.Option(
            "--readings",
            help="Operations of each station: 1 to 10,000,000, and 16,777,216 of all stations "
            "together. Default: 800, or 800 000 of all stations.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="TIME",
            help="No operation begins after it. Beyond 250,000 every few single readings are kept; "
            "sums are of all.",
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            help="End when the mean response time is known to it, as `2%`.",
        ),
    ] = None,
    limit: Annotated[
        str,
        typer.Option("--limit", metavar="TIME", help="The response time that shall not be passed."),
    ] = "100ms",
    of: Annotated[
        str, typer.Option("--of", help="Which response time: `mean`, `p50`, `p90` or `p99`.")
    ] = "mean",
    service: Annotated[
        str | None,
        typer.Option(
            "--service",
            help="Without TARGET: directory, ftp, ftps, sftp, webdav, webdavs, nfs, smb, s3, s3s; "
            "or memory, which shows what measuring itself costs.",
        ),
    ] = None,
    server: ServerOption = None,
    retries: Annotated[
        int, typer.Option("--retries", help="Of an operation, after faults that may pass.")
    ] = 2,
    timeout: TimeoutOption = "30",
    longest: Annotated[
        str | None,
        typer.Option(
            "--longest",
            metavar="TIME",
            help="Give up a step of a trial (preparing, connecting, working, removing) after this "
            "time beyond `--time`. Default: some minutes, and more for more stations and files.",
        ),
    ] = None,
    trust: TrustOption = None,
    password_file: PasswordFileOption = None,
    ip: IpOption = 4,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Of each number.")] = 3,
    testbed: TestbedOption = DEFAULT_TESTBED,
    link: LinkOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Have 1, 2 and more clients read or write blocks at a file service, each as fast as it is
    answered, and say how many it serves before their response time passes a limit.

    Each client has its own connection and its own file. Every block that is read is compared with
    what was written. What is written is removed again, and nothing else.

    Examples: lanlab stations smb://me@nas/share --stations 1,2,4,8,15 --size 6k --read;
    lanlab stations --service smb --link 100M --write --limit 20ms;
    lanlab stations /mnt/nas --mix 0.7 --access random --time 10s --of p99
    """
    from lanlab.analysis.agreed import all_agreed_words
    from lanlab.cli import single
    from lanlab.cli.results import run_as_json
    from lanlab.cli.station_places import level_list, ratio, station_place
    from lanlab.cli.terminal import answer, print_json
    from lanlab.figures.single_figures import station_figures
    from lanlab.report.stations_text import answer_sentence, level_table
    from lanlab.units import parse_time_s

    limit_s = parse_time_s(limit)
    if limit_s <= 0:
        raise UsageError("--limit: found 0; allowed: greater than 0")
    if of not in ("mean", "p50", "p90", "p99"):
        raise UsageError(f"--of: found `{of}`; allowed: mean, p50, p90, p99")
    if read + write + (mix is not None) > 1:
        raise UsageError("--read, --write and --mix: found several; allowed: one")
    numbers = level_list(levels)
    place = station_place(target, service, server)
    place.check_link(link)
    place.get_password(password_file)
    given: dict[str, Any] = {
        **place.parameters,
        "stations": numbers[0],
        "ip_version": ip,
        "operation": "write" if write else "read" if mix is None else "mix",
        "read_ratio": mix,
        "access": access,
        "message_size_bytes": size,
        "file_size_bytes": file_size,
        "think_time_s": think,
        "loop": "closed" if rate is None else "open",
        "rate_operations_per_s": rate,
        "arrivals": arrivals,
        "sync": sync,
        "readings_per_station": readings,
        "time_s": time,
        "interval_ratio": None if interval is None else ratio(interval),
        "retries": retries,
        "timeout_s": timeout,
        "longest_s": longest,
        "trust": trust,
    }
    # Each level on its own, so that what is wrong with one is said before anything is run.
    for number in numbers:
        parameters = single.checked("stations", {**given, "stations": number})
    del parameters["stations"]
    run, records = single.measure_study(
        {
            "id": "stations",
            "title": "file service under stations",
            "workload": "stations",
            "metrics": ["operations_per_s", "response_mean_ns", "response_p99_ns"],
            "parameters": parameters,
            "factors": {"stations": list(numbers)},
        },
        trials=trials,
        # A user's own server is reached from this host, over no link of ours.
        testbed="loopback" if place.is_users_server else testbed,
        link=None if place.is_users_server else link,
        seed=seed,
        store=store,
        figures=station_figures("stations", limit_s, of),
        exactly=True,
        meanwhile=_load_models,
    )
    sentence = answer_sentence(records, limit_s, of)
    if as_json:
        print_json({**run_as_json(run, records), "answer": sentence})
        single.finish(run, records, verbose=verbose)
        return
    console, table_console = answer(), answer(markup=True)
    table_console.print(level_table(records))
    if words := all_agreed_words(records):
        console.print(f"by {words}")
    console.print(f"saved as {run.id}; `lanlab report {run.id}` draws the figures")
    console.print(sentence)
    single.finish(run, records, verbose=verbose)


def _load_models() -> None:
    from lanlab.analysis.stations import answer

    assert answer
