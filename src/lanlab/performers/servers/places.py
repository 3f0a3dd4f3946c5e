"""Shares and buckets that a server lists to a user."""

from __future__ import annotations

from lanlab.engine import Engine, engine_path
from lanlab.performers.engine_host import EngineHost, ask
from lanlab.performers.servers.of_trial import target_of
from lanlab.workloads.copy.parameters import CopyParameters
from lanlab.workloads.services.server_url import parse_url

_TIMEOUT_NS = 10_000_000_000
_WITHIN_S = 60.0


def places_of(text: str, trust: str | None) -> list[str]:
    """
    Names of the shares or buckets of a server, after one login.

    Args:
        text: A URL with any share or bucket; its password is known.
        trust: As in `--trust`.

    Raises:
        LabError: It refuses the login or the list, or cannot be reached.
    """
    parameters = CopyParameters.model_validate({"server": text, "trust": trust})
    with Engine("here", [engine_path()]) as engine:
        host = EngineHost(engine, "127.0.0.1", None)
        target = target_of(parse_url(text), parameters, host)
        service = {key: value for key, value in target.items() if value is not None}
        request = {"type": "list_places", "service": {**service, "timeout_ns": _TIMEOUT_NS}}
        return sorted(map(str, ask(host, request, _WITHIN_S)["places"]))
