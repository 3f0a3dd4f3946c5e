"""`lanlab serve DIRECTORY`: serves files by a built-in server."""

from __future__ import annotations

import datetime
import sys
from contextlib import suppress

from lanlab.cli.places.copy_places import check_given, directory_of
from lanlab.cli.serving.dialects import credentials_of, dialects_of, worth_of
from lanlab.cli.serving.names import check_user, only_for, served_address, server_name, share_name
from lanlab.cli.serving.options import FileOptions
from lanlab.cli.serving.stack import own_stack_of, stack_words
from lanlab.cli.serving.station import carried, station_of, system_of
from lanlab.cli.terminal.remarks import print_lines, say
from lanlab.errors import EngineError, UsageError, of_name
from lanlab.performers.servers.embedded import Serving, Wanted, serving
from lanlab.service_options import OPTIONS
from lanlab.services import PROFILES, SERVICES, Service

#: Lower ports need root, unless the system is configured otherwise.
_UNPRIVILEGED = 1024


def serve_files(
    directory: str | None,
    service: str,
    place: tuple[str, int],
    options: FileOptions,
    within_s: float | None,
    *,
    logs: bool,
) -> None:
    """Serve until Ctrl-C or for a time."""
    if directory is None:
        raise UsageError("DIRECTORY is missing", hint="write e.g. `lanlab serve ~/photos`")
    check_given("DIRECTORY", directory)
    offered = carried(of_name("file service", service, SERVICES), options.carrier)
    if offered.is_local or not offered.is_embedded:
        raise UsageError(
            f"service `{service}` has no server", hint="name one that has, e.g. `--service sftp`"
        )
    if options.require_signing and not OPTIONS["signing"].has_effect_on(offered):
        raise only_for("--require-signing", service, "smb1")
    dialects = dialects_of(offered, options, system_of(offered, options.profile))
    wanted, is_chosen = _wanted(offered, directory, place, options, dialects, logs=logs)
    _warn(offered, wanted)
    try:
        # Ctrl-C is the normal end.
        with serving(wanted) as served, suppress(KeyboardInterrupt):
            _print_served(offered, wanted, served, options, is_chosen=is_chosen)
            has_password = wanted.credentials is not None
            for line in worth_of(offered, dialects, has_password=has_password):
                print_lines(line)
            print_lines("end it with Ctrl-C" if within_s is None else f"ends after {within_s:g} s")
            print_clients(served, within_s)
    except EngineError as error:
        raise with_hint_on_port(error, place[1]) from None
    print_clients(served, 0)
    print_done(served)


def _wanted(
    offered: Service,
    directory: str,
    place: tuple[str, int],
    options: FileOptions,
    dialects: tuple[str, str] | None,
    *,
    logs: bool,
) -> tuple[Wanted, bool]:
    """What to serve, and whether the user chose the password."""
    called, shared = server_name(offered, options.name), share_name(offered, options.share)
    check_user(offered, options.user, guest=options.guest)
    own_stack = own_stack_of(offered, options, place[0])
    station = station_of(offered, options, called, place)
    root = directory_of("DIRECTORY", directory)
    address = place[0] if own_stack is None else own_stack.address
    served_address(address)
    oldest, newest = dialects or (None, None)
    asked = {
        "server_name": None if station is not None else called,
        "share": shared,
        "requires_signatures": options.require_signing or None,
        "oldest_dialect": oldest,
        "newest_dialect": newest,
        "profile": options.profile,
    }
    credentials, is_chosen = credentials_of(offered, options)
    wanted = Wanted(
        offered.name,
        str(root),
        address,
        place[1],
        not options.write,
        credentials,
        station,
        own_stack,
        {key: value for key, value in asked.items() if value is not None},
        logs,
    )
    return wanted, is_chosen


def _warn(offered: Service, wanted: Wanted) -> None:
    if wanted.station is not None or served_address(wanted.address).is_loopback:
        return
    if wanted.credentials is None:
        why = "is served without a password" if offered.has_users else "has no logins"
        say(
            f"warning: {offered.name} {why}: every host that reaches {wanted.address} can "
            f"{'read' if wanted.is_read_only else 'read and write'} this directory"
        )
    elif offered.dialects:
        say(
            f"warning: {offered.name} encrypts nothing: who reads the network that "
            f"{wanted.address} is in reads these files and can find the password; keep old "
            "machines in a network of their own"
        )


def _print_served(
    offered: Service, wanted: Wanted, served: Serving, options: FileOptions, *, is_chosen: bool
) -> None:
    access = "read-only" if wanted.is_read_only else "read and write"
    print_lines(f"serving     {wanted.root} ({access})")
    print_lines(f"address     {served.url}")
    if wanted.station is None and served_address(wanted.address).is_loopback:
        print_lines("reached     from this machine only; `--address ADDRESS` serves other hosts")
    if offered.name == "smb1" and wanted.port != 139:
        print_lines("clients     before Windows 2000 use port 139 only; `--port 139` serves them")
    if served.mount_command is not None:
        print_lines(f"mount       {served.mount_command}")
    if options.profile is not None:
        system = PROFILES[options.profile]
        print_lines(
            f"system      {system.title}: {system.sessions} sessions, messages of "
            f"{system.message_bytes:,} B"
        )
    if wanted.credentials is not None:
        print_lines(f"user        {wanted.credentials['user']}")
        secret = "as you gave it" if is_chosen else wanted.credentials["secret"]
        print_lines(f"password    {secret}")
    if options.require_signing:
        print_lines("signing     required: clients that do not sign are refused")
    if served.trust_sha256 is not None:
        print_lines(f"identity    sha256 {served.trust_sha256}")


def print_done(served: Serving) -> None:
    from lanlab.workloads.carrier_counts import carrier_words

    done = served.done
    if done is not None:
        print_lines(
            f"served      {done['accepted']} connections in {done['elapsed_ns'] / 1e9:.0f} s"
        )
        if (counted := done.get("carrier")) is not None:
            print_lines(f"frames      {carrier_words(counted)}")
        if (stack := done.get("stack")) is not None:
            print_lines(f"stack       {stack_words(stack)}")


def print_clients(served: Serving, within_s: float | None) -> None:
    for seen in served.clients(within_s):
        now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
        again = f", {seen['times']} times" if seen["times"] > 1 else ""
        if seen["left_out"]:
            print_lines(f"{now}    … {seen['left_out']} more, not shown")
        print_lines(f"{now}    {seen['peer']}  {seen['what']}{again}")
        sys.stdout.flush()


def with_hint_on_port(error: EngineError, port: int) -> EngineError:
    """For a port below 1024, an error with a hint on what is needed to listen there."""
    if error.code == "system.permission" and 0 < port < _UNPRIVILEGED:
        error.hint = (
            f"a port below {_UNPRIVILEGED} takes root, or on Linux `sudo sysctl "
            f"net.ipv4.ip_unprivileged_port_start={port}`"
        )
    return error
