"""`lanlab copy`: how quickly files come to a file service or from it, measured."""

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


def copy(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Directory, dataset, or URL of a service.")
    ],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET", help="URL of a service, or a directory; none: a server of lanlab's."
        ),
    ] = None,
    service: Annotated[
        str | None,
        typer.Option(
            "--service",
            help="Without TARGET: directory, ftp, ftps, sftp, webdav, webdavs, nfs, smb, s3, s3s.",
        ),
    ] = None,
    server: ServerOption = None,
    download: Annotated[
        bool, typer.Option("--download", help="Measure the way back: files are put there before.")
    ] = False,
    parallel: Annotated[
        int, typer.Option("--parallel", help="Files at once, each over its own connection.")
    ] = 1,
    medium: Annotated[
        str | None,
        typer.Option("--medium", help="Of a dataset at this host: memory, tmpfs or disk."),
    ] = None,
    sync: Annotated[
        str, typer.Option("--sync", help="`file`: a file counts when it is on the disk.")
    ] = "none",
    cache: Annotated[
        str, typer.Option("--cache", help="`cold`: forget files in memory before each trial.")
    ] = "warm",
    verify: Annotated[
        str, typer.Option("--verify", help="Compare `content`, `size` or `none` afterwards.")
    ] = "content",
    block: Annotated[
        str | None, typer.Option("--block", metavar="SIZE", help="Octets of a call.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="Calls under way at once for each file.")
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", help="Of a file, after faults that may pass.")
    ] = 2,
    timeout: TimeoutOption = "30",
    longest: Annotated[
        str | None,
        typer.Option(
            "--longest",
            metavar="TIME",
            help="Give a step of a trial up after it. Default: 2 min, and the bytes at 5 kB/s.",
        ),
    ] = None,
    trust: TrustOption = None,
    password_file: PasswordFileOption = None,
    ip: IpOption = 4,
    trials: Annotated[int, typer.Option("--trials", min=1, help="How often.")] = 5,
    testbed: TestbedOption = DEFAULT_TESTBED,
    link: LinkOption = None,
    seed: SeedOption = None,
    store: StoreOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Copy files over a file service and time them; every octet is compared afterwards.

    SOURCE is a directory, or a dataset that lanlab makes: schomer-large, schomer-many, many-small,
    mixed, brutman-small, or a description as 1000x6kB. What is written is removed again, and
    nothing else. Of a URL as SOURCE the dataset or directory comes second, and the way back is
    measured.

    Examples: lanlab copy ~/photos smb://me@nas/share --trials 5;
    lanlab copy many-small --service webdav --link 1G;
    lanlab copy schomer-large sftp://me@nas/tmp --download --json
    """
    from lanlab.cli import single
    from lanlab.cli.copy_places import Endpoints, endpoints
    from lanlab.cli.terminal import print_json, print_lines
    from lanlab.report.copy_text import copy_lines

    found: Endpoints = endpoints(source, target, service, server, download=download)
    found.check_link(link)
    found.get_password(password_file)
    parameters: dict[str, Any] = {
        **found.parameters,
        "ip_version": ip,
        "parallel_files": parallel,
        "medium": medium,
        "sync": sync,
        "cache": cache,
        "verify": verify,
        "block_bytes": block,
        "depth": depth,
        "retries": retries,
        "timeout_s": timeout,
        "longest_s": longest,
        "trust": trust,
    }
    run, records = single.measure(
        "copy",
        parameters,
        trials=trials,
        # A user's own server is reached from this host, over no link of ours.
        testbed="loopback" if found.is_users_server else testbed,
        link=None if found.is_users_server else link,
        seed=seed,
        store=store,
    )
    if as_json:
        print_json(single.as_json(run, records))
        single.finish(run, records, verbose=verbose)
        return
    done = [trial for trial in records if trial.status == "done"]
    for trial in done:
        if len(done) > 1:
            print_lines(f"trial {trial.number + 1}")
        print_lines("\n".join(copy_lines(trial)))
    if len(done) > 1:
        print_lines(found.summary(done))
    print_lines(f"kept as     {run.id}")
    single.finish(run, records, verbose=verbose)
