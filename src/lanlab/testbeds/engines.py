"""The engines of a testbed's hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanlab.engine import DESCRIBE, Engine, engine_path
from lanlab.frozen import dataclass
from lanlab.messages import HostFacts
from lanlab.testbeds.base import Host


@dataclass(frozen=True)
class HostEngine:
    engine: Engine
    facts: HostFacts


def start_engines(hosts: Sequence[Host]) -> dict[str, HostEngine]:
    """
    Start an engine on each host; returns them by the host's name.

    Engines on this machine start in parallel. An engine behind a connection is waited for at once,
    because it ends by itself without input.

    Raises:
        UnmetNeed: This machine has no engine.
        EngineLost: One did not start; all others were ended.
    """
    path = engine_path()
    engines: dict[str, Engine] = {}
    try:
        for host in hosts:
            start = host.start_engine
            command = [*host.command_prefix, path] if start is None else start()
            engines[host.name] = Engine(host.name, command, is_awaited=start is not None)
        for host in hosts:
            if host.start_engine is None:
                engines[host.name].greet()
        asked = {name: engine.start(DESCRIBE) for name, engine in engines.items()}
        return {
            name: HostEngine(engine, engine.answer(asked[name])) for name, engine in engines.items()
        }
    except BaseException:
        for engine in engines.values():
            engine.close()
        raise


def close_engines(engines: Mapping[str, HostEngine]) -> None:
    for one in engines.values():
        one.engine.close()
