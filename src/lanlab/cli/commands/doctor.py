"""`lanlab doctor`: what this machine or real hosts support, and how to get what is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import typer

from lanlab.cli.options.hosts import with_hosts
from lanlab.cli.options.services import PasswordFilesOption
from lanlab.cli.options.shared import (
    DEFAULT_TESTBED,
    JsonOption,
    StoreOption,
    argument,
    flag,
    option,
)
from lanlab.cli.terminal.remarks import answer, can_ask, deliver, print_json
from lanlab.errors import UsageError
from lanlab.report.document.document import Block, Document
from lanlab.report.document.table import Column, Table, table_of_texts
from lanlab.services import SERVICES, services_with_files


@with_hosts
def doctor(
    host: str | None = argument(
        "HOST", "File server or mount to search for folders that lanlab left."
    ),
    remove: bool = flag("--remove", "Remove the folders that lanlab left at HOST."),
    password_file: PasswordFilesOption = None,
    testbed: str = option(
        "--testbed",
        "NAME",
        "Real hosts to check, as `ssh:here,alice@nas` or `ssh:lab.toml`. Default: this machine.",
        DEFAULT_TESTBED,
        show_default=False,
    ),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check what this machine supports, and how to install the rest.

    Exits with 1 if no testbed or store is usable. Also lists the optional measuring tools (for
    `--tool`) and file servers that lanlab can run.

    With --to, --from or a testbed of real hosts, checks that each host is reachable, has an engine,
    and can send messages to the other.

    With HOST, names the folders that copies of a killed lanlab left at that file server.

    Examples: lanlab doctor; lanlab doctor --to alice@nas; lanlab doctor nas.lan --remove
    """
    from lanlab.testbeds.remote.destinations import PREFIX

    if host is None and (remove or password_file):
        what = "--remove" if remove else "--password-file"
        raise UsageError(f"{what} has no effect here; it needs HOST, a file server")
    if host is not None:
        if testbed != DEFAULT_TESTBED:
            raise UsageError("HOST and a testbed cannot be used together")
        check_server(host, password_file or (), removes=remove, as_json=as_json)
    elif testbed.startswith(PREFIX):
        _check_hosts(testbed, as_json)
    elif testbed != DEFAULT_TESTBED:
        raise UsageError(
            f"--testbed: found `{testbed}`; allowed: hosts reached by ssh, e.g. "
            "`ssh:here,alice@nas`",
            hint="omit it: all testbeds of this machine are checked",
        )
    else:
        _check_this_machine(store, as_json)


def _check_hosts(testbed: str, as_json: bool) -> None:
    from lanlab.run.host_checks import check_hosts

    found = {
        place: list(map(dataclasses.asdict, needs)) for place, needs in check_hosts(testbed).items()
    }
    tables = [_table(place, needs, ("FAILED", "note")) for place, needs in found.items()]
    lacking = [place for place, needs in found.items() if not _is_ready(needs)]
    said = f"Not ready: {', '.join(lacking)}." if lacking else "All hosts are ready."
    if as_json:
        # Only names of hosts are keys.
        print_json(found)
    else:
        deliver(Document([said], tables))
    if lacking:
        raise typer.Exit(1)


def _is_ready(needs: Iterable[Mapping[str, object]]) -> bool:
    return all(need["found"] or not need["required"] for need in needs)


def _table(
    title: str,
    listed: Iterable[Mapping[str, object]],
    marks: tuple[str, str] = ("MISSING", "absent"),
) -> Table:
    rows = []
    for each in listed:
        mark = "ok" if each["found"] else marks[0 if each["required"] else 1]
        advice = "" if each["found"] else each["how_to_get"]
        rows.append((f"  {mark}", str(each["name"]), str(each["detail"]), str(advice)))
    return table_of_texts(title, [Column("", short=" ", is_number=False)] * 4, rows)


