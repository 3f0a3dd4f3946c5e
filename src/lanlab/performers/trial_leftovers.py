"""
Removes a trial's files from its file server, and reports those that it cannot remove.

At a user's own server they are recorded in advance, so that the next trial there removes what a
killed lanlab has left. There is one file for each trial, locked as long as its process lives; a
lock that is free belongs to a dead process. The engine removes only what is under the token in that
file.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lanlab import lock_files, server_leftovers
from lanlab.disk import make_folders, remove_file
from lanlab.engine import Engine, Measurement, engine_path
from lanlab.errors import EngineError, LabError, RunError, system_hint
from lanlab.outside import json_of
from lanlab.performers.engine_host import EngineHost, ask
from lanlab.trial_data import Left, Request, Result, Setup, Spec, Target
from lanlab.user_files import user_path
from lanlab.workloads.services.server_url import parse_url, target_of

if TYPE_CHECKING:
    from lanlab.workloads.services.parameters import ServiceParameters


def _folder() -> Path:
    return cache_folder() / "copies"


@contextmanager
def noted(server: str, request: str, spec: Spec) -> Iterator[Callable[[], None]]:
    """
    Record a trial for its duration; returns the function that removes the record after the
    clean-up.

    Args:
        server: The URL of the server.
        request: The request to an engine that removes the trial's files.
        spec: The trial; its password is not written.

    Raises:
        RunError: It cannot be written: then nothing may be written at the server either.
    """
    service = {key: value for key, value in spec["service"].items() if key != "credentials"}
    text = json.dumps({"server": server, "request": request, "spec": {**spec, "service": service}})
    path = _folder() / f"{spec['working_name']}.json"
    is_emptied: list[bool] = []
    with contextlib.ExitStack() as stack:
        try:
            make_folders(path.parent, 0o700)
            stack.enter_context(lock_files.held(path, text.encode()))
        except OSError as error:
            raise RunError(
                f"{path}: {error.strerror}", hint=system_hint(error, "set LANLAB_CACHE to a folder")
            ) from None
        try:
            yield lambda: is_emptied.append(True)
        finally:
            stack.close()
            # A failed trial empties its directory, too.
            if is_emptied:
                _remove(path)


def _remove(note: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        remove_file(note)


def _left() -> Iterator[tuple[Path, str, str, Spec]]:
    """Record, server, request and specification of each trial whose process is gone."""
    for path, file in lock_files.orphans(_folder(), "*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            entry = json_of(file.read())
            if entry["spec"]["working_name"] == path.stem:
                yield path, str(entry["server"]), entry["request"], entry["spec"]


def folders_left() -> list[tuple[str, str]]:
    """Server and folder, as URLs, of each trial that a killed lanlab may have left."""
    return [(server, _place(server, spec)) for _, server, _, spec in _left()]


def remove_left(server: str, within_s: float) -> list[Left]:
    """
    Remove all that killed trials have left at a server, from this machine.

    Args:
        server: Its URL, whose password is known.
        within_s: Time limit for each trial.

    Returns:
        See `empty_left`.

    Raises:
        UsageError: There is no password for it.
    """
    setup: Setup = {}
    # The records must be unlocked before they are removed.
    services = [spec["service"] for _, own, _, spec in list(_left()) if own == server]
    credentials = target_of(parse_url(server), None).get("credentials")
    with Engine("here", [engine_path()]) as engine:
        host = EngineHost(engine, "127.0.0.1", None)
        for service in services[:1]:
            # Address, trust and options as the trial had them.
            own: Target = {**service, "credentials": credentials}
            empty_left(server, own, lambda request: ask(host, request, within_s), setup)
    return list(setup.get("left_before", ()))


class Emptying:
    """
    Removes a trial from its server, and reports what it leaves there.

    Args:
        kind: Kind of the request that removes it.
        spec: Specification of the trial in requests to engines.
        ask: Runs a request on an engine.
        setup: Setup of the trial, for its record.
        note_emptied: Called when nothing of lanlab's is left; otherwise the next trial at the
            server tries again.
        asked: Requests of the trial so far.
    """

    def __init__(
        self,
        parameters: ServiceParameters,
        kind: str,
        spec: Spec,
        ask: Callable[[Request], Result],
        setup: Setup,
        note_emptied: Callable[[], None],
        asked: Sequence[Measurement],
    ) -> None:
        self._parameters, self._kind, self._spec, self._ask = parameters, kind, spec, ask
        self._setup, self._note_emptied, self._asked = setup, note_emptied, asked

    def __call__(self, failed: BaseException | None) -> None:
        """
        Remove it, unless the trial ended before its first write or the server refused that write.

        Args:
            failed: Why the trial failed; errors of the clean-up must not hide it.

        Raises:
            EngineError: It could not be removed. This does not invalidate the measurement.
        """
        was_refused = getattr(failed, "partial", None) is not None
        if "prepared" not in self._setup and (was_refused or not self._may_have_written()):
            self._note_emptied()
            return
        try:
            self._empty()
        except LabError:
            if failed is None:
                raise

    def _empty(self) -> None:
        try:
            result = self._ask({"type": self._kind, "spec": self._spec})
        except BaseException as error:
            why = error.message if isinstance(error, LabError) else "interrupted"
            self._setup["not_emptied"] = why
            if self._parameters.is_users_server:
                place = _place(self._parameters.server, self._spec)
                own = why.removeprefix("host0: ")
                server_leftovers.note_unknown(place, own, is_written="prepared" in self._setup)
            raise
        self._setup["emptied"] = result
        left, place = result.get("left"), _place(self._parameters.server, self._spec)
        unlisted = result.get("not_listed")
        if unlisted is not None and self._parameters.is_users_server:
            server_leftovers.note_unlisted(place, unlisted)
        if left is None or left["refusal"] is None:
            self._note_emptied()
        elif self._parameters.is_users_server:
            server_leftovers.note(place, left)

    def _may_have_written(self) -> bool:
        """An engine announces its first write; one that did not answer may have written."""
        return any(asked.was_ready or not asked.is_over for asked in self._asked)


def _place(server: str, spec: Spec) -> str:
    return f"{server.rstrip('/')}/{spec['working_name']}"


def empty_left(
    server: str, service: Target, ask: Callable[[Request], Result], setup: Setup
) -> None:
    """Remove what earlier, killed trials have left at this server. What cannot be removed is
    recorded, and tried again next time.

    Args:
        server: Its URL.
        service: The same in the form of a request to an engine, with the password.
        ask: Runs a request on an engine.
        setup: Receives the outcome for each trial under `left_before`.
    """
    for path, at, kind, of_other in _left():
        if at != server:
            continue
        what: Left = {"working_name": of_other["working_name"]}
        with_password: Spec = {**of_other, "service": service}
        place = _place(server, of_other)
        try:
            what |= cast("Left", ask({"type": kind, "spec": with_password}))
            left = what.get("left")
            if left is None or left["refusal"] is None:
                _remove(path)
                server_leftovers.forget(place)
            else:
                server_leftovers.note(place, left)
        except EngineError as error:
            what |= {"error": error.message.removeprefix("here: ")}
        setup.setdefault("left_before", []).append(what)


def cache_folder() -> Path:
    """The folder, created if missing.

    Raises:
        RunError: It cannot be created, or belongs to another user.
    """
    cache = os.environ.get("LANLAB_CACHE")
    usual = os.environ.get("XDG_CACHE_HOME", "")
    place = Path(cache or Path(usual or user_path("~/.cache"), "lanlab")).absolute()
    hint = "name another place by LANLAB_CACHE"
    try:
        make_folders(place, 0o700)
        facts = place.lstat()
    except OSError as error:
        raise RunError(f"{place}: {error.strerror}", hint=hint) from None
    if place.is_symlink() or facts.st_uid != os.getuid():
        raise RunError(f"{place} belongs to another user", hint=hint)
    return place
