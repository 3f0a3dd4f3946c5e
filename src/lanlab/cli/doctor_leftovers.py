"""`lanlab doctor HOST`: finds and removes folders that a killed lanlab left on a file server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

#: Time limit for the removal of one folder.
_WITHIN_S = 600.0


def check_server(host: str, password_file: str | None, *, removes: bool, as_json: bool) -> None:
    """
    List the folders that trials of this user left on a host, and remove them if requested.

    Raises:
        LabError: There is no password for a server, or no engine.
        typer.Exit: A folder is left.
    """
    from lanlab.cli.terminal import answer, can_ask, print_json
    from lanlab.performers.trial_leftovers import folders_left

    found = folders_left(host)
    if found and not (removes or as_json):
        for _, folder in found:
            answer().print(f"{folder}: may be left by a lanlab that was killed")
        if can_ask():
            removes = typer.confirm("Remove them?", default=False, err=True)
        else:
            answer().print("`--remove` removes them")
    reasons = _remaining(found, password_file) if removes else {}
    rows: list[dict[str, Any]] = [
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


def _remaining(
    found: Sequence[tuple[str, str]], password_file: str | None
) -> dict[str, str | None]:
    """Remove the folders. Returns for each why it is left, or `None` if it is gone."""
    from lanlab.cli.copy_places import Endpoints
    from lanlab.performers.trial_leftovers import remove_left
    from lanlab.workloads.server_url import parse_url

    servers = tuple(dict.fromkeys(server for server, _ in found))
    urls = tuple(server for server in servers if parse_url(server).needs_password)
    Endpoints({"server": servers}, urls).get_password(password_file if urls else None)
    reasons: dict[str, str | None] = {
        folder: "not removed: copy there again to remove it" for _, folder in found
    }
    for server in servers:
        for one in remove_left(server, _WITHIN_S):
            folder = f"{server.rstrip('/')}/{one['working_name']}"
            reason = one.get("error") or (one.get("left") or {}).get("refusal")
            reasons[folder] = reason and f"not removed: {reason}"
    return reasons