def _check_this_machine(store: str | None, as_json: bool) -> None:
    from lanlab.store.readiness import readiness
    from lanlab.testbeds.needs import KINDS, needs
    from lanlab.testbeds.registry import TESTBEDS
    from lanlab.testbeds.servers import server_needs
    from lanlab.workloads.drivers.registry import driver_needs

    kept, served = readiness(store), services_with_files()
    tools = [dataclasses.asdict(need) for need in driver_needs()]
    servers = [dataclasses.asdict(need) for need in server_needs()]
    found = {name: list(map(dataclasses.asdict, needs(name))) for name in KINDS}
    able = {name: _is_ready(listed) for name, listed in found.items()}
    beds = {name: "ready" if able[name] else "not available here" for name in found}
    lacking = " and ".join(
        f"`{name}`" for name in served if SERVICES[name].is_local or not SERVICES[name].is_embedded
    )
    programs = {
        "tools: other programs that can measure (`--tool`)": tools,
        "servers: other file servers that lanlab can run on a host of a testbed": [
            {**each, "name": f"{each['name']} ({', '.join(each['services'])})"} for each in servers
        ],
    }
    body: list[Block] = [
        *(_table(f"testbed {name}: {said}", found[name]) for name, said in beds.items()),
        f"store {kept.place}: {'ready' if kept.is_usable else 'not usable'}",
        *(f"  {said}" for said in (kept.detail, kept.how_to_get) if said),
        f"file services: {', '.join(served)}",
        f"  each except {lacking} has a built-in server (`lanlab copy --service`)",
        *(
            _table(title, [each | {"required": False} for each in listed])
            for title, listed in programs.items()
        ),
    ]
    kinds = {name: {"able": able[name], "needs": listed} for name, listed in found.items()}
    others = {"tools": tools, "drivers": tools, "services": served, "servers": servers}
    data = {**kinds, **others, "store": dataclasses.asdict(kept)}
    ready = ", ".join(name for name in found if able[name])
    deliver(Document([f"Ready: {ready or 'no testbed'}."], body, data=data), as_json)
    # A missing ssh client is not a failure, because not every user has real hosts.
    if not (all(able[name] for name in TESTBEDS) and kept.is_usable):
        raise typer.Exit(1)


#: Time limit for the removal of one folder.
_WITHIN_S = 600.0


def check_server(host: str, password_file: Sequence[str], *, removes: bool, as_json: bool) -> None:
    """List the folders that trials of this user left on a host, and remove them if requested."""
    host, found = _left_at(host)
    if found and not (removes or as_json):
        for _, folder in found:
            answer().print(f"{folder}: may be left by a lanlab that was killed")
        if can_ask():
            removes = typer.confirm("Remove them?", default=False, err=True)
        else:
            answer().print("`--remove` removes them")
    reasons = _remaining(found, password_file) if removes else {}
    rows: list[dict[str, object]] = [
        {"folder": folder, "removed": removes and reasons[folder] is None}
        | ({"why": why} if (why := reasons.get(folder)) else {})
        for _, folder in found
    ]
    if as_json:
        print_json({"host": host, "left": rows})
    elif not rows:
        answer().print(f"{host}: this user's lanlab has left nothing there")
    elif removes:
        for row in rows:
            answer().print(f"{row['folder']}: {row.get('why', 'removed')}")
    if not all(row["removed"] for row in rows):
        raise typer.Exit(1)


def _left_at(host: str) -> tuple[str, list[tuple[str, str]]]:
    """The host, or the URL of a directory; and server and folder of each trial left there."""
    from lanlab.cli.places.copy_places import directory_of
    from lanlab.cli.places.nas_targets import host_of
    from lanlab.cli.places.same_places import is_same_host
    from lanlab.performers.trial_leftovers import folders_left
    from lanlab.workloads.services.server_url import parse_url

    left = folders_left()
    if host.startswith(("/", ".")):
        at = directory_of("HOST", host).as_uri()
        return at, [one for one in left if one[0] == at]
    host, _ = host_of(host, ())
    return host, [one for one in left if is_same_host(parse_url(one[0]).host, host)]


def _remaining(
    found: Sequence[tuple[str, str]], password_file: Sequence[str]
) -> dict[str, str | None]:
    """Remove the folders. Returns for each why it is left, or `None` if it is gone."""
    from lanlab.cli.places.nas_targets import ask_passwords, password_files
    from lanlab.performers.trial_leftovers import remove_left

    servers = tuple(dict.fromkeys(server for server, _ in found))
    ask_passwords(servers, password_files(password_file), allows_unused=True)
    reasons: dict[str, str | None] = {
        folder: "not removed: copy there again to remove it" for _, folder in found
    }
    for server in servers:
        for one in remove_left(server, _WITHIN_S):
            folder = f"{server.rstrip('/')}/{one['working_name']}"
            reason = one.get("error") or (one.get("left") or {}).get("refusal")
            reasons[folder] = reason and f"not removed: {reason}"
    return reasons
