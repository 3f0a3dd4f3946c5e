"""`lanlab copy`: time copies to and from file services."""

from __future__ import annotations

from lanlab.cli.options.hosts import with_fields
from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.options.services import ServerOptions, TargetsArgument
from lanlab.cli.options.shared import argument, flag
from lanlab.cli.running.settings import RunSettings, with_run_settings
from lanlab.errors import UsageError


@with_run_settings(trials=5)
@ParametersOf("copy", first=("service", "server", "parallel_files"), takes_lists=True)
@with_fields(ServerOptions, "login")
def copy(
    source: str = argument("SOURCE", "Directory, dataset (mixed, 1000x6kB) or server URL.", ...),
    target: TargetsArgument = None,
    download: bool = flag(
        "--download", "Measure downloads; the files are first uploaded, untimed."
    ),
    *,
    given: Given,
    login: ServerOptions,
    settings: RunSettings,
) -> None:
    """Time copies of files over file services, and rank the services.

    Files are compared after each copy, and files written by lanlab are removed. Several TARGETs
    are copied to in random order and ranked.

    Datasets: schomer-large, schomer-many, many-small, mixed, brutman-small, or a description such
    as 1000x6kB. If SOURCE is a URL, lanlab measures downloads of the dataset or directory TARGET.

    Most options take a list (1,4) or a range (1..16/x2); lanlab then measures all combinations in
    random order.

    Examples: lanlab copy ~/photos smb://me@nas/share --trials 5;
    lanlab copy ~/photos smb://me@nas/share nfs://nas/volume sftp://me@nas/tmp;
    lanlab copy many-small --service webdav --link 1G;
    lanlab copy mixed --service smb,nfs,webdav --parallel 1,4 --trials 5;
    lanlab copy schomer-large sftp://me@nas/tmp --download --json;
    lanlab copy mixed --service smb --to alice@nas;
    sudo lanlab copy mixed smb1+nbf://CNCFILES/DATA --interface eth1;
    sudo lanlab copy mixed ftp://me@nas/tmp --stack small --stack-address 192.168.7.77
    --interface eth1; lanlab copy mixed smb://me@nas/share --from bob@pc1;
    lanlab copy 1x6MB --testbed simulated --machines celeron400-w2ksp2,celeron400-w2ksp2 --link 100M
    """
    from lanlab.cli.places.copy_places import endpoints
    from lanlab.cli.running import single
    from lanlab.workloads.services.small_stack import without_address

    if settings.machines is not None and given["service"] is None:
        # Most published values of simulated machines were measured over SMB 1.
        given["service"] = "smb1"
    found = endpoints(
        source, target or (), given.pop("service"), given.pop("server"), download=download
    )
    is_small = given["stack"] == "small"
    if is_small and found.is_users_server and given["stack_address"] is None:
        problem = without_address()
        raise UsageError(str(problem), hint=problem.__notes__[0])
    settings = found.settings(settings, given["trust"], login, is_small=is_small)
    single.measure_and_answer("copy", {**given, **found.parameters}, settings)
