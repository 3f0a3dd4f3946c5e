"""Engines in pairs, and trials between them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from missing import missing

from lanlab.addresses import ip_family
from lanlab.engine import Engine, engine_path
from lanlab.errors import UnmetNeed
from lanlab.performers import EngineHost, metrics_of, perform_between
from lanlab.testbeds.base import Testbed as Bed
from lanlab.testbeds.registry import testbed as open_testbed
from lanlab.workloads import (
    WORKLOADS,
    CounterChanges,
    Progress,
    TrialOutcome,
    counter_changes,
)

Metrics = dict[str, float | int]
OnProgress = Callable[[Progress], None]

#: From giving a start to the start: short, for there are hundreds of trials here.
LEAD_S = 0.02


@dataclass(frozen=True)
class Trial:
    exchange: TrialOutcome
    #: As the sender or requester tells.
    source: dict[str, Any]
    #: As the receiver or responder tells.
    target: dict[str, Any]
    metrics: Metrics


def finished(
    exchange: TrialOutcome,
    workload: str,
    changes: CounterChanges | None = None,
    **parameters: Any,
) -> Trial:
    if exchange.error is not None:
        raise exchange.error
    kind = WORKLOADS[workload]
    first, second = (exchange.results[role] for role in kind.roles)
    condition = kind.Parameters.model_validate({"warmup_s": 0, **parameters})
    metrics = metrics_of(kind, condition, exchange, changes or CounterChanges())
    return Trial(exchange, first, second, metrics)


@dataclass(frozen=True)
class Pair:
    """A source, `host0` of a testbed, and a target, `host1`, each with its engine."""

    bed: Bed
    engines: tuple[Engine, Engine]
    lead_s: float = LEAD_S

    def end(self, host: int, ip_version: int = 4) -> EngineHost:
        engine = self.engines[host]
        on = self.bed.hosts[host]
        address = on.addresses[ip_family(ip_version)]
        return EngineHost(engine, address, engine.describe()["boot_id"], on, self.bed.link.delay_ns)

    def exchange(
        self, workload: str, on_progress: OnProgress | None = None, **parameters: Any
    ) -> TrialOutcome:
        """Run a trial that may fail. A start that comes too late is tried again with more lead."""
        kind = WORKLOADS[workload]
        condition = kind.Parameters.model_validate({"warmup_s": 0, **parameters})
        first, second = (self.end(host, condition.ip_version) for host in (0, 1))
        return perform_between(kind, condition, first, second, self.lead_s, on_progress)

    def trial(
        self, workload: str, on_progress: OnProgress | None = None, **parameters: Any
    ) -> Trial:
        """Run a trial that must not fail, without a warm-up unless one is asked for."""
        before = self.bed.counters()
        exchange = self.exchange(workload, on_progress, **parameters)
        names = (host.name for host in self.bed.hosts)
        hosts = dict(zip(WORKLOADS[workload].roles, names, strict=True))
        changes = counter_changes(before, self.bed.counters(), hosts)
        return finished(exchange, workload, changes, **parameters)

    def peer_trial(self, workload: str, **parameters: Any) -> tuple[TrialOutcome, Metrics]:
        """Run a trial that must not fail, of which only the source, or the requester, tells."""
        exchange = self.exchange(workload, **parameters)
        if exchange.error is not None:
            raise exchange.error
        kind = WORKLOADS[workload]
        condition = kind.Parameters.model_validate(parameters)
        return exchange, metrics_of(kind, condition, exchange, CounterChanges())

    def has_ipv6(self) -> bool:
        return all("ipv6" in host.addresses for host in self.bed.hosts)


@contextmanager
def opened_pair(
    name: str = "loopback", link: str = "unshaped", lead_s: float = LEAD_S
) -> Iterator[Pair]:
    """Two hosts with engines; the test is skipped where this machine cannot have them."""
    with ExitStack() as stack:
        try:
            bed = stack.enter_context(open_testbed(name, 2, link))
        except UnmetNeed as error:
            missing(error)
        engines = [
            stack.enter_context(Engine(host.name, [*host.command_prefix, engine_path()]))
            for host in bed.hosts
        ]
        yield Pair(bed, (engines[0], engines[1]), lead_s)


@pytest.fixture(scope="module", name="pair")
def module_pair() -> Iterator[Pair]:
    """The same engines for all tests of a file that imports it."""
    with opened_pair() as opened:
        yield opened
