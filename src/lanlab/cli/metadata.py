"""`lanlab metadata`: how quickly a file service creates, finds, renames and removes names."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lanlab.cli.parameter_options import Given, parameters_of
from lanlab.cli.run_settings import RunSettings, with_run_settings
from lanlab.cli.service_options import (
    DefaultRouteOption,
    InterfaceOption,
    PasswordFileOption,
    check_trust,
)


@with_run_settings(trials=5)
@parameters_of("metadata", first=("service", "server", "client_count", "files"), takes_lists=True)
def metadata(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="Server URL or directory; several are ranked. Default: a built-in server.",
        ),
    ] = None,
    *,
    given: Given,
    password_file: PasswordFileOption = None,
    interface: InterfaceOption = None,
    allow_default_route: DefaultRouteOption = False,
    settings: RunSettings,
) -> None:
    """Time operations on names at file services, and rank the services.

    Clients create, stat, list, open, rename and remove empty files in a tree of directories, one
    kind of operation after the other. lanlab compares the listings after each change, and removes
    only what it created. Services are ranked by the files created and removed per second.

    Most options take a list (1,4) or a range (1..16/x2); lanlab then measures all combinations in
    random order.

    Examples: lanlab metadata smb://me@nas/share nfs://nas/volume sftp://me@nas/tmp;
    lanlab metadata --service smb,nfs,webdav --clients 1,8;
    lanlab metadata /mnt/nas --files 10000 --tree-width 10 --tree-depth 2
    """
    from lanlab.cli import single
    from lanlab.cli.copy_places import served_places
    from lanlab.testbeds.registry import is_of_real_hosts

    place = served_places(target or (), given.pop("service"), given.pop("server"))
    if is_of_real_hosts(settings.testbed):
        place.check_remote(settings.testbed)
    place.check_link(settings.link)
    check_trust(given["trust"], place.servers)
    place.get_password(password_file)
    testbed = place.testbed(settings.testbed, interface, allow_default_route=allow_default_route)
    link = None if place.is_users_server else settings.link
    settings = replace(settings, testbed=testbed, link=link)
    single.measure_and_answer("metadata", {**given, **place.parameters}, settings)
