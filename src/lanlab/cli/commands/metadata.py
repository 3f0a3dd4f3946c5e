"""`lanlab metadata`: how quickly a file service creates, finds, renames and removes names."""

from __future__ import annotations

from lanlab.cli.options.hosts import with_fields
from lanlab.cli.options.parameters import Given, ParametersOf
from lanlab.cli.options.services import ServerOptions, TargetsArgument
from lanlab.cli.running.settings import RunSettings, with_run_settings


@with_run_settings(trials=5)
@ParametersOf("metadata", first=("service", "server", "client_count", "files"), takes_lists=True)
@with_fields(ServerOptions, "login")
def metadata(
    target: TargetsArgument = None, *, given: Given, login: ServerOptions, settings: RunSettings
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
    from lanlab.cli.places.copy_places import served_places
    from lanlab.cli.running import single

    place = served_places(target or (), given.pop("service"), given.pop("server"))
    settings = place.settings(settings, given["trust"], login)
    single.measure_and_answer("metadata", {**given, **place.parameters}, settings)
